// From a pipeline and the plans of its kernels to these kernels: the list of passes is in lower.cpp.
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "plan/plan.h"
#include "target/target.h"

namespace weft::lower {

/// Plans speak of the stages of a prepared pipeline (rewrite/prepare.h), and are made for the target. The
/// comment becomes the module's.
kernel::Module lower(const ir::Pipeline& prepared, const std::vector<plan::KernelPlan>& plans,
                     const target::Target& target = target::Processor::Cpu, const std::string& comment = "");

}  // namespace weft::lower
