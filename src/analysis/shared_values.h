// Values that neighbouring pixels of a row share, as functions of a column.
//
//     f(in(2 * x - 1, y)) + f(in(2 * x, y)) + f(in(2 * x + 1, y)) + f(in(2 * x + 2, y))
//
// Each f is used by two pixels: a row of them takes half of the work. Another case is a coarse image, read at a plane that
// each pixel computes:
//
//     lerp(grid(x/8, y/8, z), grid(x/8, y/8 + 1, z), down(y))      z = v(x, y), one of 12
//
// In a row there are 12 of them for 8 pixels. A table of all has fewer, and pixels look up one value where they would
// gather two.
#pragma once

#include <optional>
#include <vector>

#include "analysis/operations.h"
#include "ir/stage_ir.h"

namespace weft::analysis {

/// A value as a function of the column of the image, as the coordinate 0, the row of the pixels that use it, and the
/// plane if it has one, as a coordinate more than they have. Where pixels use it:
struct SharedUse {
  const ir::Node* node;
  ir::Affine column;  ///< floor((scale * x + rest) / divisor); those of all uses differ by constants.
  ir::Expr plane;     ///< The nearest of `planes` counts. Null without planes.
};
struct SharedValue {
  ir::Expr value;
  std::optional<ir::Range> planes;  ///< Of constants.
  std::vector<SharedUse> uses;

  std::int64_t plane_count() const { return planes ? planes->extent.constant() : 1; }
  /// Columns along a row: `scale` for `divisor` pixels.
  ir::Scaled along() const;
};

/// The longest strip of a row that a core computes at a time. Its local arrays stay in the first-level cache; a shorter
/// one would pay more for its ends.
constexpr int strip_pixels = 1024;

/// Along a row, the columns that the pixels of a strip use. The first and the last, as functions of the strip's first and
/// last x, and how many there are at most.
struct TableColumns {
  ir::Affine first, last;
  int capacity;
};
TableColumns table_columns(const SharedValue& value, int pixels);

/// Those that cost a row less than its pixels do, and whose tables for a strip stay in the first-level cache, 32 KB of all.
std::vector<SharedValue> shared_values(const std::vector<ir::Expr>& roots, int rank);

;

/// What a pixel of a stage needs less where neighbours share those of columns; nothing of a stage of several cases.
Operations shared_operations(const ir::Stage& stage);

/// Whether two expressions have the same value at every pixel; it does not find all.
bool surely_same(const ir::Expr& a, const ir::Expr& b);

}  // namespace weft::analysis
