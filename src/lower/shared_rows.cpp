#include "lower/shared_rows.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::If;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

/// Where an index finds its pixel in the array, and whether it does; null: it always does.
struct Found {
  Expr index, inside;
};

Found find(const SharedImage& image, int d, const Expr& index, const Rows& rows) {
  const ir::Range& range = image.source.box[d];
  const std::optional<plan::BorderRule>& border = image.kept.border;
  const Expr min = rows.lower(range.min), extent = rows.lower(range.extent);
  const Expr local = kernel::sub(index, min);
  if (border && border->mode == ir::BorderMode::Constant) {
    return {local, kernel::both(kernel::binary(BinaryOp::Le, literal(0), local),
                                kernel::binary(BinaryOp::Lt, local, extent))};
  }
  // Of reads without a border, the halo of whole sectors alone may be outside; nothing reads it.
  const kernel::IndexOp op = index_op(border ? border->mode : ir::BorderMode::Clamp);
  return {kernel::index_call(op, local, extent), nullptr};
}

}  // namespace

Expr border_lane(const ir::Expr& constant, const Expr& lane, ExpressionLowering& expressions) {
  const Lanes values = expressions.lower(constant);
  Expr value = values.back();
  for (std::size_t l = values.size() - 1; l-- > 0;) {
    if (!kernel::same(values[l], value))
      value = kernel::select(kernel::binary(BinaryOp::Eq, lane, literal(static_cast<std::int64_t>(l))),
                             values[l], value);
  }
  return value;
}

Expr row_in(const plan::Kept& ring, const Expr& row) {
  return kernel::mul(kernel::binary(ir::BinaryOp::And, row, literal(ring.rows - 1)), literal(ring.pitch));
}

Expr at_kept(const plan::Kept& ring, const Expr& x) {
  return kernel::add(kernel::mul(x, literal(ring.type.lanes)), literal(ring.first));
}

For load_rows(const SharedImage& image, const Batch& batch, const Rows& rows, const Layout& layout,
              ExpressionLowering& expressions) {
  const std::string number = expressions.claim("r");
  const plan::Kept& ring = image.kept;
  const ArrayLayout& source = layout.arrays.at(&image.source);
  const int lanes = ring.type.lanes, first_pixel = (ring.first + lanes - 1) / lanes;
  // Scalars are counted from the first lane of a pixel.
  const Expr scalar = kernel::add(name("i"), literal(first_pixel * lanes - ring.first));
  const Expr pixel = kernel::add(kernel::sub(batch.x0, literal(first_pixel)),
                                 lanes > 1 ? kernel::div(scalar, literal(lanes)) : scalar);
  For columns{LoopKind::Threads, "i", literal(0), literal(ring.pitch), {}};
  expressions.open(columns.body);
  const auto named = [&](Block& block, const std::string& wanted, const Expr& value) {
    const std::string local = expressions.claim(wanted);
    block.push_back({Let{local, value}});
    return name(local, value->type);
  };
  const Found x = find(image, 0, pixel, rows);
  Expr column = kernel::mul(x.index, literal(lanes));
  Expr lane = literal(0);
  if (lanes > 1) {
    lane = kernel::binary(BinaryOp::Rem, scalar, literal(lanes));
    column = kernel::add(column, lane);
  }
  column = named(columns.body, "column", column);
  const Expr outside = x.inside ? border_lane(ring.border->constant, lane, expressions) : nullptr;
  const Expr in_columns = x.inside ? named(columns.body, "inside", x.inside) : nullptr;
  expressions.close();

  For each_row{LoopKind::Serial, number, literal(0), literal(batch.rows), {}};
  each_row.body.push_back(
      {Let{"row", kernel::add(kernel::add(batch.first, literal(ring.y().max)), name(number))}});
  const Found y = find(image, 1, name("row"), rows);
  const Expr at = kernel::add(kernel::mul(y.index, name(source.strides[0])), column);
  Expr value = kernel::load(source.name, source.type.scalar, at);
  if (outside) value = kernel::select(kernel::both(in_columns, y.inside), value, outside);
  const Expr is_reached =
      kernel::both(kernel::binary(BinaryOp::Le, kernel::add(batch.y0, literal(ring.y().min)), name("row")),
                   kernel::binary(BinaryOp::Lt, name("row"), kernel::add(batch.y1, literal(ring.y().max))));
  each_row.body.push_back(
      {If{is_reached,
          {{kernel::Store{image.array, kernel::add(row_in(ring, name("row")), name("i")), value}}},
          {}}});
  columns.body.push_back({std::move(each_row)});
  return columns;
}

}  // namespace weft::lower
