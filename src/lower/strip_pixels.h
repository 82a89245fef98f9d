// The pixels of a strip: some neighbours of one row, which lie in local arrays between the loops that compute
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/interior.h"
#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "lower/expressions.h"

namespace weft::lower {

struct Strip {
  kernel::Expr x0, count;  ///< The first pixel and their number, at most `capacity`.
  int capacity;
};

/// What is stored for the pixels of a strip.
struct StripTarget {
  const ir::Stage* stage;
  kernel::Symbol array;
  kernel::Expr offset;          ///< The first scalar of the pixel number `i`.
  std::int64_t lane_pitch = 1;  ///< See pixel_pitch().
};

/// Whether several lanes are made from the exp, say, of one value. Compilers that see the stores of a pixel
/// side by side make vectors across its lanes, and the exp once for each.
bool lanes_share_a_function(const ir::Stage& stage);

const std::vector<ir::Case>& cases_of(const ir::Stage& stage);

/// Whether a loop over pixels is all that a stage of one case takes: no others come before or after it.
bool is_one_loop(ExpressionLowering& expressions, const ir::Stage& stage);

/// Appends to `pointers` the rows that are read, and to `work` loops over the strip: those of folds too large
/// to unroll, the loop over the taps outside the loop over pixels; then those that store. Stages that are
/// lowered together have one value each, of one lane.
void store_strip(ExpressionLowering& expressions, const std::vector<StripTarget>& targets, const Strip& strip,
                 kernel::Block& pointers, kernel::Block& work);

/// Pixels of a row: the variable that numbers them, from its value to another, and the coordinate at which it
/// is 0.
struct PixelRange {
  kernel::Symbol variable;
  kernel::Expr from, until, origin;
};

/// Of a stage with two cases: where the first holds, if that is in a box.
std::optional<std::vector<analysis::Bounds>> box_of_first_case(const ir::Stage& stage);
/// Those two as one value: no ways that part for each pixel.
std::vector<ir::Case> as_one_case(const std::vector<ir::Case>& cases);
/// Whether, along a dimension, `count` coordinates from the current one on lie in the box; null if all do.
kernel::Expr inside_along(std::size_t dimension, const ExpressionLowering& expressions,
                          const std::vector<analysis::Bounds>& box, int count = 1);
/// The pixels of a range whose columns lie in the box: none unless `in_rows`, if that is not null.
struct ColumnsInBox {
  kernel::Expr first, end;  ///< Names, which `work` defines.
};
ColumnsInBox columns_in_box(ExpressionLowering& expressions, const std::vector<analysis::Bounds>& box,
                            const PixelRange& pixels, const kernel::Expr& in_rows, kernel::Block& work);

/// Appends loops that store the pixels of a stage, several where the first of two cases holds in a box.
void store_pixels(ExpressionLowering& expressions, const StripTarget& target, const PixelRange& pixels,
                  kernel::Block& work);

}  // namespace weft::lower
