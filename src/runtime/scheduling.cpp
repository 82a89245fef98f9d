#include "runtime/scheduling.h"

#include <weft/error.h>

#include <utility>

#include "ir/visit.h"
#include "lower/lower.h"
#include "schedule/block_strip.h"
#include "schedule/fuse.h"
#include "schedule/groups.h"

namespace weft::runtime {
namespace {

using schedule::Tiling;

schedule::Fusion fusion_of(Fuse fuse) {
  switch (fuse) {
    case Fuse::Basic: return schedule::Fusion::Basic;
    case Fuse::MinCut: return schedule::Fusion::MinCut;
    default: return schedule::Fusion::None;
  }
}

/// The search that was asked for. A CPU has no occupancy to keep.
schedule::Partition partition_of(const ir::Pipeline& definition, const lower::Target& target,
                                 const Scheduling& scheduling) {
  schedule::FusionLimits limits;
  if (target.processor == lower::Processor::Gpu) limits.architecture = &target.architecture;
  return schedule::fuse(definition, fusion_of(scheduling.fuse), limits, scheduling.model);
}

schedule::Grouping nothing_fused(const ir::Pipeline& pipeline) {
  schedule::Grouping grouping;
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (!ir::is_output(pipeline, *stage)) grouping.why[stage->name] = "nothing is fused";
  }
  return grouping;
}

/// What marching is worth on GPUs has not been measured yet, so there it has to be asked for.
Tiling tiling_of(const lower::Target& target, const Scheduling& scheduling) {
  const bool on_gpu = target.processor == lower::Processor::Gpu;
  const bool asks_for_groups =
      !scheduling.groups.empty() || scheduling.fuse == Fuse::Basic || scheduling.fuse == Fuse::MinCut;
  switch (scheduling.tile) {
    case Tile::None: return Tiling::None;
    case Tile::Block: return Tiling::Block;
    default: return !on_gpu || asks_for_groups ? Tiling::Block : Tiling::None;
  }
}

schedule::Grouping grouping_of(const Scheduled& about, const Scheduling& scheduling, Tiling tiling,
                               const schedule::Memory& memory) {
  if (!scheduling.groups.empty()) return schedule::grouping_from_json(scheduling.groups);
  if (scheduling.fuse == Fuse::None) return nothing_fused(about.pipeline);
  const bool is_free = scheduling.fuse == Fuse::Auto && scheduling.tile == Tile::Auto;
  const bool has_costs = !memory.shared_bytes;  // those of CPUs
  if (scheduling.fuse == Fuse::Dp || (is_free && has_costs))
    return schedule::cheapest_groups(about.pipeline, tiling);
  if (about.partition) return schedule::groups_of_partition(about.pipeline, *about.partition, tiling, memory);
  return schedule::largest_groups(about.pipeline, tiling, memory);
}

}  // namespace

Scheduling scheduling_of(const CompileOptions& options) {
  return {options.tile, options.fuse, options.schedule, {}};
}

void check(const Scheduling& scheduling) {
  if (!scheduling.groups.empty() && scheduling.fuse != Fuse::Auto)
    throw Error("a schedule says which stages are fused, so there is nothing left to choose")
        .help("leave out either the schedule or the way to fuse");
  if (scheduling.fuse == Fuse::None && scheduling.tile == Tile::Block)
    throw Error(
        "fuse 'none' leaves one stage to each kernel, so tile 'block' has nothing to compute together")
        .help("leave out one of them");
}

schedule::Memory memory_of(const lower::Target& target) {
  if (target.processor == lower::Processor::Gpu) return {schedule::most_shared_bytes};
  return {};
}

Scheduled scheduled(const ir::Pipeline& definition, const lower::Target& target,
                    const Scheduling& scheduling) {
  check(scheduling);
  const bool on_gpu = target.processor == lower::Processor::Gpu;
  const Tiling tiling = tiling_of(target, scheduling);
  const schedule::Memory memory = memory_of(target);
  Scheduled result{lower::prepare(definition), {}, {}, {}};
  if (on_gpu && scheduling.fuse == Fuse::Dp)
    throw Error("pipeline '" + definition.name + "': the costs that fuse 'dp' goes by are a CPU's")
        .help("ask for the fuse 'auto', 'basic', 'mincut' or 'none'");
  if (scheduling.groups.empty() && scheduling.fuse != Fuse::Auto && scheduling.fuse != Fuse::Dp)
    result.partition = partition_of(definition, target, scheduling);
  const schedule::Grouping grouping = grouping_of(result, scheduling, tiling, memory);
  result.search = grouping.search;
  schedule::ScheduleOrWhy found = schedule_of_groups(result.pipeline, grouping, tiling, memory);
  if (!found.schedule) {
    const std::string what = scheduling.groups.empty() ? "the groups that were chosen" : "the schedule";
    throw Error("pipeline '" + definition.name + "' cannot follow " + what + ": " + found.why);
  }
  result.schedule = std::move(*found.schedule);
  return result;
}

kernel::Module lowered(const ir::Pipeline& definition, const lower::Target& target,
                       const Scheduling& scheduling) {
  const Scheduled what = scheduled(definition, target, scheduling);
  return lower::lower(what.pipeline, what.schedule, target);
}

}  // namespace weft::runtime
