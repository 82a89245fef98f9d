// Where a stage's reads need no border: the part of its box that a branch-free loop may compute.
#pragma once

#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// How the vector loop along x treats a read.
enum class Access {
  Direct,  ///< Inside the interior its index along x is inside the source; the indices beyond x do not depend
           ///< on x.
  Mapped,  ///< Every index goes through its border at every pixel (gathers, transposed and mirrored reads).
};

/// Coordinates of dimension `dim` at which some reads stay inside: at least every `lower`, below every
/// `upper`.
struct Bounds {
  std::vector<ir::Affine> lower, upper;
};

struct Interior {
  Bounds x;                   ///< Of all direct reads with a border.
  std::vector<Bounds> outer;  ///< Per dimension from 1: of direct reads with a constant border.

  bool is_everything() const;  ///< No direct read needs its border anywhere.
};

Access access_of(const ir::Read& read);
/// The read is source(x + stride * t.x, y + t.y, …), t the loop's tap.
bool is_at_tap(const ir::Read& read, const ir::Loop& loop, std::int64_t stride = 1);
Interior interior_of(const ir::Stage& stage);

/// The border that reads beside a pixel meet at the ends of a row, if it is the same for all, in sources with the columns of the
/// stage. Null if they meet none, or several.
const ir::Border* border_of_rows(const ir::Stage& stage);

/// Whether an index is inside a range at every point of a box: its border is never needed.
bool stays_inside(const ir::Affine& index, const ir::Range& range, const ir::Box& domain);

/// `a` with every tap at the end of its range that makes the form smallest (or largest).
ir::Affine at_extreme_tap(const ir::Affine& a, bool largest);

}  // namespace weft::analysis
