// The windows of local operators: unrolled, looped over, or strip by strip. The rest of ExpressionLowering is
// in expressions.cpp.
#include <algorithm>
#include <functional>

#include "analysis/median_network.h"
#include "ir/visit.h"
#include "ir/window.h"
#include "lower/expressions.h"
#include "plan/window_code.h"

namespace weft::lower {

namespace {

const char* const tap_names[] = {"tx", "ty", "tz", "tw"};

/// How a thread goes along dimension `d` of a window: its rows stay a loop, the taps of a row are unrolled. nvcc would unroll
/// all, or some taps at a time with an address each. bilateral, two pixels a thread, waited most of the time for its 48 KB of
/// instructions (bench/results/2026-11-26-h100.md).
LoopKind kind_of_rows(int d, const std::vector<int>& extent) {
  constexpr int most_unrolled = 16;
  if (d + 1 == static_cast<int>(extent.size())) return LoopKind::Rolled;
  return d == 0 && extent[0] <= most_unrolled ? LoopKind::Unrolled : LoopKind::Serial;
}

}  // namespace

Lanes ExpressionLowering::coefficient(const ir::Coefficient& n) {
  const auto& points = n.loop->domain.points;
  if (const auto point = kernel::literal_value(point_.at(n.loop.get()))) {
    return {kernel::constant(n.mask->type.scalar, ir::coefficient_at(*n.mask, points[*point]).lane[0])};
  }
  std::vector<ir::Value> values;
  for (const auto& point : points) values.push_back(ir::coefficient_at(*n.mask, point));
  const auto same = std::find_if(tables_.begin(), tables_.end(), [&](const kernel::Table& t) {
    return t.type == n.mask->type.scalar && t.values == values;
  });
  const kernel::Symbol name =
      same != tables_.end() ? same->name : layout_.names.claim(name_of_array() + "_mask");
  if (same == tables_.end()) tables_.push_back({name, n.mask->type.scalar, std::move(values)});
  return {kernel::load(name, n.mask->type.scalar, point_.at(n.loop.get()))};
}

std::string ExpressionLowering::name_of_array() const {
  const auto array = layout_.arrays.find(&stage_);
  return array == layout_.arrays.end() ? stage_.name : array->second.name.spelling();
}

void ExpressionLowering::bind_tap(const ir::Loop& loop, std::size_t point) {
  auto& tap = taps_[&loop];
  tap.clear();
  for (int c : loop.domain.points[point]) tap.push_back(kernel::literal(c));
  point_[&loop] = kernel::literal(static_cast<std::int64_t>(point));
}

void ExpressionLowering::release_taps(const ir::Loop& loop) {
  taps_.erase(&loop);
  point_.erase(&loop);
}

ExpressionLowering::TapLoops ExpressionLowering::loop_over(const ir::Loop& loop, kernel::Block& block,
                                                           int taps_at_once) {
  auto& tap = taps_[&loop];
  tap.clear();
  kernel::Block* inner = &block;
  std::vector<kernel::Symbol> tables_of_taps;  // of a domain that is no box
  // Of a border pixel, one by one: GCC 12 loses taps where it makes vectors of those that are conditional.
  const LoopKind one_by_one = place_ == Place::Anywhere ? LoopKind::Scalar : LoopKind::Serial;
  const auto nest = [&](LoopKind kind, const kernel::Symbol& variable, std::int64_t from, std::int64_t to,
                        int step = 1) {
    inner->push_back(
        {kernel::For{kind, variable, kernel::literal(from), kernel::literal(to), {}, kernel::literal(step)}});
    inner = &std::get<kernel::For>(inner->back().op).body;
  };
  if (const auto dense = ir::dense_box(loop.domain)) {
    const auto& [low, extent] = *dense;
    tap.resize(loop.domain.rank);
    // Rows in the registers of lanes are indexed by numbers alone.
    const bool is_by_rows = place_ == Place::Thread && loop.domain.rank > 1 && !kernel_.plan.is_of_lanes();
    Expr point = kernel::literal(0);
    for (int d = loop.domain.rank; d-- > 0;) {
      const kernel::Symbol variable = locals_.claim(tap_names[d]);
      const int step = d == 0 ? taps_at_once : 1;
      nest(is_by_rows ? kind_of_rows(d, extent) : one_by_one, variable, low[d], low[d] + extent[d], step);
      tap[d] = kernel::name(variable);
      point = kernel::add(kernel::mul(point, kernel::literal(extent[d])),
                          kernel::sub(tap[d], kernel::literal(low[d])));
    }
    point_[&loop] = point;
  } else {
    const kernel::Symbol variable = locals_.claim("tap");
    const auto count = static_cast<std::int64_t>(loop.domain.points.size());
    nest(one_by_one, variable, count % taps_at_once, count, taps_at_once);
    point_[&loop] = kernel::name(variable);
    for (int d = 0; d < loop.domain.rank; ++d) {
      kernel::Table table{layout_.names.claim(name_of_array() + "_t" + ir::dim_name(d)), Scalar::I32, {}};
      for (const auto& p : loop.domain.points)
        table.values.push_back(ir::Value::integer(Type{Scalar::I32, 1}, p[d]));
      tables_of_taps.push_back(table.name);
      tables_.push_back(std::move(table));
    }
  }
  const Expr point = point_.at(&loop);
  const std::vector<Expr> first = tap;
  const auto bind = [=, this, &loop](int after) {
    auto& bound = taps_[&loop];
    bound = first;
    point_[&loop] = kernel::add(point, kernel::literal(after));
    if (tables_of_taps.empty() && after > 0) bound[0] = kernel::add(first[0], kernel::literal(after));
    for (std::size_t d = 0; d < tables_of_taps.size(); ++d) {
      const kernel::Symbol name = locals_.claim(tap_names[d]);
      const Expr coordinate = kernel::load(tables_of_taps[d], Scalar::I32, point_.at(&loop));
      inner->push_back({kernel::Let{name, kernel::cast(ir::CastMode::Convert, Scalar::I64, coordinate)}});
      bound.push_back(kernel::name(name));
    }
  };
  return {inner, point, bind};
}

std::vector<Lanes> ExpressionLowering::fold(const ir::Fold& fold) {
  if (const auto* value = known(&fold)) return *value;
  std::vector<Lanes> result;
  if (columns_.count(&fold)) {
    result = {row_of_columns(fold)};
  } else if (const auto strip = strips_.find(&fold); strip != strips_.end()) {
    for (std::size_t a = 0; a < strip->second.size(); ++a) {
      Lanes lanes;
      for (const kernel::Symbol& array : strip->second[a]) {
        lanes.push_back(kernel::load(array, fold.initial[a]->type.scalar, kernel::name(i())));
      }
      result.push_back(std::move(lanes));
    }
  } else {
    const bool unrolled = is_in_vector_loop()       ? plan::is_unrolled_in_vectors(fold, limits())
                          : place_ == Place::Thread ? plan::is_unrolled_in_thread(fold, limits())
                                                    : plan::is_unrolled_at_border(fold, limits());
    result = unrolled ? fold_unrolled(fold) : fold_in_loop(fold);
  }
  remember(&fold, free_loops(fold), result);
  return result;
}

std::vector<Lanes> ExpressionLowering::fold_unrolled(const ir::Fold& fold) {
  const ir::Loop* loop = fold.loop.get();
  std::vector<int> uses(fold.initial.size(), 0);  // of each accumulator in one tap
  std::unordered_map<const ir::Node*, int>
      uses_here;  // a copy of the fold for another row has these parts, too
  const auto count = [&](const ir::Expr& e) {
    const auto* read = std::get_if<ir::Accumulated>(&e->op);
    if (read && read->loop == fold.loop) ++uses[read->accumulator], ++uses_here[e.get()];
  };
  for (const ir::Expr& e : fold.next) count(e);
  ir::visit(fold.next, [&](const ir::Expr& e) {
    for (const ir::Expr& operand : ir::operands(*e)) count(operand);
    // What an inner window reads is read by each of its taps.
    const auto* inner = std::get_if<ir::FoldResult>(&e->op);
    const auto* median = std::get_if<ir::Median>(&e->op);
    if (!inner && !median) return;
    ir::visit(inner ? inner->fold->next : std::vector<ir::Expr>{median->value}, [&](const ir::Expr& within) {
      const auto* outer = std::get_if<ir::Accumulated>(&within->op);
      if (outer && outer->loop == fold.loop) uses[outer->accumulator] += 2;
    });
  });
  for (const auto& [node, count_here] : uses_here) uses_[node] = count_here;
  std::vector<Lanes> state;
  for (const ir::Expr& e : fold.initial) state.push_back(lower(e));
  for (std::size_t point = 0; point < loop->domain.points.size(); ++point) {
    bind_tap(*loop, point);
    scopes_.push_back({scopes_.back().block, nullptr, loop});
    accumulators_[loop] = state;
    for (std::size_t a = 0; a < state.size(); ++a) state[a] = lower(fold.next[a]);
    scopes_.pop_back();
    for (std::size_t a = 0; a < state.size(); ++a) {
      if (uses[a] < 2) continue;
      for (Expr& lane : state[a]) {
        const kernel::Symbol name = locals_.claim("acc");
        emit({kernel::Let{name, lane}});
        lane = kernel::name(name, lane->type);
      }
    }
  }
  accumulators_.erase(loop);
  release_taps(*loop);
  return state;
}

/// Gives every value a name that no assignment changes; `variables` are the names that assignments do change.
void ExpressionLowering::name_values(std::vector<Lanes>& values, const std::string& wanted,
                                     const std::vector<Lanes>* variables) {
  const auto is_variable = [&](const Expr& e) {
    return variables && std::any_of(variables->begin(), variables->end(), [&](const Lanes& lanes) {
             return std::any_of(lanes.begin(), lanes.end(),
                                [&](const Expr& v) { return kernel::same(v, e); });
           });
  };
  for (Lanes& lanes : values) {
    for (Expr& lane : lanes) {
      if (std::holds_alternative<kernel::Name>(lane->op) && !is_variable(lane)) continue;
      const kernel::Symbol name = locals_.claim(wanted);
      emit({kernel::Let{name, lane}});
      lane = kernel::name(name, lane->type);
    }
  }
}

std::vector<Lanes> ExpressionLowering::fold_in_loop(const ir::Fold& fold) {
  std::vector<Lanes> state;
  for (const ir::Expr& e : fold.initial) {
    Lanes lanes = lower(e);
    for (Expr& lane : lanes) {
      const kernel::Symbol name = locals_.claim("acc");
      emit({kernel::Let{name, lane, true}});
      lane = kernel::name(name, lane->type);
    }
    state.push_back(std::move(lanes));
  }
  kernel::Block& outer = *scopes_.back().block;
  const TapLoops loops = loop_over(*fold.loop, outer);
  loops.bind(0);
  kernel::Block& body = *loops.body;
  open(body, &body);
  accumulators_[fold.loop.get()] = state;
  // All next values are computed before any accumulator changes.
  std::vector<Lanes> next;
  for (const ir::Expr& e : fold.next) next.push_back(lower(e));
  if (next.size() > 1 || next[0].size() > 1) name_values(next, "next", &state);
  for (std::size_t a = 0; a < state.size(); ++a) {
    for (std::size_t l = 0; l < state[a].size(); ++l) {
      emit({kernel::Assign{std::get<kernel::Name>(state[a][l]->op).name, next[a][l]}});
    }
  }
  close();
  accumulators_.erase(fold.loop.get());
  release_taps(*fold.loop);
  return state;
}

std::vector<const ir::Fold*> ExpressionLowering::strip_folds(const std::vector<ir::Expr>& roots) {
  // Folds inside the bodies of other folds or of medians stay there: only those outside count.
  std::vector<const ir::Fold*> found;
  std::unordered_set<const ir::Node*> seen;
  const std::function<void(const ir::Expr&)> walk = [&](const ir::Expr& e) {
    if (!seen.insert(e.get()).second) return;
    if (std::holds_alternative<ir::Median>(e->op)) return;
    const auto* result = std::get_if<ir::FoldResult>(&e->op);
    if (!result) {
      for (const ir::Expr& operand : ir::operands(*e)) walk(operand);
      return;
    }
    for (const ir::Expr& initial : result->fold->initial) walk(initial);
    // A result that the body uses but that does not depend on the tap is computed before.
    ir::visit(result->fold->next, [&](const ir::Expr& inner) {
      if (std::holds_alternative<ir::FoldResult>(inner->op) && free_loops(inner).empty()) walk(inner);
    });
    // A thread has few pixels, and goes through a large window for each.
    const bool is_large = place_ != Place::Thread && !plan::fits_in_vectors(*result->fold, limits());
    const bool in_strips = is_large || columns_of(*result->fold);
    if (in_strips && std::find(found.begin(), found.end(), result->fold.get()) == found.end()) {
      found.push_back(result->fold.get());
    }
  };
  for (const ir::Expr& root : roots) walk(root);
  return found;
}

void ExpressionLowering::fold_over_strip(const ir::Fold& fold, kernel::Block& block, const Expr& x0,
                                         const Expr& count, int capacity) {
  if (const auto separable = columns_of(fold)) {
    columns_over_strip(fold, *separable, block, x0, count, capacity);
  } else {
    accumulate_over_strip(fold, block, x0, count, capacity);
  }
}

/// In registers neither loads nor stores cost anything, nor are narrow integers faster.
std::optional<analysis::Separable> ExpressionLowering::columns_of(const ir::Fold& fold) const {
  if (place_ != Place::Thread && analysis::loads_little(fold)) return std::nullopt;
  auto separable = analysis::as_separable(fold, strict_);
  if (separable && place_ == Place::Thread) separable->column_type = fold.next[0]->type.scalar;
  return separable;
}

void ExpressionLowering::columns_over_strip(const ir::Fold& fold, const analysis::Separable& separable,
                                            kernel::Block& block, const Expr& x0, const Expr& count,
                                            int capacity) {
  const ir::Loop* loop = fold.loop.get();
  const int reach = (static_cast<int>(separable.row.size()) - 1) * separable.stride;
  const Expr number = kernel::name(i()), x_outside = coords_[0];
  i_ = kernel::add(number, kernel::literal(separable.low_x * separable.stride));
  coords_[0] = kernel::add(kernel::add(x0, number), kernel::literal(separable.low_x * separable.stride));
  kernel::Block body;
  open(body);
  Lanes sums;
  for (std::size_t y = 0; y < separable.column.size(); ++y) {
    if (separable.column[y].as_double() == 0) continue;  // nothing is read where no tap is
    taps_[loop] = {kernel::literal(0), kernel::literal(separable.low_y + static_cast<int>(y))};
    scopes_.push_back({&body, nullptr, loop});
    const Lanes value = lower(separable.value);
    scopes_.pop_back();
    sums.resize(value.size());
    for (std::size_t l = 0; l < value.size(); ++l) {
      const ir::Value& weight = separable.column[y];
      const Expr one =
          separable.op == BinaryOp::Add
              ? simplified_binary(BinaryOp::Mul, kernel::constant(weight.type.scalar, weight.lane[0]),
                                  value[l], strict_)
              : value[l];
      sums[l] = sums[l] ? simplified_binary(separable.op, sums[l], one, strict_) : one;
    }
  }
  taps_.erase(loop);
  Columns columns{separable, {}};
  for (const Expr& sum : sums) {
    columns.arrays.push_back(locals_.claim("column"));
    block.push_back({kernel::LocalArray{columns.arrays.back(), separable.column_type, capacity + reach}});
    emit({kernel::Store{columns.arrays.back(), number,
                        kernel::cast(ir::CastMode::Convert, separable.column_type, sum)}});
  }
  close();
  coords_[0] = x_outside;
  i_ = number;
  const kernel::LoopKind kind =
      place_ == Place::Thread ? kernel::LoopKind::Unrolled : kernel::LoopKind::Vector;
  block.push_back({kernel::For{kind, i(), kernel::literal(0), kernel::add(count, kernel::literal(reach)),
                               std::move(body)}});
  columns_.emplace(&fold, std::move(columns));
}

Lanes ExpressionLowering::row_of_columns(const ir::Fold& fold) const {
  const auto& [separable, arrays] = columns_.at(&fold);
  Lanes lanes;
  for (const kernel::Symbol& array : arrays) {
    Expr sum;
    for (std::size_t x = 0; x < separable.row.size(); ++x) {
      const ir::Value& weight = separable.row[x];
      if (weight.as_double() == 0) continue;
      const Expr at =
          kernel::add(kernel::name(i()), kernel::literal(static_cast<std::int64_t>(x) * separable.stride));
      Expr one = kernel::cast(ir::CastMode::Convert, weight.type.scalar,
                              kernel::load(array, separable.column_type, at));
      if (separable.op == BinaryOp::Add) {
        one = simplified_binary(BinaryOp::Mul, kernel::constant(weight.type.scalar, weight.lane[0]), one,
                                strict_);
      }
      sum = sum ? simplified_binary(separable.op, sum, one, strict_) : one;
    }
    lanes.push_back(std::move(sum));
  }
  return lanes;
}

void ExpressionLowering::accumulate_over_strip(const ir::Fold& fold, kernel::Block& block, const Expr& x0,
                                               const Expr& count, int capacity) {
  const Expr number = kernel::name(i());
  const Expr x_outside = coords_[0];
  coords_[0] = kernel::add(x0, number);
  const auto vector_loop = [&](kernel::Block& around) -> kernel::Block& {
    around.push_back({kernel::For{kernel::LoopKind::Vector, i(), kernel::literal(0), count, {}}});
    return std::get<kernel::For>(around.back().op).body;
  };

  std::vector<std::vector<kernel::Symbol>> arrays;
  for (const ir::Expr& e : fold.initial) {
    std::vector<kernel::Symbol> lanes;
    for (int l = 0; l < e->type.lanes; ++l) {
      lanes.push_back(locals_.claim("acc"));
      block.push_back({kernel::LocalArray{lanes.back(), e->type.scalar, capacity}});
    }
    arrays.push_back(std::move(lanes));
  }
  {
    kernel::Block& body = vector_loop(block);
    open(body);
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      const Lanes initial = lower(fold.initial[a]);
      for (std::size_t l = 0; l < initial.size(); ++l)
        emit({kernel::Store{arrays[a][l], number, initial[l]}});
    }
    close();
  }

