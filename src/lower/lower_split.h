// Several time steps of an evolution in split tiles (plan/split_tiles.h), in the fields' own arrays: what a tile needs
// lies there, and what it computes takes the place of what nobody reads any more.
//
//     for each tile:                          a colour, its numbers, and where it begins and ends at the top of the band
//       for each step of the band:
//         for each field:                     rows between ends that move from level to level
//           for the tile's pixels:            the update
//
// On a GPU a tile is a block's, whose threads share out the pixels of each level and wait for one another after it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "lower/layout.h"
#include "machine/architecture.h"
#include "plan/plan.h"

namespace weft::lower {

struct SplitContext {
  const plan::KernelPlan& plan;  ///< Of the steps; has `split`.
  const ir::Evolution& evolution;
  const std::unordered_map<const ir::Node*, std::string>& names;
  Layout& layout;
  kernel::Module& module;
  const std::vector<std::vector<ArrayLayout>>& arrays;  ///< By field; the first has the newest values.
  kernel::Expr steps;                                   ///< To be taken: a multiple of the split's `turn`.
  const machine::Architecture& architecture;
};

/// Appends the functions. Their parts of a repeat go through all of the steps; arrays do not rotate.
std::vector<kernel::Turns> lower_split(const SplitContext& context);

}  // namespace weft::lower
