// The search for groups of stages that are to be one kernel: the Hipacc thesis, section 3.5.
#pragma once

#include "ir/stage_ir.h"
#include "schedule/hipacc/partition.h"

namespace weft::schedule::hipacc {

/// Both searches take groups only that are legal and in which no edge is a loss.
Partition fuse(const StageGraph& graph, Fusion fusion, const FusionLimits& limits = {},
               const BenefitModel& model = {});
/// Of the stages as they are in the pipeline: those that a schedule would compute in place are stages, too.
Partition fuse(const ir::Pipeline& pipeline, Fusion fusion, const FusionLimits& limits = {},
               const BenefitModel& model = {});

}  // namespace weft::schedule::hipacc
