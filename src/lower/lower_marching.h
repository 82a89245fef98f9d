// A group of stages as one function over strips, which march down the image (schedule/marching.h).
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

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/ir.h"
#include "lower/layout.h"
#include "schedule/marching.h"
#include "schedule/schedule.h"

namespace weft::lower {

struct GroupContext {
  const std::vector<const ir::Stage*>& members;                   ///< Producers first; the last is stored.
  const std::unordered_map<const ir::Node*, std::string>& names;  ///< Of stages computed in place.
  std::optional<schedule::Tile> tile;                             ///< If one was asked for.
  Layout& layout;
  kernel::Module& module;
};

/// What all members read, and how they march.
struct MarchOfGroup {
  std::vector<schedule::StageReads> members;
  schedule::March march;
};
MarchOfGroup march_of(const GroupContext& context);

/// Appends the functions, tables and launches to the module. The members have to march together.
void lower_marching(const GroupContext& context);

}  // namespace weft::lower
