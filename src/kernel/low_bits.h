// Integer arithmetic in as few bits as its result has.
//
//     (int16_t)((int32_t)a[i] + 2 * (int32_t)b[i])   →   (int16_t)a[i] + 2 * (int16_t)b[i]          a, b: uint8_t
//     (uint8_t)(((int32_t)v >> 4) & 1)               →   (uint8_t)((v >> 4) & 1)                     v: int16_t
//
// The low bits of sums and products come from the low bits of what is added and multiplied. What is shifted right or divided was
// a narrow number before. Compilers find this in loops; where vectors are spelt out, it says how many numbers one has.
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

/// The same value, with its parts in fewer bits. Bytes are computed with 16 bits, as processors do.
Expr in_few_bits(const Expr& e);

}  // namespace weft::kernel