  const ir::Loop* loop = fold.loop.get();
  const auto pass = [&](kernel::Block& around, int taps, const std::function<void(int)>& bind) {
    kernel::Block body;  // built apart: row pointers go before it
    open(body, &around);
    std::vector<Lanes> state;
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      Lanes lanes;
      for (const kernel::Symbol& array : arrays[a])
        lanes.push_back(kernel::load(array, fold.initial[a]->type.scalar, number));
      state.push_back(std::move(lanes));
    }
    for (int tap = 0; tap < taps; ++tap) {
      bind(tap);
      scopes_.push_back({&body, nullptr, loop});
      accumulators_[loop] = state;
      std::vector<Lanes> next;
      for (const ir::Expr& e : fold.next) next.push_back(lower(e));
      const bool last = tap + 1 == taps;
      if (!last || next.size() > 1 || next[0].size() > 1) name_values(next, last ? "next" : "acc", nullptr);
      state = std::move(next);
      scopes_.pop_back();
    }
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      for (std::size_t l = 0; l < state[a].size(); ++l)
        emit({kernel::Store{arrays[a][l], number, state[a][l]}});
    }
    close();
    vector_loop(around) = std::move(body);
  };
  // First the taps that fill no pass, then the passes.
  const int taps_at_once = plan::taps_of_pass(fold, limits());
  const int others = static_cast<int>(loop->domain.points.size()) % taps_at_once;
  if (others > 0) pass(block, others, [&](int tap) { bind_tap(*loop, static_cast<std::size_t>(tap)); });
  const TapLoops loops = loop_over(*loop, block, taps_at_once);
  pass(*loops.body, taps_at_once, loops.bind);
  accumulators_.erase(loop);
  release_taps(*loop);
  coords_[0] = x_outside;
  strips_[&fold] = std::move(arrays);
}

