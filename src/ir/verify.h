// The invariants of the stage IR that types do not express. A pass that breaks one is a bug in Weft.
#pragma once

#include <string>

#include "ir/stage_ir.h"

namespace weft::ir {

/// Throws InternalError naming `after`, the pass that made the pipeline, the stage and what is wrong:
/// operands and results have the types that their operator needs; accumulators and taps occur inside their
/// loop only; a read has one index per dimension of its source; producers come before consumers; names are
/// unique.
void verify(const Pipeline& pipeline, const std::string& after);

}  // namespace weft::ir
