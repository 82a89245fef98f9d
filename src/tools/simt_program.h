// A pipeline's CUDA, run on the CPU by the SIMT checker.
#pragma once

#include <memory>

#include <simt/simt.h>
#include "runtime/executable.h"

namespace weft::tools {

/// Runs take turns. One that the checker reports something of throws weft::Error with the first report.
std::unique_ptr<const runtime::Executable> simt_program(const Pipeline& pipeline, simt::Build build);

}  // namespace weft::tools
