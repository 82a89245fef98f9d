#include "lower/lower_grid.h"

#include "lower/lower_packs.h"
#include "lower/lower_row_packs.h"
#include "plan/pixel_rows.h"

namespace weft::lower {

namespace {

/// What is left of a box of more than three dimensions without x and y.
Expr slices(const Rows& rows) {
  Expr count = literal(1);
  for (int d = 2; d < rows.rank(); ++d) count = kernel::mul(count, kernel::max(rows.extent(d), literal(0)));
  return count;
}

Block in_loop(LoopKind kind, const kernel::Symbol& variable, const Expr& from, const Expr& to, Block body) {
  return {{For{kind, variable, from, to, std::move(body)}}};
}

/// A thread has a pixel of each plane.
Block loops_over_planes(const Rows& rows, const std::function<void(Block&)>& body) {
  Block block;
  body(block);
  block = loop_over_planes(LoopKind::Serial, rows, std::move(block));
  block = in_loop(LoopKind::GridX, rows.coordinate(0), rows.begin(0), rows.end(0), std::move(block));
  return grid_loops_around(rows, std::move(block), true);
}

/// A thread has pixels of `count` rows. Below the last row there is none: there it computes that one again.
Block loops_over_rows(const Rows& rows, int count, const std::function<void(Block&)>& body) {
  const kernel::Names& names = rows.layout().names;
  const kernel::Symbol first = names.local("y0"), number = names.local("r");
  const Expr last = kernel::sub(rows.end(1), literal(1));
  Block block{{kernel::Let{rows.coordinate(1),
                           kernel::min(kernel::add(kernel::name(first), kernel::name(number)), last)}}};
  body(block);
  block = in_loop(LoopKind::Unrolled, number, literal(0), literal(count), std::move(block));
  For down{LoopKind::GridY, first, rows.begin(1), rows.end(1), std::move(block), literal(count)};
  return in_loop(LoopKind::GridX, rows.coordinate(0), rows.begin(0), rows.end(0), {{std::move(down)}});
}

}  // namespace

Block loop_over_planes(LoopKind kind, const Rows& rows, Block body) {
  return in_loop(kind, rows.coordinate(2), rows.begin(2), rows.end(2), std::move(body));
}

Block grid_loops(const Rows& rows, const std::function<void(Block&)>& body) {
  Block block;
  body(block);
  if (rows.rank() == 0)
    return in_loop(LoopKind::GridX, rows.coordinate(0), literal(0), literal(1), std::move(block));
  return grid_loops_around(
      rows, in_loop(LoopKind::GridX, rows.coordinate(0), rows.begin(0), rows.end(0), std::move(block)));
}

Block grid_loops_around(const Rows& rows, Block block, bool has_planes) {
  const int rank = has_planes ? 2 : rows.rank();
  if (rank >= 2)
    block = in_loop(LoopKind::GridY, rows.coordinate(1), rows.begin(1), rows.end(1), std::move(block));
  if (rank == 3)
    return in_loop(LoopKind::GridZ, rows.coordinate(2), rows.begin(2), rows.end(2), std::move(block));
  if (rank > 3) {
    Block slice;
    const kernel::Symbol number = rows.layout().names.local("slice");
    Expr rest = kernel::name(number);
    for (int d = 2; d < rank; ++d) {
      const bool is_last = d + 1 == rank;
      const Expr at = is_last ? rest : kernel::binary(ir::BinaryOp::Rem, rest, rows.extent(d));
      slice.push_back({kernel::Let{rows.coordinate(d), kernel::add(at, rows.begin(d))}});
      rest = kernel::div(rest, rows.extent(d));
    }
    kernel::append(slice, std::move(block));
    block = in_loop(LoopKind::GridZ, number, literal(0), slices(rows), std::move(slice));
  }
  return block;
}

kernel::Grid grid_over(const Rows& rows, int pixels_per_thread, int before) {
  const Expr one = literal(1);
  const Expr width = parts(kernel::add(rows.width(), literal(before)), literal(pixels_per_thread));
  if (rows.rank() < 2) return {{width, one, one}};
  return {{width, rows.extent(1), slices(rows)}};
}

kernel::Grid grid_of_blocks(const Expr& blocks, int items) {
  return {{blocks, literal(1), literal(1)}, {1, 1, 1}, kernel::Sharing::Work, items};
}

void store_pixel_of(const KernelContext& context, const ir::Stage& stage, const Rows& rows, Block& block) {
  const ArrayLayout& array = context.layout.arrays.at(&stage);
  ExpressionLowering expressions(context, stage, Place::Thread, rows.coords());
  const Expr offset = rows.rank() == 0
                          ? literal(0)
                          : kernel::add(rows.row_offset(array), rows.x_offset(rows.coords()[0], array));
  store_pixel(expressions, block, std::get<ir::Pure>(stage.definition).cases, array.name, offset);
}

kernel::Launch lower_grid(const KernelContext& context) {
  const ir::Stage& stage = context.stage();
  if (context.plan.level(plan::LevelKind::Lane))
    return plan::pixel_rows(stage).may_leave() ? lower_row_packs(context) : lower_packs(context);
  Layout& layout = context.layout;
  const ArrayLayout& array = layout.arrays.at(&stage);
  const Rows rows(stage.box, layout);
  kernel::Function function{layout.names.claim(array.name.spelling() + "_kernel"),
                            comment_on(stage, "'" + stage.name + "'"),
                            {},
                            {}};
  const auto pixel = [&](Block& block) { store_pixel_of(context, stage, rows, block); };
  const bool has_planes = context.plan.has_planes_of_threads();
  const int count = context.plan.rows_of_threads();
  function.body = has_planes  ? loops_over_planes(rows, pixel)
                  : count > 1 ? loops_over_rows(rows, count, pixel)
                              : grid_loops(rows, pixel);
  kernel::Launch launch{function.name, literal(1), grid_over(rows)};
  if (has_planes) launch.grid->threads[2] = literal(1);
  if (count > 1) launch.grid->threads[1] = parts(rows.extent(1), literal(count));
  if (context.plan.shares_rows) launch.grid->sharing = kernel::Sharing::Rows;
  context.module.functions.push_back(std::move(function));
  return launch;
}

}  // namespace weft::lower
