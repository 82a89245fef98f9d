// From a pipeline and a schedule to kernels: the list of passes is in lower.cpp.
#pragma once

#include "ir/kernel_ir.h"
#include "ir/stage_ir.h"
#include "lower/processor.h"
#include "schedule/schedule.h"

namespace weft::lower {

/// Rewrites that pay on every target and under every schedule. Results stay the same to the bit, but for
/// floats that are not strict. Schedules speak of the stages of a prepared pipeline.
ir::Pipeline prepare(const ir::Pipeline& pipeline);

kernel::Module lower(const ir::Pipeline& prepared, const schedule::Schedule& schedule,
                     const Target& target = Processor::Cpu);

}  // namespace weft::lower
