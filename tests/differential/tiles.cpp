#include "tests/differential/tiles.h"

#include "tests/support/compile.h"

namespace weft::testing_support {

const lower::Processor processor_of_tiles = lower::Processor::Cpu;

std::vector<Program> compiled_in_tiles(const Pipeline& pipeline) {
  CompileOptions options = compile_options();
  options.tile = Tile::Block;
  return {pipeline.compile(options)};
}

}  // namespace weft::testing_support
