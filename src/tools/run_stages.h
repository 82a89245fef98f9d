// Stages that `weft run` is asked for by name: those to be written like outputs, and the one to be probed.
#pragma once

#include "tools/run_job.h"

namespace weft::tools {

/// Stages that -o names become outputs of the job's pipeline, after its own: they are stored in this run.
/// Throws weft::Error for names that no stage has.
void store_named_stages(const RunOptions& options, Job& job);

/// "[STAGE:]X,Y" of --probe; without a stage, it is the first output.
struct ProbePoint {
  ir::StagePtr stage;
  std::vector<std::int64_t> at;
};
/// Throws weft::Error.
ProbePoint parse_probe(const std::string& text, const Job& job);

}  // namespace weft::tools
