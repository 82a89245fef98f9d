// What happens to every pipeline before it is scheduled: the list of rewrites is in prepare.cpp.
#pragma once

#include "ir/stage_ir.h"
#include "rewrite/separate_windows.h"

namespace weft::rewrite {

/// Rewrites that pay on every target, and with Separate::Large under every schedule. Results stay the same to the bit, but for
/// floats that are not strict. Schedules speak of the stages of a prepared pipeline.
/// Windows that become stages are added to `separated`, if that is given.
ir::Pipeline prepare(const ir::Pipeline& pipeline, Separate which = Separate::Large,
                     std::vector<SeparatedWindow>* separated = nullptr);

/// Rewrites of a prepared pipeline that pay on cores alone. Stages keep their names.
ir::Pipeline prepare_for_cores(const ir::Pipeline& prepared);

}  // namespace weft::rewrite
