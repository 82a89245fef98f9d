// What the command runs pipelines on: the targets of the library, and the SIMT checker, which runs the
// emitted CUDA on the CPU.
#pragma once

#include <weft/pipeline.h>

#include <string>
#include <vector>

#include "base/run_progress.h"
#include "compile/scheduling.h"

namespace weft::tools {

enum class RunTarget { Auto, Cpu, Reference, Cuda, SimtFast, SimtRace, SimtAddress };

/// Throws weft::Error for an unknown name.
RunTarget parse_target(const std::string& text);
/// Those of a list, separated by commas; "simt" stands for all builds of the checker.
std::vector<RunTarget> parse_targets(const std::string& list);
std::string name_of(RunTarget target);
/// What the program runs on, as the target "auto" leaves that open.
std::string name_of(RunTarget target, const Program& program);
/// Whether it is a build of the checker.
bool is_simt(RunTarget target);

/// A program whose runs on the checker throw weft::Error with the first report, if there are any. Other
/// runs tell `progress` how far they are; it outlives the program.
Program compile(const Pipeline& pipeline, RunTarget target, int threads = 0,
                const compile::Scheduling& scheduling = {}, RunProgress* progress = nullptr);

}  // namespace weft::tools
