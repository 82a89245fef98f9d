#include "tests/differential/tiles.h"

#include "tools/simt_program.h"

namespace weft::testing_support {

const lower::Processor processor_of_tiles = lower::Processor::Gpu;

std::vector<Program> compiled_in_tiles(const Pipeline& pipeline) {
  std::vector<Program> programs;
  // What the third build finds, these two find.
  for (const simt::Build build : {simt::Build::race, simt::Build::address})
    programs.push_back(tools::simt_program(pipeline, {build, {"-O1"}, {.tile = Tile::Block}}));
  const std::string tiles = largest_groups_in_tiles(pipeline, {64, 12});
  if (!tiles.empty())
    programs.push_back(tools::simt_program(pipeline, {simt::Build::address, {"-O1"}, {.groups = tiles}}));
  return programs;
}

Program compiled_in_stages(const Pipeline& pipeline) {
  return tools::simt_program(pipeline, {simt::Build::address, {"-O1"}, {.tile = Tile::None}});
}

}  // namespace weft::testing_support
