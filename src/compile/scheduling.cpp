#include "compile/scheduling.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/visit.h"
#include "lower/lower.h"
#include "plan/block_costs.h"
#include "plan/block_strip.h"
#include "plan/core_costs.h"
#include "plan/warp_strip.h"
#include "plan/warp_tiling_costs.h"
#include "rewrite/prepare.h"
#include "schedule/groups.h"
#include "schedule/hipacc/fuse.h"

namespace weft::compile {
namespace {

using schedule::Tiling;

schedule::hipacc::Fusion fusion_of(Fuse fuse) {
  switch (fuse) {
    case Fuse::Basic: return schedule::hipacc::Fusion::Basic;
    case Fuse::MinCut: return schedule::hipacc::Fusion::MinCut;
    default: return schedule::hipacc::Fusion::None;
  }
}

/// The search that was asked for. A CPU has no occupancy to keep.
schedule::hipacc::Partition partition_of(const ir::Pipeline& definition, const target::Target& target,
                                         const Scheduling& scheduling) {
  schedule::hipacc::FusionLimits limits;
  if (target.processor == target::Processor::Gpu) limits.architecture = &target.architecture;
  return schedule::hipacc::fuse(definition, fusion_of(scheduling.fuse), limits, scheduling.model);
}

schedule::Grouping nothing_fused(const ir::Pipeline& pipeline) {
  schedule::Grouping grouping;
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (!ir::is_output(pipeline, *stage)) grouping.why[stage->name] = "nothing is fused";
  }
  return grouping;
}

Tiling tiling_of(const Scheduling& scheduling) {
  switch (scheduling.tile) {
    case Tile::Auto:
    case Tile::Overlap:
    case Tile::Split: return Tiling::Any;
    case Tile::None: return Tiling::None;
    case Tile::Block: return Tiling::Block;
    case Tile::Warp: return Tiling::Warp;
    case Tile::Hybrid: return Tiling::Hybrid;
    default: return Tiling::March;
  }
}

schedule::StepTiles step_tiles_of(Tile tile) {
  if (tile == Tile::Overlap) return schedule::StepTiles::Overlap;
  return tile == Tile::Split ? schedule::StepTiles::Split : schedule::StepTiles::Any;
}

/// What kernels of the target should take, for images of such sizes.
plan::CostModel costs_on(const target::Target& target, const Scheduling& scheduling, ir::Sizes sizes) {
  if (target.processor == target::Processor::Cpu) return plan::cpu_costs(std::move(sizes));
  const machine::Board& board = scheduling.board ? *scheduling.board : machine::board_of(target.architecture);
  if (scheduling.cost == Cost::Paper) return plan::paper_costs(std::move(sizes), board);
  return plan::gpu_costs(std::move(sizes), machine::gpu_speeds(board));
}

/// Where nobody has said how large images are. What a launch takes whatever its pixels matters to small ones, and what a pixel takes
/// to large ones: on GPUs the two count alike.
plan::CostModel costs_of_any_size(const target::Target& target, const Scheduling& scheduling,
                                  const ir::Pipeline& pipeline) {
  const ir::Sizes sizes = plan::nominal_sizes(pipeline);
  plan::CostModel model = costs_on(target, scheduling, sizes);
  if (target.processor == target::Processor::Cpu || scheduling.cost == Cost::Paper) return model;
  std::size_t rank = 0;
  for (const auto& [image, extents] : sizes) rank = std::max(rank, extents.size());
  return [small = std::move(model), large = costs_on(target, scheduling, plan::doubled(sizes)),
          times_as_large = std::exp2(rank)](const plan::KernelPlan& plan) {
    return small(plan) + large(plan) / times_as_large;
  };
}

/// Where no schedule says it.
schedule::Grouping chosen_grouping(const Scheduled& about, const target::Target& target,
                                   const Scheduling& scheduling) {
  const Tiling tiling = tiling_of(scheduling);
  const schedule::Memory memory = memory_of(target);
  if (scheduling.fuse == Fuse::None) return nothing_fused(about.pipeline);
  const bool is_free =
      scheduling.fuse == Fuse::Auto && scheduling.tile != Tile::None && scheduling.tile != Tile::March;
  if (scheduling.fuse == Fuse::Dp || is_free) {
    const plan::CostModel model = costs_of_any_size(target, scheduling, about.pipeline);
    schedule::Grouping cheapest = schedule::cheapest_groups(about.pipeline, tiling, memory, model);
    if (tiling == Tiling::None || scheduling.cost == Cost::Paper)
      return cheapest;  // the paper has no steps in time
    const plan::CostModel of_fields =
        costs_on(target, scheduling, plan::nominal_sizes_of_fields(about.pipeline));
    schedule::Grouping stepping = schedule::with_steps(about.pipeline, std::move(cheapest), memory, of_fields,
                                                       step_tiles_of(scheduling.tile));
    if (tiling != Tiling::Any) return stepping;
    return schedule::with_turns(about.pipeline, std::move(stepping), tiling, memory, model);
  }
  if (about.partition) return schedule::groups_of_partition(about.pipeline, *about.partition, tiling, memory);
  return schedule::largest_groups(about.pipeline, tiling, memory);
}

/// Between the lanes of warps of 32: NVIDIA's since Kepler.
bool has_shuffles(const machine::Architecture& architecture) {
  return architecture.warp == plan::lanes_of_warp && architecture.major >= 3;
}

}  // namespace