/// Brings the median of an array to a position, which is returned. Where a pixel's number is known, the network is that for
/// an even or odd one; where it is that of an unrolled loop, both are written, and the compiler takes one for each pixel.
int ExpressionLowering::order(const kernel::Symbol& array, Scalar type, const ir::Domain& window) {
  const int along = std::min(along_, window.rank - 1);
  const auto ordered = [&](const analysis::MedianNetwork& network) -> Block {
    if (network.exchanges.empty()) return {};  // of one value
    const auto same = std::find_if(networks_.begin(), networks_.end(), [&](const kernel::Network& n) {
      return n.exchanges == network.exchanges;
    });
    const kernel::Symbol name = same != networks_.end() ? same->name : layout_.names.claim("order_window");
    if (same == networks_.end()) networks_.push_back({name, network.exchanges});
    return {{kernel::Order{array, name}}};
  };
  const analysis::MedianNetwork even = analysis::median_network(window.points, along),
                                odd = analysis::median_network(window.points, along, true);
  const auto number = kernel::literal_value(number_);
  if (number || even.exchanges == odd.exchanges) {
    const analysis::MedianNetwork& network = number.value_or(0) % 2 == 0 ? even : odd;
    kernel::append(*scopes_.back().block, ordered(network));
    return network.median;
  }
  Block of_even = ordered(even), of_odd = ordered(odd);
  if (odd.median != even.median)
    of_odd.push_back({kernel::Store{array, kernel::literal(even.median),
                                    kernel::load(array, type, kernel::literal(odd.median))}});
  const Expr is_even = kernel::binary(
      BinaryOp::Eq, kernel::binary(BinaryOp::And, number_, kernel::literal(1)), kernel::literal(0));
  emit({kernel::If{is_even, std::move(of_even), std::move(of_odd)}});
  return even.median;
}

