// Rows of pixels whose lanes are treated alike, as rows of scalars.
//
//     blur(x, y) = (in(x - 1, y) + in(x + 1, y)) / 2        of three lanes each
//  →  blur(f, y) = (in(f - 3, y) + in(f + 3, y)) / 2        f = 3 * x + lane
//
// Vectors of neighbouring scalars need no shuffling of interleaved lanes.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "ir/stage_ir.h"

namespace weft::rewrite {

struct FlatLanes {
  /// Of one lane, over a box that is wider by the number of lanes. Right where every read is inside its
  /// source along x: borders along x are those of the scalars' rows.
  ir::Stage stage;
  /// The stages that it reads in place of the original's sources: the same memory, scalar by scalar.
  std::unordered_map<const ir::Stage*, ir::StagePtr> views;
};

/// Nothing unless the stage has several lanes, every lane is the same function of the same lane of its
/// sources, and the windows move along x as the pixel does.
std::optional<FlatLanes> flat_lanes(const ir::Stage& stage);

/// Whether a stage reads something through its border along x, whose pixels flat lanes would not find:
/// nothing that is kept, as its rows have the border, and nothing that surely stays inside.
bool borders_find_pixels(const ir::Stage& stage, const std::function<bool(const ir::Stage&)>& is_kept);

}  // namespace weft::rewrite
