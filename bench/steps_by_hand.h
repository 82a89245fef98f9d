// What a careful programmer writes for `heat2d` on one machine: plain loops, and tiles in time. steps.cpp times Weft
// beside them.
#pragma once

#include <cstdint>

namespace by_hand {

/// Dense rows, the same pixels in both at first. The outer pixels keep their values.
struct TwoGrids {
  float* grids[2];
  std::int64_t width, height;
};

/// Takes the steps with that number of threads: 100 steps leave their result in grids[0], 101 in grids[1]. A barrier after
/// each step.
void heat2d(const TwoGrids& grids, int steps, int threads);

/// Tiles of `pitch` rows that take `height` steps at a time: upright ones, which get narrower with each step, and between
/// them inverted ones, which get wider. Within a tile all steps follow one another down the rows, so that the rows of a
/// few are in the caches. `pitch` is at least twice `height`. A barrier after each kind of tile.
void heat2d_in_tiles(const TwoGrids& grids, int steps, int threads, int height, std::int64_t pitch);

}  // namespace by_hand
