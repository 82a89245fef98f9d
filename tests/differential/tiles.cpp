#include "tests/differential/tiles.h"

#include "runtime/scheduling.h"
#include "schedule/groups.h"
#include "tests/support/compile.h"

namespace weft::testing_support {
namespace {

using schedule::Traversal;

/// The schedule that the compiler chooses with such tiles, as JSON; empty if no group keeps rows.
std::string in_tiles(const schedule::Schedule& chosen, const schedule::Tile& tile) {
  schedule::Tiles tiles;
  for (const schedule::StagePlan& plan : chosen.stages) {
    if (plan.in_rows) tiles[plan.into] = tile;
  }
  return tiles.empty() ? "" : schedule::to_json(schedule::groups_of(chosen), tiles);
}

}  // namespace

const lower::Processor processor_of_tiles = lower::Processor::Cpu;

std::vector<Program> compiled_in_tiles(const Pipeline& pipeline) {
  CompileOptions options = compile_options();
  options.tile = Tile::Block;
  std::vector<Program> programs{pipeline.compile(options)};
  const auto chosen = runtime::scheduled(pipeline.ir(), processor_of_tiles, runtime::scheduling_of(options));
  for (const schedule::Tile& tile :
       {schedule::Tile{16, 4, Traversal::March}, schedule::Tile{40, 12, Traversal::Static}}) {
    options.schedule = in_tiles(chosen.schedule, tile);
    if (options.schedule.empty()) continue;
    options.tile = Tile::Auto;
    programs.push_back(pipeline.compile(options));
  }
  return programs;
}

}  // namespace weft::testing_support
