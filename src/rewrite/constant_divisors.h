// Divisions by constants become products, where floats need not be divided exactly: processors take some ten times as
// long for a division.
//
//     a / 118                     a * (1 / 118)
//     (5 a + 12 b) / 118      →   (5 / 118) a + (12 / 118) b
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Of floats, unless the pipeline is `strict`; the updates of evolutions, too. Divisors without a reciprocal stay (what
/// would be subnormal or infinite), and so do powers of two, which compilers see to themselves.
ir::Pipeline constant_divisors(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
