// What split tiles (plan/split_tiles.h) read and write of memory at least, by the closed form of their ends. Upright tiles read what
// they begin with, and store their last level and what the gaps beside them read; inverted ones read what lies
// beside them, level by level, and store their last level.
//
//     16 steps of u(x - 1) + u(x + 1), P = 256, w = 224      upright: 254 + 2 read, 224 + 15 * 4 stored
//                                                            inverted: 16 * 4 read, 32 stored; 0.155 words for each update
#pragma once

#include <cstddef>

#include "ir/bindings.h"
#include "plan/plan.h"
#include "plan/tiles.h"

namespace weft::plan {

/// Of a field in a band, for each of its pixels.
struct PixelsOfBand {
  double read = 0, written = 0;
};
/// Reads of a step are taken for a star that reaches as far as tiles lean.
PixelsOfBand pixels_of_band(const SplitTiles& tiles, std::size_t field);

/// Bytes of a band of split tiles. Images that do not change are read by each launch.
Traffic traffic_of_split(const KernelPlan& plan, const ir::Sizes& sizes);

}  // namespace weft::plan
