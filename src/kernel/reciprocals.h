// Divisions by constants as multiplications, where floats need not be divided exactly: GPUs take some ten instructions
// for a division, and one for a product.
//
//     sum / 118.0f      sum * (1.0f / 118.0f)
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

/// Of constants whose reciprocals are neither subnormal nor infinite; for powers of two compilers do it themselves.
void multiply_by_reciprocals(Function& function);

}  // namespace weft::kernel
