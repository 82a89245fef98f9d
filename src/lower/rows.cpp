#include "lower/rows.h"

#include <algorithm>

namespace weft::lower {

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
  for (int d = 0; d < rank(); ++d) result.push_back(layout_.variables.coordinate(d));
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

std::vector<Expr> Rows::positions_of(Expr row) const {
  std::vector<Expr> positions;
  for (int d = 1; d < rank(); ++d) {
    const bool is_last = d + 1 == rank();
    positions.push_back(is_last ? row : kernel::binary(ir::BinaryOp::Rem, row, extent(d)));
    if (!is_last) row = kernel::div(row, extent(d));
  }
  return positions;
}

kernel::Block Rows::coordinates_of(Expr row) const {
  kernel::Block block;
  int d = 1;
  for (const Expr& at : positions_of(std::move(row))) {
    block.push_back({kernel::Let{layout_.variables.coords[d], kernel::add(at, begin(d))}});
    ++d;
  }
  return block;
}

Expr Rows::row_offset(const ArrayLayout& array, const std::vector<Expr>& row) const {
  Expr offset = kernel::literal(0);
  for (int d = 1; d < rank(); ++d) {
    const Expr at = kernel::sub(row[d - 1], lower(array.box[d].min));
    offset = kernel::add(offset, kernel::mul(at, kernel::name(array.strides[d - 1])));
  }
  return offset;
}

Expr Rows::row_offset(const ArrayLayout& array) const {
  std::vector<Expr> row = coords();
  if (!row.empty()) row.erase(row.begin());
  return row_offset(array, row);
}

Expr Rows::x_offset(const Expr& x, const ArrayLayout& array) const {
  if (rank() == 0) return kernel::literal(0);
  return kernel::mul(kernel::sub(x, lower(array.box[0].min)), kernel::literal(array.type.lanes));
}

Expr Rows::offset_of(Expr row, const ArrayLayout& array) const {
  Expr offset = kernel::literal(0);
  auto stride = array.strides.begin();
  for (const Expr& at : positions_of(std::move(row)))
    offset = kernel::add(offset, kernel::mul(at, kernel::name(*stride++)));
  return offset;
}

Expr rows_outside(const analysis::Interior& interior, const Rows& rows) {
  Expr outside;
  const auto either = [&](Expr condition) {
    outside =
        outside ? kernel::binary(ir::BinaryOp::Or, outside, std::move(condition)) : std::move(condition);
  };
  const std::vector<Expr> coords = rows.coords();
  for (std::size_t d = 1; d <= interior.outer.size(); ++d) {
    const Expr& at = coords[d];
    for (const ir::Affine& bound : interior.outer[d - 1].lower)
      either(kernel::binary(ir::BinaryOp::Lt, at, rows.lower(bound)));
    for (const ir::Affine& bound : interior.outer[d - 1].upper)
      either(kernel::binary(ir::BinaryOp::Le, rows.lower(bound), at));
  }
  return outside;
}

}  // namespace weft::lower
