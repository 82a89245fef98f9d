// Takes the few coefficients that differ from all others out of a window's sum.
//
//     sum over 5x5 of m(t) * in(x + t.x, y + t.y),   m = 1 but for -24 in the centre
//  →  (sum over 5x5 of in(x + t.x, y + t.y)) + -25 * in(x, y)
//
// What is left is a box, which separates into a column and a row (separable.h).
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Integers only: the sums are the same to the bit, and floats would lose by cancellation.
ir::Pipeline uneven_masks(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
