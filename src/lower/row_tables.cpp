// Tables of values that the pixels of a strip share (analysis/coarse_values.h), made before the loop over its pixels:
//
//     for (z of 12) for (i of the columns)  coarse[z * 264 + i * 2] = …         in vectors, from neighbours in memory
//     for (i of the pixels)                 … coarse[z(i) * 264 + ((x0 + i)/8 - first) * 2] …
#include <algorithm>

#include "analysis/coarse_values.h"
#include "analysis/ranges.h"
#include "ir/visit.h"
#include "lower/expressions.h"

namespace weft::lower {

using kernel::Expr;
using kernel::literal;

namespace {

constexpr std::int64_t most_bytes = 32768;  // of all tables, which are to stay in the first-level cache

struct TableColumns {
  ir::Affine first, last;  ///< Functions of x.
  int capacity;            ///< For so many pixels.
};

TableColumns table_columns(const analysis::CoarseValue& value, int pixels) {
  std::int64_t low = 0, high = 0;  // from the first use's
  const ir::Affine& column = value.uses[0].column;
  for (const analysis::CoarseUse& use : value.uses) {
    const std::int64_t distance = *analysis::constant_difference(use.column, column);
    low = std::min(low, distance), high = std::max(high, distance);
  }
  ir::Scaled scaled;
  ir::as_scaled(column, 0, &scaled);
  const std::int64_t steps = (pixels - 1) * scaled.scale / scaled.divisor + 1;
  return {column + low, column + high, static_cast<int>(steps + high - low + 1)};
}

}  // namespace

std::vector<analysis::CoarseValue> ExpressionLowering::strip_coarse_values(const std::vector<ir::Expr>& roots,
                                                                           int capacity) const {
  if (place_ != Place::Interior || stage_.rank() < 2) return {};
  std::vector<analysis::CoarseValue> values = analysis::coarse_values(roots, stage_.rank());
  std::int64_t bytes = 0;
  std::erase_if(values, [&](const analysis::CoarseValue& v) {
    const std::int64_t more =
        v.plane_count() * table_columns(v, capacity).capacity * std::int64_t{size_of(v.value->type)};
    if (bytes + more > most_bytes) return true;
    bytes += more;
    return false;
  });
  return values;
}

void ExpressionLowering::tabulate(const analysis::CoarseValue& value, kernel::Block& block, const Expr& x0,
                                  const Expr& count, int capacity) {
  const TableColumns columns = table_columns(value, capacity);
  const int lanes = value.value->type.lanes;
  const std::int64_t pitch = std::int64_t{columns.capacity} * lanes;
  const auto at = [&](const ir::Affine& form, const Expr& x) {
    std::vector<Expr> coords = coords_;
    coords[0] = x;
    return lower_affine(form, layout_, coords, taps_);
  };
  const kernel::Symbol first = locals_.claim("first_column"), end = locals_.claim("end_column");
  const Expr last_x = kernel::sub(kernel::add(x0, count), literal(1));
  block.push_back({kernel::Let{first, at(columns.first, x0)}});
  block.push_back({kernel::Let{end, kernel::add(at(columns.last, last_x), literal(1))}});

  // The values are those of an image of its own: the columns that the row needs, and the planes.
  ir::Stage image{"coarse", value.value->type, stage_.domain(), ir::Pure{{{nullptr, value.value}}},
                  stage_.where};
  const analysis::Interval low = analysis::range_over(columns.first, stage_.domain());
  const analysis::Interval high = analysis::range_over(columns.last, stage_.domain());
  image.box[0] = {low.min, high.max - low.min + 1};
  image.box.push_back(value.planes);
  std::vector<Expr> coords = coords_;
  coords[0] = kernel::add(kernel::name(first), kernel::name(i()));
  const kernel::Symbol& plane = layout_.variables.coords.at(stage_.rank());
  coords.push_back(kernel::name(plane));
  ExpressionLowering table(layout_, tables_, names_, image, Place::Row, std::move(coords), strict_);
  table.avoid_names_of(*this);
  const kernel::Symbol array = table.claim("coarse");
  const std::int64_t from = value.planes.min.constant(), planes = value.plane_count();
  kernel::For each_plane{kernel::LoopKind::Serial, plane, literal(from), literal(from + planes), {}};
  kernel::For each_column{
      kernel::LoopKind::Vector, i(), literal(0), kernel::sub(kernel::name(end), kernel::name(first)), {}};
  kernel::Block pointers;
  table.open(pointers, &each_plane.body);
  table.open(each_column.body);
  const Lanes made = table.lower(value.value);
  for (int l = 0; l < lanes; ++l) {
    const Expr row = kernel::mul(kernel::sub(kernel::name(plane), literal(from)), literal(pitch));
    const Expr place =
        kernel::add(kernel::add(row, kernel::mul(kernel::name(i()), literal(lanes))), literal(l));
    each_column.body.push_back({kernel::Store{array, place, made[l]}});
  }
  table.close();
  table.close();
  avoid_names_of(table);
  kernel::append(each_plane.body, std::move(pointers));
  each_plane.body.push_back({std::move(each_column)});
  block.push_back({kernel::LocalArray{array, made[0]->type, static_cast<int>(pitch * planes)}});
  block.push_back({std::move(each_plane)});
  for (const analysis::CoarseUse& use : value.uses)
    row_tables_[use.node] = {array, made[0]->type, lanes, pitch, first, use.column, use.plane, value.planes};
}

Lanes ExpressionLowering::look_up(const RowTable& table) {
  const auto small = [](const Expr& e) { return kernel::cast(ir::CastMode::Convert, Scalar::I32, e); };
  const auto constant = [](std::int64_t v) { return kernel::constant(Scalar::I32, {.i = v}); };
  const Expr from = lower(table.planes.min);
  const Expr plane = kernel::index_call(kernel::IndexOp::Clamp, kernel::sub(lower(table.plane)[0], from),
                                        lower(table.planes.extent));
  const Expr column = kernel::sub(lower(table.column), kernel::name(table.first));
  const Expr place = kernel::binary(ir::BinaryOp::Add,
                                    kernel::binary(ir::BinaryOp::Mul, small(plane), constant(table.pitch)),
                                    kernel::binary(ir::BinaryOp::Mul, small(column), constant(table.lanes)));
  Lanes lanes;
  for (int l = 0; l < table.lanes; ++l) {
    const Expr scalar = l == 0 ? place : kernel::binary(ir::BinaryOp::Add, place, constant(l));
    lanes.push_back(
        kernel::load(table.array, table.type, kernel::cast(ir::CastMode::Convert, Scalar::I64, scalar)));
  }
  return lanes;
}

}  // namespace weft::lower