Scheduling scheduling_of(const CompileOptions& options) {
  return {options.tile, options.fuse, options.schedule, {}, nullptr, options.cost};
}

void check(const Scheduling& scheduling) {
  if (!scheduling.groups.empty() && scheduling.fuse != Fuse::Auto)
    throw Error("a schedule says which stages are fused, so there is nothing left to choose")
        .help("leave out either the schedule or the way to fuse");
  if (scheduling.fuse == Fuse::None && scheduling.tile == Tile::March)
    throw Error(
        "fuse 'none' leaves one stage to each kernel, so tile 'march' has nothing to compute together")
        .help("leave out one of them");
}

schedule::Memory memory_of(const target::Target& target) {
  if (target.processor == target::Processor::Gpu)
    return {plan::most_shared_bytes, has_shuffles(target.architecture),
            machine::board_of(target.architecture).multiprocessors};
  return {};
}

/// The default search chooses groups by their times, and may keep rows of whatever it likes.
rewrite::Preparation preparation_for(const Scheduling& scheduling) {
  const bool is_searched = scheduling.fuse == Fuse::Auto || scheduling.fuse == Fuse::Dp;
  const bool is_default = is_searched && scheduling.tile == Tile::Auto && scheduling.cost == Cost::Weft;
  return is_default ? rewrite::Preparation::ForSearch : rewrite::Preparation::Usual;
}

ir::Pipeline prepared(const ir::Pipeline& definition, const target::Target& target,
                      rewrite::Preparation preparation) {
  return target.processor == target::Processor::Cpu ? rewrite::prepare_for_cores(definition, preparation)
                                                    : rewrite::prepare(definition, preparation);
}

Scheduled scheduled(const ir::Pipeline& definition, const target::Target& target,
                    const Scheduling& scheduling) {
  check(scheduling);
  if (scheduling.cost == Cost::Paper && target.processor == target::Processor::Cpu)
    throw Error("the cost function of the paper is of kernels of a GPU")
        .help("leave out --cost, or take another target");
  const bool is_of_warps = scheduling.tile == Tile::Warp || scheduling.tile == Tile::Hybrid;
  if (is_of_warps && !memory_of(target).has_warps)
    throw Error(fmt::format("tiles of warps are for GPUs with warps of {} lanes", plan::lanes_of_warp))
        .help("take tile 'march' or 'block', or another target");
  std::optional<schedule::Grouping> asked;
  if (!scheduling.groups.empty()) asked = schedule::grouping_from_json(scheduling.groups);
  const rewrite::Preparation preparation = asked ? asked->preparation : preparation_for(scheduling);
  Scheduled result{prepared(definition, target, preparation), {}, {}, {}};
  if (scheduling.groups.empty() && scheduling.fuse != Fuse::Auto && scheduling.fuse != Fuse::Dp)
    result.partition = partition_of(definition, target, scheduling);
  schedule::Grouping grouping = asked ? *asked : chosen_grouping(result, target, scheduling);
  grouping.preparation = preparation;
  result.search = grouping.search;
  schedule::ScheduleOrWhy found =
      schedule_of_groups(result.pipeline, grouping, tiling_of(scheduling), memory_of(target));
  if (!found.schedule) {
    const std::string what = scheduling.groups.empty() ? "the groups that were chosen" : "the schedule";
    throw Error("pipeline '" + definition.name + "' cannot follow " + what + ": " + found.why);
  }
  result.schedule = std::move(*found.schedule);
  return result;
}

kernel::Module lowered(const ir::Pipeline& definition, const target::Target& target,
                       const Scheduling& scheduling) {
  const Scheduled what = scheduled(definition, target, scheduling);
  return lower::lower(what.pipeline, what.schedule.kernels, target, schedule::to_text(what.schedule));
}

}  // namespace weft::compile
