// Columns of a scatter that end in what reads them: a thread that has all pixels of a column in shared memory
// (ScatterColumns) computes from them those that a reader has there, and stores these instead.
//
//     grid:  scattered into, 11 pixels for each x and y
//     blurz: grid(x, y, z - 2) + 4 * grid(x, y, z - 1) + 6 * grid(x, y, z) …      ends the columns of grid
//     blury: blurz(x, y - 2, z) …                                                 does not: it reads other columns
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/choices.h"
#include "plan/march.h"

namespace weft::plan {

/// Why members of a group that begins with a scatter are no columns and what they end in: a clause. Nothing if they are,
/// nor of any other group.
std::optional<std::string> why_not_ended(const std::vector<StageReads>& members, const Memory& memory);

}  // namespace weft::plan
