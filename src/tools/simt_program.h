// A pipeline's CUDA, run on the CPU by the SIMT checker.
#pragma once

#include <memory>
#include <vector>

#include <simt/simt.h>
#include "ir/kernel_ir.h"
#include "runtime/executable.h"

namespace weft::tools {

/// Runs take turns. One that the checker reports something of throws weft::Error with the first report.
std::unique_ptr<const runtime::Executable> simt_program(const Pipeline& pipeline, simt::Build build);

/// The kernels of a pipeline, as the checker runs them.
kernel::Module cuda_module(const Pipeline& pipeline);
/// What each kernel did in one run, in the build that finds races.
std::vector<simt::KernelCounts> counts_on_simt(const Pipeline& pipeline, const Arguments& arguments);

}  // namespace weft::tools
