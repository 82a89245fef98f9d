#include "tests/differential/tiles.h"

#include "runtime/compile_together.h"
#include "tests/support/compile.h"

namespace weft::testing_support {

using schedule::Traversal;

const target::Processor processor_of_tiles = target::Processor::Cpu;

namespace {

/// The schedule of groups whose passes compute `rows` rows at a time, in low tiles; empty if none can.
std::string groups_in_rows(const Pipeline& pipeline, const schedule::Groups& groups, int rows) {
  const auto chosen = compile::scheduled(pipeline.ir(), processor_of_tiles, scheduling_of(groups)).schedule;
  schedule::Grouping grouping{schedule::groups_of(chosen)};
  for (const plan::KernelPlan& plan : chosen.kernels) {
    const bool can = plan.is_tiled() && plan.has_one_rate() && !plan.parts && !plan.has_lanes_apart() &&
                     plan.levels[0].extent.size() == 2;
    if (!can) continue;
    plan::Choices& asked = grouping.kernels[plan.result];
    asked.width = 24, asked.height = plan::fixed(7), asked.rows = rows;
  }
  return grouping.kernels.empty() ? "" : schedule::to_json(grouping);
}

}  // namespace

std::vector<Program> compiled_in_tiles(const Pipeline& pipeline, const schedule::Groups& groups) {
  CompileOptions options = compile_options();
  options.tile = Tile::March;
  if (!groups.empty()) options.tile = Tile::Auto, options.schedule = schedule::to_json(groups);
  std::vector<Program> programs{pipeline.compile(options)};
  options = quick_compile_options();
  options.compiler_flags.push_back("-DWEFT_CACHE_BYTES=0");  // so that small results go past them
  std::vector<std::string> schedules;
  for (const schedule::Tile& tile :
       {schedule::Tile{16, 4, Traversal::March}, schedule::Tile{40, 12, Traversal::Static}}) {
    if (const std::string s = groups_in_tiles(pipeline, groups, tile); !s.empty()) schedules.push_back(s);
  }
  for (const int rows : {1, 2, 3}) {
    if (const std::string s = groups_in_rows(pipeline, groups, rows); !s.empty()) schedules.push_back(s);
  }
  const std::vector<Pipeline> pipelines(schedules.size(), pipeline);
  for (const Program& program :
       runtime::compile_together(pipelines, options, compile::ContentCache(), schedules))
    programs.push_back(program);
  return programs;
}

Program compiled_in_stages(const Pipeline& pipeline) {
  CompileOptions options = compile_options();
  options.tile = Tile::None;
  return pipeline.compile(options);
}

std::vector<Program> compiled_at_once(const std::vector<Pipeline>& pipelines) {
  CompileOptions options = compile_options();
  options.compiler_flags.push_back("-O0");
  return runtime::compile_together(pipelines, options, compile::ContentCache());
}

}  // namespace weft::testing_support
