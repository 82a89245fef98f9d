// Loops for vectors that meet borders at the ends of a row alone.
//
//     for (i = 0; i < n; ++i)                              for (i = 0; i < first; ++i) …               first: where 2 * i + x is 0
//       out[i] = in[clamp_index(2 * i + x, w)];       →    for (i = first; i < end; ++i) out[i] = in[2 * i + x];
//                                                          for (i = end; i < n; ++i) …                 end: where it is w
//
// Vectors of neighbours come by one load, where pixels that are looked up come one by one.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// New names are of `names`, those of the module, and none that the function has.
void split_borders(Function& function, Names names);

}  // namespace weft::kernel
