// The parts of check(): one stage each.
#pragma once

#include "analysis/integer_set.h"
#include "ir/stage_ir.h"

namespace weft::analysis {

/// Throws weft::Error for a read that leaves its source's box at some pixel for some image size, a computed
/// index without a border, and a crop that is not inside its source.
void check_reads(const ir::Pipeline& pipeline, const ir::Stage& stage, IntegerSets& sets);

/// Throws weft::Error if a pixel may satisfy no case.
void check_cases(const ir::Pipeline& pipeline, const ir::Stage& stage, IntegerSets& sets);

}  // namespace weft::analysis
