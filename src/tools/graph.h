// The stage graph of a pipeline for Graphviz.
#pragma once

#include <string>
#include <vector>

#include "analysis/footprint.h"
#include "ir/stage_ir.h"
#include "schedule/hipacc/partition.h"
#include "schedule/schedule.h"

namespace weft::tools {

/// Stages as boxes, coloured by pattern; those computed together share a frame; edges say what is read.
std::string to_dot(const ir::Pipeline& pipeline, const std::vector<analysis::StageSummary>& stages,
                   const schedule::Schedule& schedule);
/// Likewise, those of a group sharing a frame.
std::string to_dot(const ir::Pipeline& pipeline, const std::vector<analysis::StageSummary>& stages,
                   const schedule::hipacc::Partition& partition);

/// What a stage reads of a source, for people: "in 3x3 clamp", "in" for the current pixel.
std::string read_text(const analysis::SourceSummary& source);

}  // namespace weft::tools
