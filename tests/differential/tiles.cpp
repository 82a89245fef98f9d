#include "tests/differential/tiles.h"

#include "tests/support/compile.h"

namespace weft::testing_support {

using schedule::Traversal;

const lower::Processor processor_of_tiles = lower::Processor::Cpu;

std::vector<Program> compiled_in_tiles(const Pipeline& pipeline) {
  CompileOptions options = compile_options();
  options.tile = Tile::Block;
  std::vector<Program> programs{pipeline.compile(options)};
  options.compiler_flags.push_back("-O1");  // half the time; how loops become vectors is seen above
  for (const schedule::Tile& tile :
       {schedule::Tile{16, 4, Traversal::March}, schedule::Tile{40, 12, Traversal::Static}}) {
    options.schedule = largest_groups_in_tiles(pipeline, tile);
    if (!options.schedule.empty()) programs.push_back(pipeline.compile(options));
  }
  return programs;
}

Program compiled_in_stages(const Pipeline& pipeline) {
  CompileOptions options = compile_options();
  options.tile = Tile::None;
  return pipeline.compile(options);
}

}  // namespace weft::testing_support
