#include "tests/differential/tiles.h"

#include "tools/simt_program.h"

namespace weft::testing_support {

const target::Processor processor_of_tiles = target::Processor::Gpu;

std::vector<Program> compiled_in_tiles(const Pipeline& pipeline, const schedule::Groups& groups) {
  // What the third build finds, these two find.
  compile::Scheduling other = scheduling_of(groups);
  if (const std::string tiles = groups_in_tiles(pipeline, groups, {64, 12}); !tiles.empty())
    other = {.groups = tiles};
  return {
      tools::simt_program(pipeline,
                          {simt::Build::race, simt::quick_flags(simt::Build::race), scheduling_of(groups)}),
      tools::simt_program(pipeline, {simt::Build::address, simt::quick_flags(simt::Build::address), other})};
}

Program compiled_in_stages(const Pipeline& pipeline) {
  return tools::simt_program(
      pipeline, {simt::Build::address, simt::quick_flags(simt::Build::address), {.tile = Tile::None}});
}

std::vector<Program> compiled_at_once(const std::vector<Pipeline>& pipelines) {
  return tools::simt_programs(pipelines, {simt::Build::fast, {"-O0"}});
}

}  // namespace weft::testing_support
