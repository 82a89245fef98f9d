#include "lower/rows.h"

#include <algorithm>

namespace weft::lower {

using kernel::Expr;

namespace {

/// What an update leaves of a field may be less than nothing; other boxes are never.
bool may_be_negative(const ir::Affine& extent) {
  if (extent.constant() < 0) return true;
  return std::any_of(extent.terms().begin(), extent.terms().end(),
                     [](const auto& t) { return t.factor < 0; });
}

}  // namespace

std::vector<Expr> Rows::coords() const {
  std::vector<Expr> result;
  for (int d = 0; d < rank(); ++d) result.push_back(kernel::name(ir::dim_name(d)));
  return result;
}

Expr Rows::count() const {
  Expr count = kernel::literal(1);
  for (int d = 1; d < rank(); ++d) {
    const bool clamp = rank() > 2 && may_be_negative(box_[d].extent);  // two negative extents would make rows
    count = kernel::mul(count, clamp ? kernel::max(extent(d), kernel::literal(0)) : extent(d));
  }
  return count;
}

kernel::Block Rows::coordinates_of(Expr row) const {
  kernel::Block block;
  for (int d = 1; d < rank(); ++d) {
    const bool is_last = d + 1 == rank();
    const Expr at = is_last ? row : kernel::binary(ir::BinaryOp::Rem, row, extent(d));
    block.push_back({kernel::Let{ir::dim_name(d), kernel::add(at, begin(d))}});
    if (!is_last) row = kernel::binary(ir::BinaryOp::Div, row, extent(d));
  }
  return block;
}

Expr Rows::offset_of(Expr row, const ArrayLayout& array) const {
  Expr offset = kernel::literal(0);
  for (int d = 1; d < rank(); ++d) {
    const bool is_last = d + 1 == rank();
    const Expr at = is_last ? row : kernel::binary(ir::BinaryOp::Rem, row, extent(d));
    offset = kernel::add(offset, kernel::mul(at, kernel::name(array.strides[d - 1])));
    if (!is_last) row = kernel::binary(ir::BinaryOp::Div, row, extent(d));
  }
  return offset;
}

}  // namespace weft::lower
