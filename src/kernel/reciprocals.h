// What several divisions of a block divide by is inverted once, where floats need not be divided exactly: processors take
// some ten times as long for a division as for a product. (Constants: rewrite/constant_divisors.h.)
//
//     red = a / w                 reciprocal = 1.0f / w
//     green = b / w         →     red = a * reciprocal
//                                 green = b * reciprocal
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Of variables that a block itself divides by more than once: the reciprocal gets a name, one of `names`, those of the
/// module. Next to the largest numbers, above 2^126, it is 0.
void share_reciprocals(Function& function, Names names);

}  // namespace weft::kernel
