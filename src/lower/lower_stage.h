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
#include <vector>

#include "ir/kernel_ir.h"
#include "ir/stage_ir.h"
#include "lower/layout.h"

namespace weft::lower {

/// A stored stage on its way into a module.
struct StageContext {
  const ir::Stage& stage;
  const std::unordered_map<const ir::Node*, std::string>& names;  ///< Of stages computed in place.
  Layout& layout;
  kernel::Module& module;
};

/// Appends the functions and tables of a pure stage to the module. Its array may have a larger box.
kernel::Launch lower_stage(const StageContext& context);

/// The names of the arrays that the stage's expressions read.
std::vector<std::string> arrays_read(const ir::Stage& stage, const Layout& layout);

}  // namespace weft::lower
