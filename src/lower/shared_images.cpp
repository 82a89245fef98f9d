#include "lower/shared_images.h"

#include "plan/march.h"

namespace weft::lower {

FoundPixel find_pixel(const Tile::Source& image, int d, const Expr& index, const Rows& rows) {
  // Of reads without a border, the halo of whole sectors alone may be outside; nothing reads it.
  const std::optional<plan::BorderRule>& border = image.kept.border;
  const ir::Range& range = image.stage.box[d];
  return find_pixel(border ? border->mode : ir::BorderMode::Clamp, kernel::sub(index, rows.lower(range.min)),
                    rows.lower(range.extent));
}

For load_rows(const Tile& tile, const Tile::Source& image, bool is_inside) {
  const plan::Kept& kept = image.kept;
  const Rows& rows = tile.rows();
  const ArrayLayout& memory = tile.layout().arrays.at(&image.stage);
  ExpressionLowering expressions = tile.expressions(tile.result(), Place::Thread, rows.coords());
  const kernel::Symbol number = expressions.claim("r");
  const int lanes = image.lanes(), first_pixel = (kept.first + lanes - 1) / lanes;
  // Scalars are counted from the first lane of a pixel.
  const Expr scalar = kernel::add(name(expressions.i()), literal(first_pixel * lanes - kept.first));
  const Expr pixel = kernel::add(kernel::sub(tile.begin(kept.rate[0]), literal(first_pixel)),
                                 lanes > 1 ? kernel::div(scalar, literal(lanes)) : scalar);
  For columns{LoopKind::Threads, expressions.i(), literal(0), literal(kept.pitch), {}};
  expressions.open(columns.body);
  const auto named = [&](Block& block, const std::string& wanted, const Expr& value) {
    const kernel::Symbol local = expressions.claim(wanted);
    block.push_back({Let{local, value}});
    return name(local, value->type);
  };
  const auto find = [&](int d, const Expr& index) -> FoundPixel {
    if (is_inside) return {kernel::sub(index, rows.lower(image.stage.box[d].min)), nullptr};
    return find_pixel(image, d, index, rows);
  };
  const FoundPixel x = find(0, pixel);
  Expr column = kernel::mul(x.index, literal(lanes));
  Expr lane = literal(0);
  if (lanes > 1) {
    lane = kernel::binary(BinaryOp::Rem, scalar, literal(lanes));
    column = kernel::add(column, lane);
  }
  column = named(columns.body, "column", column);
  const Expr outside = x.inside ? border_lane(kept.border->constant, lane, expressions) : nullptr;
  const Expr in_columns = x.inside ? named(columns.body, "inside", x.inside) : nullptr;
  expressions.close();

  // So many in any batch: their loads are under way together.
  const int count = tile.is_static() ? tile.rows_needed(&kept)
                                     : plan::at_rate(tile.batch(), tile.plan().step[1], kept.rate[1]);
  For each_row{LoopKind::Serial, number, literal(0), literal(count), {}};
  const Expr first = tile.is_static()
                         ? tile.first_row(kept)
                         : kernel::add(tile.row_at(tile.batch_row(), kept.rate[1]), literal(kept.ahead));
  const std::vector<Expr> coords = tile.row_coords(&kept);
  const Expr& down = coords.back();
  each_row.body.push_back({Let{std::get<kernel::Name>(down->op).name, kernel::add(first, name(number))}});
  Expr at = column, inside = in_columns;
  for (std::size_t d = 1; d <= coords.size(); ++d) {
    const FoundPixel found = find(static_cast<int>(d), coords[d - 1]);
    at = kernel::add(kernel::mul(found.index, name(memory.strides[d - 1])), at);
    inside = kernel::both(inside, found.inside);
  }
  Expr value = kernel::load(memory.name, memory.type.scalar, at);
  if (outside) value = kernel::select(inside, value, outside);
  Block load{
      {kernel::Store{image.array, kernel::add(tile.row_start(kept, coords), name(expressions.i())), value}}};
  if (tile.is_of_volume())
    load = {{For{LoopKind::Serial, std::get<kernel::Name>(coords.front()->op).name, tile.first_line(kept),
                 is_inside ? kernel::add(tile.first_line(kept), literal(kept.lines)) : tile.end_line(kept),
                 std::move(load)}}};
  if (is_inside) {
    kernel::append(each_row.body, std::move(load));
    columns.body.push_back({std::move(each_row)});
    return columns;
  }
  Expr is_needed = kernel::binary(BinaryOp::Lt, down, tile.end_row(kept));
  if (!tile.is_static())
    is_needed = kernel::both(kernel::binary(BinaryOp::Le, tile.first_row(kept), down), is_needed);
  each_row.body.push_back({If{is_needed, std::move(load), {}}});
  columns.body.push_back({std::move(each_row)});
  return columns;
}

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

}  // namespace weft::lower
