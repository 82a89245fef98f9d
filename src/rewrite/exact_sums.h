// Weighted sums of small integers, computed in integers where that is exact.
//
//     saturate<u8>(sum of m(t) * cast<f32>(in(x + t.x, y + t.y)))          m = {1, 2, 1, 2, 4, 2, 1, 2, 1} /
//     16
//  →  saturate<u8>((s + 7 + ((s >> 4) & 1)) >> 4),   s = sum of 16 m(t) * in(x + t.x, y + t.y)
//
// The weights are integers over a power of two and no partial sum reaches 2^24, so the float sum is exact and
// the integer sum is the same number; the shift rounds half to even as the cast does. Four times as many
// 16-bit as 32-bit lanes fit a register, and nothing is converted. Results do not change by a bit, so this
// holds under `strict`, too.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

ir::Pipeline exact_sums(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
