// One stored stage as functions over rows.
//
//     static void dx_rows(frame, first, last):       one call computes some rows, so that calls run in
//     parallel
//       for y in [first, last):
//         for x in [0, left):      dx_pixel(x, y)     … the border, one pixel at a time
//         for x in [left, right):  dx[x] = …          … the interior: branch-free, vectorised
//         for x in [right, w):     dx_pixel(x, y)
//
// On a GPU each thread computes pixels, with borders resolved (lower_grid.h).
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "lower/expressions.h"
#include "lower/kernel_context.h"

namespace weft::lower {

/// Appends the functions and tables of a kernel of pure stages to the module. Arrays may have larger boxes.
kernel::Launch lower_stage(const KernelContext& context);

/// Code of a core for the pixels [from, to) along x of a pure stage, at the current y, z …; what it calls is appended to
/// the module. It stands in a loop of its own.
kernel::Block row_of_stage(const KernelContext& context, const kernel::Expr& from, const kernel::Expr& to);

/// Stores the value of a pixel at array[offset], and its lanes so far from one another: that of the first
/// case that holds.
void store_pixel(ExpressionLowering& expressions, kernel::Block& block, const std::vector<ir::Case>& cases,
                 const kernel::Symbol& array, const kernel::Expr& offset, std::int64_t lane_pitch = 1);

/// "`what` from 'in', 'mask'.": a function's comment.
std::string comment_on(const ir::Stage& stage, const std::string& what);

}  // namespace weft::lower