Lanes ExpressionLowering::median(const ir::Median& n, Type type) {
  const ir::Domain& window = n.loop->domain;
  const auto count = static_cast<int>(window.points.size());
  const Scalar sorted = type.scalar == Scalar::F16 ? Scalar::F32 : type.scalar;
  std::vector<kernel::Symbol> arrays;
  for (int l = 0; l < type.lanes; ++l) {
    arrays.push_back(locals_.claim("window"));
    emit({kernel::LocalArray{arrays.back(), sorted, count}});
  }
  const bool has_network = plan::has_network(n, limits());
  if (has_network && place_ != Place::Anywhere) {
    for (int point = 0; point < count; ++point) {
      bind_tap(*n.loop, point);
      scopes_.push_back({scopes_.back().block, nullptr, n.loop.get()});
      const Lanes value = lower(n.value);
      for (int l = 0; l < type.lanes; ++l)
        emit({kernel::Store{arrays[l], kernel::literal(point), computable(value[l])}});
      scopes_.pop_back();
    }
    release_taps(*n.loop);
  } else {
    const TapLoops loops = loop_over(*n.loop, *scopes_.back().block);
    loops.bind(0);
    open(*loops.body, loops.body);
    const Lanes value = lower(n.value);
    for (int l = 0; l < type.lanes; ++l) emit({kernel::Store{arrays[l], loops.point, computable(value[l])}});
    close();
    release_taps(*n.loop);
  }
  Lanes lanes;
  for (int l = 0; l < type.lanes; ++l) {
    const Expr median =
        has_network
            ? kernel::load(arrays[l], sorted, kernel::literal(order(arrays[l], sorted, window)))
            : std::make_shared<const kernel::Node>(kernel::Node{sorted, kernel::MedianOf{arrays[l], count}});
    const kernel::Symbol name = locals_.claim("median");
    emit({kernel::Let{name, median}});
    lanes.push_back(stored_as(type.scalar, kernel::name(name, sorted)));
  }
  return lanes;
}

}  // namespace weft::lower
