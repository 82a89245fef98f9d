// Pipelines whose stages are computed together, tile by tile, on what a test program is built for: the CPU,
// or the SIMT checker. The definitions of tests are the same.
#pragma once

#include <weft/weft.hpp>

#include <vector>

#include "lower/processor.h"

namespace weft::testing_support {

extern const lower::Processor processor_of_tiles;

/// The pipeline, compiled in each way that there is; on the CPU also in small strips and tiles.
std::vector<Program> compiled_in_tiles(const Pipeline& pipeline);

}  // namespace weft::testing_support
