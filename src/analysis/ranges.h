// How far an affine form reaches over a box: interval arithmetic on symbolic sizes.
#pragma once

#include <optional>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// min and max, both attained ends included.
struct Interval {
  ir::Affine min, max;
};

/// Offsets of a loop's points in one dimension.
struct TapRange {
  int min, max;
};
TapRange tap_range(const ir::Loop& loop, int dim);

/// A range that contains every value of `form` over the points of `box` and of the loops it mentions; its
/// ends depend on sizes only. It is attained if no coordinate occurs twice.
Interval range_over(const ir::Affine& form, const ir::Box& box);
/// Likewise, over the taps alone: the ends may depend on coordinates outside of floors with taps.
Interval range_over_taps(const ir::Affine& form);

/// a - b if it is a constant.
std::optional<std::int64_t> constant_difference(const ir::Affine& a, const ir::Affine& b);

/// A number that `form`, of sizes alone, is never less than for sizes of at least 1: not always the greatest, but for
/// halved and doubled boxes, 0 for w - 2*(w/2) and w/2 - 2*(w/4). Nothing if none is found.
std::optional<std::int64_t> sure_minimum(const ir::Affine& form);
/// True only if `form`, of sizes alone, is never negative for sizes of at least 1.
bool surely_not_negative(const ir::Affine& form);

}  // namespace weft::analysis
