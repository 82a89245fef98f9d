// Integer arithmetic of vector loops in 16 bits, where the values surely fit: twice as many fit a register.
//
//     row[x] = saturate_u8_i32(column[x] + column[x + 1] + -9 * in[x]);         column: int16_t, 0 … 765; in: uint8_t
//  →  row[x] = saturate_u8_i16((int16_t)(column[x] + column[x + 1] + -9 * in[x]));
//
//     const int32_t v = column[x] + 2 * column[x + 1];   out[x] = (uint8_t)((v + 7) >> 4);
//  →  const int16_t v = (int16_t)(column[x] + 2 * column[x + 1]);   out[x] = (uint8_t)((int16_t)(v + 7) >> 4);
//
// The language computes with ints, as C does. Of sums and products compilers know that the low bits suffice for the low
// bits of the result, but not of what is shifted right, divided, compared, clamped or has a name: its range decides,
// which they do not follow through arrays. Here it is converted to the type that holds its range, so no value changes.
// For CPUs: GPUs compute with 32 bits as fast.
//
// A float that surely is within the integers needs no check when it becomes one (Cast::fits):
//
//     truncate_i32_f32(10.0f * min_f32(max_f32(v, 0.0f), 1.0f))  →  whole_i32_f32(10.0f * min_f32(max_f32(v, 0.0f), 1.0f))
//
// Nor does one whose whole part is clamped, if the bounds are not both above or below 0:
//
//     min_i32(max_i32(truncate_i32_f32(v), 0), 255)  →  whole_i32_f32(min_f32(max_f32(v, 0.0f), 255.0f))
//
// Only loops that load and store nothing wider are changed, since others would convert back and forth. In all of them,
// an index is clamped in the type that it was computed in instead of in 64 bits.
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

void narrow_arithmetic(kernel::Function& function);

}  // namespace weft::kernel
