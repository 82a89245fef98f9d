// Stages that are as large as those that may not be empty may not be empty either: that pixels are found at their borders
// is then known, and they can be computed together with what reads them (plan/march.h).
//
//     g1 of 'in' halved, which a pyramid needs     in.width() / 2 and in.height() / 2 are 1 or more
//     rows of in.width() x (in.height() / 2)       needed, too
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Gives a stage the need of another that has the same extents. Width and height may come from two stages with needs, or from an
/// image: with `half` of w / 2 x h / 2 needed, rows of w x (h / 2) are, too.
ir::Pipeline never_empty(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
