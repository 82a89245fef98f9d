// A pipeline's CUDA, run on the CPU by the SIMT checker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <simt/simt.h>
#include "kernel/ir.h"
#include "runtime/executable.h"
#include "tools/targets.h"

namespace weft::tools {

/// The checker's build that the target stands for.
simt::Build build_of(RunTarget target);

struct SimtOptions {
  simt::Build build = simt::Build::fast;
  std::vector<std::string> compiler_flags{};  ///< After those of the build.
  compile::Scheduling scheduling{};
};

/// A run that the checker reports something of throws weft::Error with the first report.
Program simt_program(const Pipeline& pipeline, const SimtOptions& options);
/// One program per pipeline, in their order. Their code is one text, which is compiled once, and their runs
/// take turns. Unless `schedules` is empty, each has its own instead of the options'. Throws weft::Error if
/// the compiler rejects the code of any.
std::vector<Program> simt_programs(const std::vector<Pipeline>& pipelines, const SimtOptions& options,
                                   const std::vector<std::string>& schedules = {});

/// Likewise one program for each module, all of the same pipeline: its kernels, say, with faults.
std::vector<Program> simt_programs(const Pipeline& pipeline, const std::vector<kernel::Module>& modules,
                                   const SimtOptions& options);

/// The kernels of a pipeline, as the checker runs them: for the architecture whose limits it keeps to.
/// Throws weft::Error for a schedule that GPUs do not run.
kernel::Module cuda_module(const Pipeline& pipeline, const compile::Scheduling& scheduling = {});
/// What each kernel did in one run, in the build that finds races.
std::vector<simt::KernelCounts> counts_on_simt(const Pipeline& pipeline, const Arguments& arguments,
                                               const compile::Scheduling& scheduling = {});

}  // namespace weft::tools
