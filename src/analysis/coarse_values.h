// Values that neighbouring pixels of a row share: of a coarse image, at a plane that each pixel computes.
//
//     lerp(grid(x/8, y/8, z), grid(x/8, y/8 + 1, z), down(y))      z = v(x, y), one of 12
//
// In a row there are 12 of them for 8 pixels. A table of all has fewer, and pixels look up one value where they would
// gather two.
#pragma once

#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// A value as a function of the column of the image, as the coordinate 0, the row of the pixels that use it, and the
/// plane, as a coordinate more than they have. Where pixels use it:
struct CoarseUse {
  const ir::Node* node;
  ir::Affine column;  ///< floor((scale * x + rest) / divisor); those of all uses differ by constants.
  ir::Expr plane;     ///< The nearest of `planes` counts.
};
struct CoarseValue {
  ir::Expr value;
  ir::Range planes;  ///< Of constants.
  std::vector<CoarseUse> uses;

  std::int64_t plane_count() const { return planes.extent.constant(); }
};

/// Those of which a row needs fewer than its pixels use.
std::vector<CoarseValue> coarse_values(const std::vector<ir::Expr>& roots, int rank);

/// Whether two expressions have the same value at every pixel; it does not find all.
bool surely_same(const ir::Expr& a, const ir::Expr& b);

}  // namespace weft::analysis
