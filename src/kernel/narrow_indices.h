// Index arithmetic of GPU kernels in 32 bits, where it cannot overflow.
//
//     for (int64_t x …) { const int64_t x_m1 = clamp_index(x - 1, in_w);  … in[y * in_pitch + x_m1] }
//  →  for (int x …)     { const int x_m1 = clamp_index(x - 1, in_w);      … in[y * in_pitch + x_m1] }
//
// GPUs have no 64-bit integer units: an addition takes two instructions there, a multiplication four, and
// each value two registers. Strides and offsets stay wide, since arrays may have more than 2^31 scalars. So
// do the coordinates of 1-D images, which may be that long; the extents of all others are taken to be below
// `extent_limit`, and emitted code refuses larger ones.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "kernel/ir.h"

namespace weft::kernel {

constexpr std::int64_t extent_limit = std::int64_t{1} << 28;

/// Narrows the functions of a module for GPUs, and notes the sizes that are limited by it.
void narrow_indices(kernel::Module& module);

}  // namespace weft::kernel
