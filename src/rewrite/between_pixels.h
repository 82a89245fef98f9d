// What a stage reads between the pixels of coarser images, as stages of their own.
//
//     out(x) = in(x) + (c(x / 2) + c((x + 1) / 2)) * m(x)                         in has 3 lanes, c and m one
//  →  between(x) = (c(x / 2) + c((x + 1) / 2)) * m(x),   out(x) = in(x) + between(x)
//
// Only `between` is computed in phases: the loop over `out` goes through pixels of several lanes one by one.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Whether parts of a stage can be stages of their own.
bool has_parts(const ir::Stage& stage);

struct BetweenPixels {
  ir::Stage rest;                     ///< The stage that reads them at its own pixels.
  std::vector<ir::StagePtr> between;  ///< Over the same box.
  /// Of the same parts of `rest` as of the stage's.
  std::unordered_map<const ir::Node*, std::string> names;
};

/// Whether it reads pixels of several lanes, and not between them.
bool reads_lanes_at_pixels(const ir::Stage& stage);

/// The largest parts that read between pixels and, at pixels, single lanes. Nothing if there are none, or the stage cannot
/// be in parts. `names` are of parts of the stage.
std::optional<BetweenPixels> between_pixels(
    const ir::Stage& stage, const std::unordered_map<const ir::Node*, std::string>& names = {});

}  // namespace weft::rewrite
