// One stored stage as functions over rows.
//
//     static void dx_rows(frame, first, last):       one call computes some rows, so that calls run in
//     parallel
//       for y in [first, last):
//         for x in [0, left):      dx_pixel(x, y)     … the border, one pixel at a time
//         for x in [left, right):  dx[x] = …          … the interior: branch-free, vectorised
//         for x in [right, w):     dx_pixel(x, y)
#pragma once

#include <string>
#include <unordered_map>

#include "ir/kernel_ir.h"
#include "ir/stage_ir.h"
#include "lower/layout.h"

namespace weft::lower {

/// Appends the stage's functions, tables and launch to the module.
void lower_stage(const ir::Stage& stage, const std::unordered_map<const ir::Node*, std::string>& names,
                 Layout& layout, kernel::Module& module);

}  // namespace weft::lower
