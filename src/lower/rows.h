// A box as rows along x: what all loops over boxes have in common.
#pragma once

#include <vector>

#include "analysis/interior.h"
#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "lower/layout.h"

namespace weft::lower {

using kernel::parts;

class Rows {
 public:
  Rows(const ir::Box& box, const Layout& layout) : box_(box), layout_(layout) {}

  int rank() const { return static_cast<int>(box_.size()); }
  /// The coordinates: x, y, z, …
  std::vector<kernel::Expr> coords() const;
  const kernel::Symbol& coordinate(int d) const { return layout_.variables.coords.at(d); }
  kernel::Expr begin(int d) const { return lower(box_[d].min); }
  kernel::Expr extent(int d) const { return lower(box_[d].extent); }
  kernel::Expr end(int d) const { return lower(box_[d].min + box_[d].extent); }

  /// The number of rows: 1 of a box of rank 0 or 1. Negative extents count as 0.
  kernel::Expr count() const;
  /// Extents along x: 1 of a box of rank 0.
  kernel::Expr width() const { return rank() == 0 ? kernel::literal(1) : extent(0); }
  /// Statements that define y, z, … of the row numbered `row`.
  kernel::Block coordinates_of(kernel::Expr row) const;

  /// Scalars from the start of an array, whose box may be larger, to the row at those coordinates, from y on, or at the
  /// current ones; and from there to a pixel.
  kernel::Expr row_offset(const ArrayLayout& array, const std::vector<kernel::Expr>& row) const;
  kernel::Expr row_offset(const ArrayLayout& array) const;
  kernel::Expr x_offset(const kernel::Expr& x, const ArrayLayout& array) const;
  /// Scalars from the start of an array over this box to its row numbered `row`.
  kernel::Expr offset_of(kernel::Expr row, const ArrayLayout& array) const;

  const Layout& layout() const { return layout_; }
  kernel::Expr lower(const ir::Affine& a) const { return lower_affine(a, layout_, coords(), {}); }

 private:
  /// Where a row lies in the box: its distances from begin(1), begin(2), …
  std::vector<kernel::Expr> positions_of(kernel::Expr row) const;

  const ir::Box& box_;
  const Layout& layout_;
};

/// True in those rows of a box where some read with a constant border leaves its source; null if there are none.
kernel::Expr rows_outside(const analysis::Interior& interior, const Rows& rows);

}  // namespace weft::lower
