// From a pipeline and a schedule to kernels: the list of passes is in lower.cpp.
#pragma once

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace weft::lower {

/// Schedules speak of the stages of a prepared pipeline (rewrite/prepare.h).
kernel::Module lower(const ir::Pipeline& prepared, const schedule::Schedule& schedule,
                     const target::Target& target = target::Processor::Cpu);

}  // namespace weft::lower
