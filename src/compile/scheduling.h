// From what a user asks for to the schedule that a target runs.
#pragma once

#include <weft/pipeline.h>

#include <optional>
#include <string>

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "machine/board.h"
#include "rewrite/separate_windows.h"
#include "schedule/hipacc/partition.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace weft::compile {

/// What decides which stages become one kernel, and how those kernels compute them.
struct Scheduling {
  Tile tile = Tile::Auto;
  Fuse fuse = Fuse::Auto;
  std::string groups;  ///< JSON, as of CompileOptions::schedule; empty: they are chosen.
  schedule::hipacc::BenefitModel model = {};  ///< Of partitions.
  /// The GPU whose times count for groups; null: one of the target's architecture.
  const machine::Board* board = nullptr;
  Cost cost = Cost::Weft;  ///< plan/block_costs.h, or plan/warp_tiling_costs.h.
};
Scheduling scheduling_of(const CompileOptions& options);

/// Throws weft::Error if its parts contradict one another.
void check(const Scheduling& scheduling);

/// A pipeline as it is lowered, and the schedule for it.
struct Scheduled {
  ir::Pipeline pipeline;
  schedule::Schedule schedule;
  /// What the groups follow, if a partition was asked for: of the stages as they were defined. It refers to
  /// the architecture of the target.
  std::optional<schedule::hipacc::Partition> partition;
  std::string search;  ///< How much was searched for the groups, if anything: a clause.
};

/// What pipelines are prepared for where no schedule says it.
rewrite::Preparation preparation_for(const Scheduling& scheduling = {});
/// The pipeline as the target's schedules divide it.
ir::Pipeline prepared(const ir::Pipeline& definition, const target::Target& target,
                      rewrite::Preparation preparation);

/// Where the target's kernels keep rows that march.
schedule::Memory memory_of(const target::Target& target);

/// Throws weft::Error if the target cannot run what is asked for.
Scheduled scheduled(const ir::Pipeline& definition, const target::Target& target,
                    const Scheduling& scheduling = {});
/// The kernels of it.
kernel::Module lowered(const ir::Pipeline& definition, const target::Target& target = target::Processor::Cpu,
                       const Scheduling& scheduling = {});

}  // namespace weft::compile
