// From a pipeline and a schedule to kernels: the list of passes is in lower.cpp.
#pragma once

#include "ir/kernel_ir.h"
#include "ir/stage_ir.h"
#include "schedule/schedule.h"

namespace weft::lower {

kernel::Module lower(const ir::Pipeline& pipeline, const schedule::Schedule& schedule);

}  // namespace weft::lower
