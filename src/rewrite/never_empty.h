// Stages that are as large as those that may not be empty may not be empty either: that pixels are found at their borders
// is then known, and they can be computed together with what reads them (plan/march.h).
//
//     g1 of 'in' halved, which a pyramid needs     in.width() / 2 and in.height() / 2 are 1 or more
//     rows of in.width() x (in.height() / 2)       needed, too
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Stages all extents of which are those of stages with a need, or at least 1 where images have pixels, have that need.
ir::Pipeline never_empty(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
