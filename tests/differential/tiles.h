// Pipelines whose stages are computed together, tile by tile, on what a test program is built for: the CPU,
// or the SIMT checker. The definitions of tests are the same.
#pragma once

#include <weft/weft.hpp>

#include <string>
#include <vector>

#include "lower/processor.h"
#include "runtime/scheduling.h"
#include "schedule/groups.h"

namespace weft::testing_support {

extern const lower::Processor processor_of_tiles;

/// The pipeline, compiled in each way that there is, in small tiles too.
std::vector<Program> compiled_in_tiles(const Pipeline& pipeline);

/// The schedule of largest groups in such tiles, as JSON; empty if no group keeps rows.
inline std::string largest_groups_in_tiles(const Pipeline& pipeline, const schedule::Tile& tile) {
  const auto chosen = runtime::scheduled(pipeline.ir(), processor_of_tiles, {.tile = Tile::Block}).schedule;
  schedule::Tiles tiles;
  for (const schedule::StagePlan& plan : chosen.stages) {
    if (plan.in_rows) tiles[plan.into] = tile;
  }
  return tiles.empty() ? "" : schedule::to_json(schedule::groups_of(chosen), tiles);
}

}  // namespace weft::testing_support
