// Divisions as multiplications, where floats need not be divided exactly: processors take some ten times as long for a
// division as for a product.
//
//     sum / 118.0f                sum * (1.0f / 118.0f)
//
//     red = a / w                 reciprocal = 1.0f / w
//     green = b / w         →     red = a * reciprocal
//                                 green = b * reciprocal
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Of constants whose reciprocals are neither subnormal nor infinite; for powers of two compilers do it themselves.
void multiply_by_reciprocals(Function& function);

/// Of variables that a block itself divides by more than once: the reciprocal gets a name, one of `names`, those of the
/// module. Next to the largest numbers, above 2^126, it is 0.
void share_reciprocals(Function& function, Names names);

}  // namespace weft::kernel
