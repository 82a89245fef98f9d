// Steps of a line in the lanes of vectors (plan/steps_in_lanes.h), where the processor has them and a tile is inside.
#pragma once

#include "lower/tile.h"

namespace weft::lower {

/// What computes a tile: `passes`, or the same in lanes, if its plan says so.
kernel::Block in_lanes_or(const Tile& tile, kernel::Block passes);

}  // namespace weft::lower
