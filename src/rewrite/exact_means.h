// Means of small integers, rounded and divided in integers.
//
//     saturate<u8>(cast<f32>(s) / 25)        s = sum over 5x5 of in(x + t.x, y + t.y), 8 bits each
//  →  cast<u8>(cast<u16>(s + 12) / 25)
//
// An odd divisor has no ties: s / d is at least 1 / (2 d) from every half, and float division errs by less.
// So both round to the same integer, under `strict`, too. Compilers divide by a constant by multiplying;
// there are twice as many 16-bit as 32-bit lanes in a register, and nothing is converted to float and back.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

ir::Pipeline exact_means(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
