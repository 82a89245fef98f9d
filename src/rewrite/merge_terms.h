// Sums in which a pixel occurs more than once, as they come about where a coarser image is read between its pixels:
//
//     (c(i) + 3 c(i) + 3 c(i + 1) + c(i + 1)) / 8   →   (c(i) + c(i + 1)) * 0.5
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// `e` with equal terms merged and constant factors multiplied, or null where there are none. Its operands have been
/// rewritten before: a rule for ir::Rewriter. Of floats alone, which are regrouped, so not for `strict`; what is infinite
/// or not a number stays so.
ir::Expr merged_terms(const ir::Expr& e);

}  // namespace weft::rewrite
