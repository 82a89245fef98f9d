// One stored stage as a GPU kernel: every thread computes pixels of its own.
//
//     for y, y threads of the grid apart:
//       for x, x threads of the grid apart:    dx[x, y] = …    every read goes through its border
//
// Grids may be smaller than images, as their y and z extents are limited: hence loops instead of ifs.
#pragma once

#include <functional>

#include "lower/lower_stage.h"
#include "lower/rows.h"

namespace weft::lower {

/// Appends the kernel and the tables of a pure stage.
kernel::Launch lower_grid(const KernelContext& context);

/// Computes and stores a thread's pixel of a stage, at the current coordinates.
void store_pixel_of(const KernelContext& context, const ir::Stage& stage, const Rows& rows,
                    kernel::Block& block);

/// Loops over all dimensions but x around one over x, `along_x`; over y alone if that has all planes.
kernel::Block grid_loops_around(const Rows& rows, kernel::Block along_x, bool has_planes = false);
/// A kernel's loops over a box, around what `body` makes of each pixel at the box's coordinates.
kernel::Block grid_loops(const Rows& rows, const std::function<void(kernel::Block&)>& body);
/// Of a thread, over all planes.
kernel::Block loop_over_planes(kernel::LoopKind kind, const Rows& rows, kernel::Block body);

// Grids as they are before the size of blocks is decided (target/choose_blocks.h).

/// A grid over a box: each thread has `pixels_per_thread` neighbours of a row, from `before` pixels left of the row on. With 4
/// and 3, the first thread of a row has the pixels -3 to 0.
kernel::Grid grid_over(const Rows& rows, int pixels_per_thread = 1, int before = 0);
/// `blocks` blocks along x, whose threads share its work: `items` items at a time, or any number (0).
kernel::Grid grid_of_blocks(const kernel::Expr& blocks, int items = 0);

}  // namespace weft::lower
