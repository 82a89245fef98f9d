// A group of stages as one function over strips, which march down the image (plan/march.h).
//
//     static void gx_strips(frame, first, last):
//       float in_rows[…], dx_rows[…]                    the rows that are still to be read
//       for strip in [first, last):                     columns from x0, rows [y0, y1)
//         for y in [y0 - 2, y1):
//           in's row y + 1 from memory, borders resolved
//           dx's row y + 1                              each a vector loop over the strip and its halo
//           gx's row y, to memory
//
// What ends in a reduction has its states in place of gx's row (reduction_parts.h):
//
//           the sum's elements of row y, into accumulators; after the last row of a part, these to memory
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/ir.h"
#include "lower/layout.h"
#include "plan/plan.h"

namespace weft::lower {

struct GroupContext {
  const plan::KernelPlan& plan;
  const std::vector<const ir::Stage*>& members;                   ///< Producers first; the last is stored.
  const std::unordered_map<const ir::Node*, std::string>& names;  ///< Of stages computed in place.
  Layout& layout;
  kernel::Module& module;
};

/// The member, or the image that a member reads, of that name.
const ir::Stage& stage_named(const std::string& name, const std::vector<const ir::Stage*>& members);

/// Appends the functions, tables and launches to the module.
void lower_marching(const GroupContext& context);

}  // namespace weft::lower
