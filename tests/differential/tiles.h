// Pipelines on what a test program is built for: the CPU, or the SIMT checker. The definitions of tests are
// the same. Most are of stages that are computed together, tile by tile.
#pragma once

#include <weft/weft.hpp>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "compile/scheduling.h"
#include "schedule/groups.h"
#include "target/target.h"

namespace weft::testing_support {

extern const target::Processor processor_of_tiles;

/// The pipeline in these groups, or in the largest that there are, compiled in each way that there is, in small tiles too.
std::vector<Program> compiled_in_tiles(const Pipeline& pipeline, const schedule::Groups& groups = {});
/// Stage after stage.
Program compiled_in_stages(const Pipeline& pipeline);
/// Each as it would be alone, but not optimized: for tests of what compiles at all.
std::vector<Program> compiled_at_once(const std::vector<Pipeline>& pipelines);

inline bool is_reduction(const Pipeline& pipeline, const std::string& name) {
  const auto& stages = pipeline.ir().stages;
  return std::any_of(stages.begin(), stages.end(), [&](const ir::StagePtr& stage) {
    return stage->name == name && std::holds_alternative<ir::Reduce>(stage->definition);
  });
}

/// Of these groups, or of the largest if there are none.
inline compile::Scheduling scheduling_of(const schedule::Groups& groups) {
  if (groups.empty()) return {.tile = Tile::March};
  return {.groups = schedule::to_json(groups)};
}

/// Their schedule in such tiles, as JSON; empty if no group keeps rows of its own choice: those of a reduction are whole
/// parts.
inline std::string groups_in_tiles(const Pipeline& pipeline, const schedule::Groups& groups,
                                   const schedule::Tile& tile) {
  const auto chosen = compile::scheduled(pipeline.ir(), processor_of_tiles, scheduling_of(groups)).schedule;
  schedule::Tiles tiles;
  for (const schedule::StagePlan& plan : chosen.stages) {
    if (plan.in_rows && !is_reduction(pipeline, plan.into)) tiles[plan.into] = tile;
  }
  return tiles.empty() ? ""
                       : schedule::to_json(schedule::Grouping{schedule::groups_of(chosen), {}, {}, tiles});
}

}  // namespace weft::testing_support
