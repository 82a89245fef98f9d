// Tables of values that the pixels of a strip share (analysis/shared_values.h), made before the loop over its pixels:
//
//     for (z of 12) for (i of the columns)  coarse[z * 264 + i * 2] = …         in vectors, from neighbours in memory
//     for (i of the pixels)                 … coarse[z(i) * 264 + ((x0 + i)/8 - first) * 2] …
//
// Where 8 pixels or more have one column, what they look up is picked before their loop (kernel::PickPlanes).
//
//     for (i of the columns)  shared[i] = f(in[first + i])
//     for (i of the pixels)   … shared[2 * i] + shared[2 * i + 1] …
#include <algorithm>
#include <bit>

#include "analysis/ranges.h"
#include "analysis/shared_values.h"
#include "ir/visit.h"
#include "lower/expressions.h"

namespace weft::lower {

namespace {

/// Of tables with so few planes, and as many pixels for a column, vectors are permuted instead of gathered from.
bool are_picked(const analysis::SharedValue& value) {
  if (!value.planes || value.plane_count() > kernel::PickPlanes::most_planes ||
      value.value->type.scalar != Scalar::F32)
    return false;
  const ir::Scaled along = value.along();
  return along.scale == 1 && along.divisor >= 1 << kernel::PickPlanes::least_shift &&
         std::has_single_bit(static_cast<std::uint64_t>(along.divisor));
}

/// To a pick that goes on with this lane, or to a new one.
void add_pick(std::vector<kernel::PickPlanes::Pick>& picks, const kernel::Symbol& places, std::int64_t lane,
              const kernel::Symbol& to) {
  for (kernel::PickPlanes::Pick& pick : picks) {
    if (pick.places == places && pick.lane + static_cast<std::int64_t>(pick.to.size()) == lane)
      return pick.to.push_back(to);
  }
  picks.push_back({places, lane, {to}});
}

}  // namespace

std::vector<analysis::SharedValue> ExpressionLowering::strip_shared_values(
    const std::vector<ir::Expr>& roots) const {
  if (!is_in_vector_loop() || stage_.rank() < 2) return {};
  std::vector<analysis::SharedValue> values = analysis::shared_values(roots, stage_.rank());
  if (place_ != Place::Interior)
    std::erase_if(values, [](const analysis::SharedValue& v) { return v.planes.has_value(); });
  return values;
}

void ExpressionLowering::tabulate(const analysis::SharedValue& value, kernel::Block& block, const Expr& x0,
                                  const Expr& count, int capacity) {
  const analysis::TableColumns columns = analysis::table_columns(value, capacity);
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

  // The values are those of an image of its own: the columns that the row needs, and the planes. Pixels of the interior
  // need columns of theirs alone, unless these are coarse.
  ir::Stage image{"shared", value.value->type, stage_.domain(), ir::Pure{{{nullptr, value.value}}},
                  stage_.where};
  const analysis::Interval low = analysis::range_over(columns.first, stage_.domain());
  const analysis::Interval high = analysis::range_over(columns.last, stage_.domain());
  image.box[0] = {low.min, high.max - low.min + 1};
  std::vector<Expr> coords = coords_;
  coords[0] = kernel::add(kernel::name(first), kernel::name(i()));
  const kernel::Symbol& plane = layout_.variables.coords.at(stage_.rank());
  if (value.planes) {
    image.box.push_back(*value.planes);
    coords.push_back(kernel::name(plane));
  }
  ExpressionLowering table(kernel_, image, value.planes ? Place::Row : place_, std::move(coords), &names_);
  table.avoid_names_of(*this);
  if (!kept_rows_.empty()) {  // from where their pixels are counted
    const ir::Affine distance = columns.first - ir::Affine(ir::Atom(ir::Coord{0}));
    if (ir::mentions_coord(distance, 0))
      table.keep_rows(kept_rows_, kernel::name(first));
    else
      table.keep_rows(kept_rows_, left_, kernel::add(i_, lower(distance)));
  }
  const kernel::Symbol array = table.claim(value.planes ? "coarse" : "shared");
  const std::int64_t from = value.planes ? value.planes->min.constant() : 0, planes = value.plane_count();
  kernel::For each_column{
      kernel::LoopKind::Vector, i(), literal(0), kernel::sub(kernel::name(end), kernel::name(first)), {}};
  kernel::Block pointers, rows;
  table.open(rows, &pointers);
  table.open(each_column.body);
  const Lanes made = table.lower(value.value);
  const Expr row = value.planes ? kernel::mul(kernel::sub(kernel::name(plane), literal(from)), literal(pitch))
                                : literal(0);
  for (int l = 0; l < lanes; ++l) {
    const Expr place =
        kernel::add(kernel::add(row, kernel::mul(kernel::name(i()), literal(lanes))), literal(l));
    each_column.body.push_back({kernel::Store{array, place, made[l]}});
  }
  table.close();
  table.close();
  avoid_names_of(table);
  const bool is_picked = are_picked(value);
  const std::int64_t beyond = is_picked ? 16 : 0;  // what vectors read
  block.push_back({kernel::LocalArray{array, made[0]->type, static_cast<int>(pitch * planes + beyond)}});
  kernel::append(pointers, std::move(rows));
  pointers.push_back({std::move(each_column)});
  if (value.planes) {
    block.push_back({kernel::For{kernel::LoopKind::Serial, plane, literal(from), literal(from + planes),
                                 std::move(pointers)}});
  } else {
    kernel::append(block, std::move(pointers));
  }
  for (const analysis::SharedUse& use : value.uses) {
    RowTable& row_table = row_tables_[use.node];
    row_table = {array, made[0]->type, lanes,         pitch,     first,
                 end,   use.column,    columns.first, use.plane, value.planes};
  }
  if (is_picked) pick_planes(value, block, x0, count, capacity);
}

void ExpressionLowering::pick_planes(const analysis::SharedValue& value, kernel::Block& block, const Expr& x0,
                                     const Expr& count, int capacity) {
  std::vector<std::pair<ir::Expr, kernel::Symbol>> found;  // where the numbers of planes are
  const auto places_of = [&](const ir::Expr& plane) {
    return std::find_if(found.begin(), found.end(),
                        [&](const auto& known) { return analysis::surely_same(known.first, plane); });
  };
  kernel::For find{kernel::LoopKind::Vector, i(), literal(0), count, {}};
  open(find.body);
  for (const analysis::SharedUse& use : value.uses) {
    if (places_of(use.plane) != found.end()) continue;
    const kernel::Symbol& places = found.emplace_back(use.plane, locals_.claim("plane_of")).second;
    const Expr plane = plane_in(row_tables_.at(use.node));
    block.push_back({kernel::LocalArray{places, Scalar::I32, capacity}});
    emit({kernel::Store{places, i_, kernel::cast(ir::CastMode::Convert, Scalar::I32, plane)}});
  }
  close();
  block.push_back({std::move(find)});

  const RowTable& table = row_tables_.at(value.uses[0].node);
  ir::Scaled column;
  ir::as_scaled(table.column, 0, &column);
  const Expr first_pixel = kernel::mul(kernel::name(table.first), literal(column.divisor));
  const kernel::Symbol start = locals_.claim("first_phase"), upright = locals_.claim("upright");
  block.push_back({kernel::Let{start, kernel::sub(kernel::add(x0, lower(column.rest)), first_pixel)}});
  block.push_back({kernel::LocalArray{upright, table.type, static_cast<int>(16 * table.pitch + 256)}});
  const Expr columns = kernel::sub(kernel::name(table.end), kernel::name(table.first));
  kernel::PickPlanes picks{table.array,
                           upright,
                           value.plane_count(),
                           table.pitch,
                           kernel::mul(columns, literal(table.lanes)),
                           kernel::name(start),
                           std::countr_zero(static_cast<std::uint64_t>(column.divisor)),
                           table.lanes,
                           {},
                           count};
  for (const analysis::SharedUse& use : value.uses) {
    RowTable& of_use = row_tables_.at(use.node);
    const std::int64_t distance = *analysis::constant_difference(use.column, table.column);
    for (int l = 0; l < table.lanes; ++l) {
      const kernel::Symbol& picked = of_use.picked.emplace_back(locals_.claim("picked"));
      block.push_back({kernel::LocalArray{picked, table.type, capacity}});
      add_pick(picks.picks, places_of(use.plane)->second, distance * table.lanes + l, picked);
    }
  }
  block.push_back({std::move(picks)});
}

Expr ExpressionLowering::plane_in(const RowTable& table) {
  return kernel::index_call(kernel::IndexOp::Clamp,
                            kernel::sub(lower(table.plane)[0], lower(table.planes->min)),
                            lower(table.planes->extent));
}

Lanes ExpressionLowering::look_up(const RowTable& table) {
  Lanes lanes;
  const auto load = [&](const Expr& place) { lanes.push_back(kernel::load(table.array, table.type, place)); };
  if (!table.picked.empty()) {
    for (const kernel::Symbol& picked : table.picked) lanes.push_back(kernel::load(picked, table.type, i_));
    return lanes;
  }
  if (!table.planes) {
    ir::Scaled scaled;
    ir::as_scaled(table.column, 0, &scaled);
    const std::int64_t distance = *analysis::constant_difference(table.column, table.first_column);
    const Expr pixel = kernel::add(kernel::mul(i_, literal(scaled.scale)), literal(distance));
    for (int l = 0; l < table.lanes; ++l)
      load(kernel::add(kernel::mul(pixel, literal(table.lanes)), literal(l)));
    return lanes;
  }
  const auto small = [](const Expr& e) { return kernel::cast(ir::CastMode::Convert, Scalar::I32, e); };
  const auto constant = [](std::int64_t v) { return kernel::constant(Scalar::I32, {.i = v}); };
  const Expr plane = plane_in(table);
  const Expr column = kernel::sub(lower(table.column), kernel::name(table.first));
  const Expr place = kernel::binary(ir::BinaryOp::Add,
                                    kernel::binary(ir::BinaryOp::Mul, small(plane), constant(table.pitch)),
                                    kernel::binary(ir::BinaryOp::Mul, small(column), constant(table.lanes)));
  for (int l = 0; l < table.lanes; ++l) {
    const Expr scalar = l == 0 ? place : kernel::binary(ir::BinaryOp::Add, place, constant(l));
    load(kernel::cast(ir::CastMode::Convert, Scalar::I64, scalar));
  }
  return lanes;
}

}  // namespace weft::lower
