// Steps of a line in the lanes of a core's vectors: each lane goes along columns of its own, so that all steps of a column are
// in registers, and the columns beside it in the vectors before and behind.
//
//     lane 0    columns 0, 1, 2, …            vector i = u[0 + i], u[496 + i], u[992 + i], …
//     lane 1    columns 496, 497, 498, …      a step = f(vector i - 1, vector i, vector i + 1)
#pragma once

#include <optional>
#include <string>

#include "ir/stage_ir.h"

namespace weft::plan {

/// Columns of a lane: an odd number of cache lines, so that lanes do not fall on the same places of a cache.
constexpr int columns_of_lane = 496;

/// Columns of a tile: 7936 for the 16 lanes of floats, 3968 for the 8 of doubles.
int width_in_lanes(Scalar type);

/// Why steps of a field do not go along lanes: a clause, or nothing. `update` is the first of them, as stages of an image of one
/// row.
std::optional<std::string> why_not_in_lanes(const ir::Stage& update, int steps);

}  // namespace weft::plan
