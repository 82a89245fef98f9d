#include "lower/line_lanes.h"

#include <algorithm>

#include "analysis/interior.h"
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

/// Of bounds at a constant distance the one that lies further in: `direction` is 1 or -1.
std::vector<ir::Affine> tightest(const std::vector<ir::Affine>& bounds, std::int64_t direction) {
  std::vector<ir::Affine> result;
  for (const ir::Affine& bound : bounds) {
    const auto alike = std::find_if(result.begin(), result.end(),
                                    [&](const ir::Affine& other) { return (bound - other).is_constant(); });
    if (alike == result.end())
      result.push_back(bound);
    else if ((bound - *alike).constant() * direction > 0)
      *alike = bound;
  }
  return result;
}

/// Where all columns that lanes compute, and those that they read besides, are of the update's first case.
Expr is_inside(const Tile& tile, const kernel::StepsInLanes& steps) {
  const kernel::VectorBody body(kernel::loop_of(steps));
  const auto [left, right] = kernel::beside(body.rows().front());
  const Expr from = kernel::sub(name(tile.from(0)), literal(round_up(steps.steps * left, body.scalars()))),
             until = kernel::add(name(tile.from(0)), literal(tile.width() + steps.steps * right));
  const ir::Range& line = tile.result().box[0];
  analysis::Bounds x{{line.min}, {line.min + line.extent}};
  if (const auto box = box_of_first_case(*tile.context().members.front())) {
    x.lower.insert(x.lower.end(), box->front().lower.begin(), box->front().lower.end());
    x.upper.insert(x.upper.end(), box->front().upper.begin(), box->front().upper.end());
  }
  Expr inside;
  for (const ir::Affine& begin : tightest(x.lower, 1))
    inside = kernel::both(inside, kernel::binary(BinaryOp::Le, tile.rows().lower(begin), from));
  for (const ir::Affine& end : tightest(x.upper, -1))
    inside = kernel::both(inside, kernel::binary(BinaryOp::Le, until, tile.rows().lower(end)));
  return inside;
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
