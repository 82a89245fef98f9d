// A local stage as a GPU kernel that stages its sources in shared memory: each block of threads marches down
// a strip of the image, and keeps the rows that its windows reach.
//
//     for each strip of the grid, 1024 bytes wide:
//       for y_batch, 8 rows apart:
//         rows below those that are there → shared memory, borders resolved, in whole sectors
//         barrier
//         for y in the batch:   for x in the strip:   dx[x, y] = …
//         barrier
//
// A strip of W bytes and H rows loads (1 + 64 / W) (1 + (h - 1) / H) times the pixels of a window of height
// h: a row begins and ends with a sector of 32 bytes for the halo.
#pragma once

#include <optional>

#include "lower/lower_stage.h"

namespace weft::lower {

/// Appends the kernel and the tables of a pure stage of rank 2; nothing if staging does not pay: then no
/// source is read at three pixels or more at constant distances, or the windows do not fit shared memory.
std::optional<kernel::Launch> lower_strips(const StageContext& context);

}  // namespace weft::lower
