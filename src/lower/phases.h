// Pixels of a row that read a coarser image, by their place between its pixels.
//
//     out(x) = in(x / 2) + in((x + 1) / 2)
//  →  out(2 * i) = in(i) + in(i),   out(2 * i + 1) = in(i) + in(i + 1)
//
// Neighbours of one phase read neighbours, so that vectors are loaded instead of gathered.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::lower {

struct Phases {
  std::vector<ir::Stage>
      stages;  ///< The pixels stages.size() * i + p, as functions of i: a power of two of them.
  std::unordered_map<const ir::Node*, std::string> names;  ///< Of the same parts of them as of the stage's.

  int count() const { return static_cast<int>(stages.size()); }
};

/// Nothing if no index along x is divided, or by something else; `names` are of parts of the stage.
std::optional<Phases> phases_of(const ir::Stage& stage,
                                const std::unordered_map<const ir::Node*, std::string>& names);

}  // namespace weft::lower
