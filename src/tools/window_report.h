// What became of each window of a pipeline, for weft explain.
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/plan.h"
#include "rewrite/prepare.h"
#include "target/target.h"

namespace weft::tools {

struct WindowReport {
  std::string stage, window;  ///< "blur", "5x5" or "113 taps"
  std::string form, why;      ///< "unrolled", "75 operations; up to 1200 are straight-line code"
};

/// Those of the definition's stages, and of a stage that a rewrite made what is not unrolled; in kernels made like that.
std::vector<WindowReport> windows_of(const ir::Pipeline& definition, rewrite::Preparation preparation,
                                     target::Processor processor,
                                     const std::vector<plan::KernelPlan>& kernels);

}  // namespace weft::tools
