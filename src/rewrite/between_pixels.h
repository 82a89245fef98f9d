// What a stage reads between the pixels of coarser images, as stages of their own.
//
//     out(x) = in(x) + (c(x / 2) + c((x + 1) / 2)) * 0.5
//  →  between(x) = (c(x / 2) + c((x + 1) / 2)) * 0.5,   out(x) = in(x) + between(x)
//
// Only `between` is computed in phases: the loop over `out` goes through all images pixel by pixel.
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

/// Nothing unless a stage that can be in parts has both: largest parts that read between pixels alone, and other reads of
/// pixels of several lanes. `names` are of parts of the stage.
std::optional<BetweenPixels> between_pixels(
    const ir::Stage& stage, const std::unordered_map<const ir::Node*, std::string>& names = {});

}  // namespace weft::rewrite
