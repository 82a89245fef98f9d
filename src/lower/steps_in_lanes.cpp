#include "lower/steps_in_lanes.h"

#include "base/round_up.h"
#include "kernel/vector_body.h"
#include "lower/strip_pixels.h"

namespace weft::lower {

using kernel::For;
using kernel::LoopKind;

namespace {

/// The loop that one step is: of the tile's columns, from the field before to the result.
Block update_of(const Tile& tile) {
  const ir::Stage& first = *tile.context().members.front();
  const ArrayLayout& array = tile.layout().arrays.at(&tile.result());
  const kernel::Symbol column = tile.layout().names.local("column");
  ExpressionLowering expressions = tile.expressions(first, Place::Interior, {name(column), literal(0)});
  Block update, pointers;
  For loop{LoopKind::Vector, column, name(tile.from(0)), name(tile.until(0)), {}};
  expressions.open(update, &pointers);
  expressions.open(loop.body);
  const Lanes value = expressions.lower(cases_of(first)[0].value);
  loop.body.push_back({kernel::Store{array.name, tile.rows().x_offset(name(column), array), value[0]}});
  expressions.close();
  expressions.close();
  kernel::append(pointers, std::move(update));
  pointers.push_back({std::move(loop)});
  return pointers;
}

/// Where all columns that lanes compute, and those that they read besides, are of the update's first case.
Expr is_inside(const Tile& tile, const kernel::StepsInLanes& steps) {
  const kernel::VectorBody body(kernel::loop_of(steps));
  const auto [left, right] = kernel::beside(body.rows().front());
  const Expr from = kernel::sub(name(tile.from(0)), literal(round_up(steps.steps * left, body.scalars()))),
             until = kernel::add(name(tile.from(0)), literal(tile.width() + steps.steps * right));
  const Rows& rows = tile.rows();
  Expr begin = rows.begin(0), end = rows.end(0);
  if (const auto box = box_of_first_case(*tile.context().members.front())) {
    for (const ir::Affine& bound : box->front().lower) begin = kernel::max(begin, rows.lower(bound));
    for (const ir::Affine& bound : box->front().upper) end = kernel::min(end, rows.lower(bound));
  }
  return kernel::both(kernel::binary(BinaryOp::Le, begin, from), kernel::binary(BinaryOp::Le, until, end));
}

}  // namespace

Block in_lanes_or(const Tile& tile, Block passes) {
  const plan::KernelPlan& plan = tile.plan();
  if (!plan.goes_along_lanes()) return passes;
  const kernel::Names& names = tile.layout().names;
  const Scalar type = tile.result().type.scalar;
  kernel::StepsInLanes steps{update_of(tile), tile.width() * size_of(type) / kernel::vector_bytes, plan.steps,
                             names.local("taps"), kernel::mul(tile.rows().extent(0), literal(size_of(type)))};
  const kernel::Symbol in_lanes = names.local("in_lanes");
  Expr inside = is_inside(tile, steps);
  return {{kernel::IfVectors{in_lanes, std::move(inside), {{std::move(steps)}}, std::move(passes)}}};
}

}  // namespace weft::lower
