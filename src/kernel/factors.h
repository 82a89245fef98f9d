// Constant factors of vectors that compilers of C++ do not see.
//
//     for (i = 0; i < n; ++i)                    factor_882 = 882, hidden
//       out[i] = 882 * in[i];              →     for (i = 0; i < n; ++i) out[i] = factor_882 * in[i];
//
// GCC makes shifts and sums of products by a constant, seven of this one. Processors multiply vectors of 32-bit integers in
// the time of two of these.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Names the constants (Let::is_opaque) that loops for vectors multiply 32-bit integers by, but for those that take a shift
/// and a sum at most, and 0x01010101, by which compilers know that bits are counted. New names are of `names`, those of the module, and none that the function has.
void hide_factors(Function& function, Names names);

}  // namespace weft::kernel
