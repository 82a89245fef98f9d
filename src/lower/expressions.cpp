#include "lower/expressions.h"

#include <algorithm>

#include "ir/visit.h"
#include "lower/interior.h"
#include "lower/median_network.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Expr;

namespace {

// Straight-line code beyond this many operations takes the compiler seconds and the instruction cache with
// it.
constexpr int most_unrolled_operations = 1200;
constexpr int most_unrolled_operations_at_borders = 120;  // runs rarely: small is better than fast
constexpr int most_network_inputs = 49;                   // a 7x7 median

kernel::IndexOp index_op(ir::BorderMode mode) {
  switch (mode) {
    case ir::BorderMode::Clamp: return kernel::IndexOp::Clamp;
    case ir::BorderMode::Mirror: return kernel::IndexOp::Mirror;
    case ir::BorderMode::Mirror101: return kernel::IndexOp::Mirror101;
    case ir::BorderMode::Repeat: return kernel::IndexOp::Repeat;
    case ir::BorderMode::Constant: break;
  }
  throw InternalError("a constant border has no index");
}

bool is_number(const Expr& e, double value) {
  const auto* c = std::get_if<kernel::Const>(&e->op);
  return c && c->value.as_double() == value;
}

/// a op b without what adds nothing: 0 + x, 1 * x, x - 0, x / 1.
Expr simplified_binary(BinaryOp op, const Expr& a, const Expr& b) {
  if (op == BinaryOp::Add && is_number(a, 0)) return b;
  if ((op == BinaryOp::Add || op == BinaryOp::Sub) && is_number(b, 0)) return a;
  if (op == BinaryOp::Mul && is_number(a, 1)) return b;
  if ((op == BinaryOp::Mul || op == BinaryOp::Div) && is_number(b, 1)) return a;
  if (op == BinaryOp::Mul && is_number(a, -1)) return kernel::unary(ir::UnaryOp::Neg, b);
  if (op == BinaryOp::Add) {
    const auto* negated = std::get_if<kernel::Unary>(&b->op);
    if (negated && negated->op == ir::UnaryOp::Neg) return kernel::binary(BinaryOp::Sub, a, negated->a);
    // a + -c * x is written a - c * x
    const auto* product = std::get_if<kernel::Binary>(&b->op);
    const auto* factor =
        product && product->op == BinaryOp::Mul ? std::get_if<kernel::Const>(&product->a->op) : nullptr;
    if (factor && is_float(b->type) && factor->value.as_double() < 0) {
      const Expr positive = kernel::constant(b->type, {.f = -factor->value.lane[0].f});
      return kernel::binary(BinaryOp::Sub, a, simplified_binary(BinaryOp::Mul, positive, product->b));
    }
  }
  // min(greatest, x) and max(least, x): the identities that windows start from
  if (op == BinaryOp::Min || op == BinaryOp::Max) {
    const auto* c = std::get_if<kernel::Const>(&a->op);
    const Type type{a->type, 1};
    if (c && c->value == (op == BinaryOp::Min ? ir::largest(type) : ir::least(type))) return b;
  }
  return kernel::binary(op, a, b);
}

/// Half is a storage type: what is computed with is float.
Expr computable(const Expr& e) {
  return e->type == Scalar::F16 ? kernel::cast(ir::CastMode::Convert, Scalar::F32, e) : e;
}
Expr stored_as(Scalar type, const Expr& e) {
  return type == Scalar::F16 ? kernel::cast(ir::CastMode::Convert, type, e) : e;
}

std::string lane_name(const std::string& name, std::size_t lane, std::size_t lanes) {
  return lanes == 1 ? name : name + std::to_string(lane);
}

/// The dense box that a domain fills in row-major order, if it does.
bool is_dense(const ir::Domain& domain, std::vector<int>* low, std::vector<int>* extent) {
  *low = *extent = domain.points.at(0);
  for (const auto& p : domain.points) {
    for (int d = 0; d < domain.rank; ++d) {
      (*low)[d] = std::min((*low)[d], p[d]);
      (*extent)[d] = std::max((*extent)[d], p[d]);
    }
  }
  std::size_t count = 1;
  for (int d = 0; d < domain.rank; ++d) count *= static_cast<std::size_t>((*extent)[d] += 1 - (*low)[d]);
  if (count != domain.points.size()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (int d = 0; d < domain.rank; ++d) {
      if (domain.points[i][d] != (*low)[d] + static_cast<int>(rest % (*extent)[d])) return false;
      rest /= (*extent)[d];
    }
  }
  return true;
}

const char* const tap_names[] = {"tx", "ty", "tz", "tw"};

}  // namespace

ExpressionLowering::ExpressionLowering(Layout& layout, std::vector<kernel::Table>& tables,
                                       const std::unordered_map<const ir::Node*, std::string>& names,
                                       const ir::Stage& stage, Place place, std::vector<Expr> coords)
    : layout_(layout),
      locals_(layout.names),
      tables_(tables),
      names_(names),
      stage_(stage),
      place_(place),
      coords_(std::move(coords)) {
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    for (const ir::Expr& operand : ir::operands(*e)) ++uses_[operand.get()];
  });
  for (const ir::Expr& root : ir::expressions(stage)) ++uses_[root.get()];
}

void ExpressionLowering::open(kernel::Block& block, kernel::Block* rows) {
  scopes_.push_back({&block, rows, nullptr});
}
void ExpressionLowering::close() { scopes_.pop_back(); }

const std::vector<Lanes>* ExpressionLowering::known(const void* key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto value = scope->values.find(key); value != scope->values.end()) return &value->second;
  }
  return nullptr;
}

// What does not depend on an unrolled tap holds for all taps of the block around it.
void ExpressionLowering::remember(const void* key, const std::unordered_set<const ir::Loop*>& depends_on,
                                  std::vector<Lanes> value) {
  auto scope = scopes_.rbegin();
  while (scope->tap && !depends_on.count(scope->tap)) ++scope;
  scope->values[key] = std::move(value);
}

const std::unordered_set<const ir::Loop*>& ExpressionLowering::free_loops(const ir::Expr& e) {
  if (auto found = free_loops_.find(e.get()); found != free_loops_.end()) return found->second;
  std::unordered_set<const ir::Loop*> loops;
  const auto merge = [&](const std::unordered_set<const ir::Loop*>& more) {
    loops.insert(more.begin(), more.end());
  };
  const auto add_taps = [&](const ir::Affine& a) {
    a.mentions([&](const ir::Atom& atom) {
      if (const auto* tap = std::get_if<ir::TapCoord>(&atom)) loops.insert(tap->loop.get());
      return false;
    });
  };
  if (const auto* fold = std::get_if<ir::FoldResult>(&e->op)) {
    merge(free_loops(*fold->fold));
  } else {
    for (const ir::Expr& operand : ir::operands(*e)) merge(free_loops(operand));
    std::visit(ir::overloaded{
                   [&](const ir::Quantity& n) { add_taps(n.value); },
                   [&](const ir::Read& n) {
                     for (const ir::Index& index : n.indices) {
                       if (const auto* affine = std::get_if<ir::Affine>(&index)) add_taps(*affine);
                     }
                   },
                   [&](const ir::Coefficient& n) { loops.insert(n.loop.get()); },
                   [&](const ir::Accumulated& n) { loops.insert(n.loop.get()); },
                   [&](const ir::Median& n) { loops.erase(n.loop.get()); },
                   [](const auto&) {},
               },
               e->op);
  }
  return free_loops_[e.get()] = std::move(loops);
}

std::unordered_set<const ir::Loop*> ExpressionLowering::free_loops(const ir::Fold& fold) {
  std::unordered_set<const ir::Loop*> loops;
  for (const ir::Expr& e : fold.next) loops.insert(free_loops(e).begin(), free_loops(e).end());
  loops.erase(fold.loop.get());
  for (const ir::Expr& e : fold.initial) loops.insert(free_loops(e).begin(), free_loops(e).end());
  return loops;
}

// ---- expressions
// -----------------------------------------------------------------------------------------------

Lanes ExpressionLowering::lower(const ir::Expr& e) {
  if (const auto* value = known(e.get())) return value->front();
  Lanes lanes = named(e, compute(e));
  remember(e.get(), free_loops(e), {lanes});
  return lanes;
}

/// Gives a value a name of its own if it is used more than once, or if it is a whole stage computed in place.
Lanes ExpressionLowering::named(const ir::Expr& e, Lanes lanes) {
  const auto stage = names_.find(e.get());
  if (stage == names_.end() && uses_[e.get()] < 2) return lanes;
  if (std::holds_alternative<ir::Pack>(e->op) && stage == names_.end()) return lanes;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const Expr& value = lanes[l];
    if (std::holds_alternative<kernel::Name>(value->op) || std::holds_alternative<kernel::Const>(value->op))
      continue;
    const std::string name =
        locals_.claim(lane_name(stage == names_.end() ? "v" : stage->second, l, lanes.size()));
    emit({kernel::Let{name, value}});
    lanes[l] = kernel::name(name, value->type);
  }
  return lanes;
}

Lanes ExpressionLowering::compute(const ir::Expr& e) {
  const Scalar scalar = e->type.scalar;
  return std::visit(
      ir::overloaded{
          [&](const ir::Const& n) {
            Lanes lanes;
            for (int l = 0; l < e->type.lanes; ++l)
              lanes.push_back(kernel::constant(scalar, n.value.lane[l]));
            return lanes;
          },
          [&](const ir::Quantity& n) { return Lanes{lower(n.value)}; },
          [&](const ir::ParamRef& n) {
            return Lanes{kernel::name(layout_.params.at(n.param->name), scalar)};
          },
          [&](const ir::Unary& n) {
            Lanes lanes = lower(n.a);
            for (Expr& lane : lanes) lane = stored_as(scalar, kernel::unary(n.op, computable(lane)));
            return lanes;
          },
          [&](const ir::Binary& n) {
            Lanes lanes = lower(n.a);
            const Lanes b = lower(n.b);
            for (std::size_t l = 0; l < lanes.size(); ++l)
              lanes[l] = stored_as(scalar, simplified_binary(n.op, computable(lanes[l]), computable(b[l])));
            return lanes;
          },
          [&](const ir::Select& n) {
            const Lanes condition = lower(n.condition), b = lower(n.b);
            Lanes lanes = lower(n.a);
            for (std::size_t l = 0; l < lanes.size(); ++l) {
              lanes[l] = kernel::select(condition[condition.size() == 1 ? 0 : l], lanes[l], b[l]);
            }
            return lanes;
          },
          [&](const ir::Cast& n) {
            Lanes lanes = lower(n.a);
            for (Expr& lane : lanes) lane = kernel::cast(n.mode, scalar, computable(lane));
            return lanes;
          },
          [&](const ir::Pack& n) {
            Lanes lanes;
            for (const ir::Expr& lane : n.lanes) lanes.push_back(lower(lane)[0]);
            return lanes;
          },
          [&](const ir::Lane& n) { return Lanes{lower(n.a)[n.lane]}; },
          [&](const ir::Read& n) { return read(n, e->type); },
          [&](const ir::Coefficient& n) { return coefficient(n); },
          [&](const ir::Accumulated& n) { return accumulators_.at(n.loop.get()).at(n.accumulator); },
          [&](const ir::FoldResult& n) { return fold(*n.fold).at(n.accumulator); },
          [&](const ir::Median& n) { return median(n, e->type); },
      },
      e->op);
}

// ---- reads
// -----------------------------------------------------------------------------------------------------

Lanes ExpressionLowering::read(const ir::Read& n, Type type) {
  const ArrayLayout& array = layout_.arrays.at(n.source.get());
  const bool direct = place_ == Place::Interior && access_of(n) == Access::Direct;
  Expr inside, outer = kernel::literal(0), along_x = kernel::literal(0);
  for (std::size_t d = 0; d < n.indices.size(); ++d) {
    const auto* affine = std::get_if<ir::Affine>(&n.indices[d]);
    Expr index = affine ? lower(*affine) : lower(std::get<ir::Expr>(n.indices[d]))[0];
    const bool constant = n.border && n.border->mode == ir::BorderMode::Constant;
    // At its own coordinate in a box of the same extent a read cannot leave the source.
    const bool at_own_coordinate = static_cast<int>(d) < stage_.rank() && stage_.box[d] == n.region[d] &&
                                   distance_suffix(n.indices[d], static_cast<int>(d)) == "_0";
    const bool is_inside = at_own_coordinate || (direct && (d == 0 || constant));
    if (n.border && !is_inside && constant) {
      const Expr local = kernel::sub(index, lower(n.region[d].min));
      inside =
          kernel::both(inside, kernel::both(kernel::binary(BinaryOp::Le, kernel::literal(0), local),
                                            kernel::binary(BinaryOp::Lt, local, lower(n.region[d].extent))));
    } else if (n.border && !is_inside) {
      index = bordered_index(n, d, index);
    }
    index = kernel::sub(index, lower(n.source->box[d].min));
    if (d == 0)
      along_x = kernel::mul(index, kernel::literal(type.lanes));
    else
      outer = kernel::add(outer, kernel::mul(index, kernel::name(array.strides[d - 1])));
  }

  std::string base = array.name;
  if (direct && n.indices.size() > 1) {
    base = row_pointer(array, outer, n.indices.size() == 2 ? &n.indices[1] : nullptr);
  } else {
    along_x = kernel::add(outer, along_x);
  }
  const Lanes otherwise = inside ? lower(n.border->constant) : Lanes{};
  Lanes lanes;
  for (int l = 0; l < type.lanes; ++l) {
    Expr value = kernel::load(base, type.scalar, kernel::add(along_x, kernel::literal(l)));
    lanes.push_back(inside ? kernel::select(inside, value, otherwise[l]) : value);
  }
  return lanes;
}

const std::string* ExpressionLowering::find(const std::string& array, const Expr& value) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    for (const Found& known_one : scope->found) {
      if (known_one.array == array && kernel::same(known_one.value, value)) return &known_one.name;
    }
  }
  return nullptr;
}

/// "_m1", "_0" or "_p2" for an index at a constant distance from the pixel's own coordinate, "" for any
/// other.
std::string ExpressionLowering::distance_suffix(const ir::Index& index, int dim) const {
  const auto* affine = std::get_if<ir::Affine>(&index);
  if (!affine) return "";
  const ir::Affine at_tap = affine->substitute([&](const ir::Atom& atom) {
    const auto* tap = std::get_if<ir::TapCoord>(&atom);
    const auto* known_tap = tap ? kernel::literal_value(taps_.at(tap->loop.get()).at(tap->dim)) : nullptr;
    return known_tap ? ir::Affine(*known_tap) : ir::Affine(atom);
  });
  const ir::Affine distance = at_tap - ir::Affine(ir::Atom(ir::Coord{dim}));
  if (!distance.is_constant()) return "";
  const std::int64_t c = distance.constant();
  return c == 0 ? "_0" : c < 0 ? "_m" + std::to_string(-c) : "_p" + std::to_string(c);
}

/// The index after the read's border mode. For single pixels it has a name, since other taps share it.
Expr ExpressionLowering::bordered_index(const ir::Read& n, std::size_t dim, const Expr& index) {
  const Expr min = lower(n.region[dim].min), extent = lower(n.region[dim].extent);
  const Expr inside =
      kernel::add(kernel::index_call(index_op(n.border->mode), kernel::sub(index, min), extent), min);
  if (place_ == Place::Interior) return inside;
  if (const std::string* known_index = find("", inside)) return kernel::name(*known_index);
  const std::string suffix = distance_suffix(n.indices[dim], static_cast<int>(dim));
  const std::string name =
      locals_.claim(ir::dim_name(static_cast<int>(dim)) + (suffix.empty() ? "_in" : suffix));
  emit({kernel::Let{name, inside}});
  auto scope = scopes_.rbegin();
  while (scope->tap) ++scope;
  scope->found.push_back({"", name, inside});
  return kernel::name(name);
}

/// A pointer to the row at `offset`, found once outside the vector loop; `row` is its index if the array is
/// 2-D.
std::string ExpressionLowering::row_pointer(const ArrayLayout& array, const Expr& offset,
                                            const ir::Index* row) {
  if (const std::string* known_row = find(array.name, offset)) return *known_row;
  const std::string suffix = row ? distance_suffix(*row, 1) : "";
  const std::string name = locals_.claim(array.name + (suffix.empty() ? "_row" : suffix));
  const auto scope =
      std::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& s) { return s.rows != nullptr; });
  scope->rows->push_back({kernel::Pointer{name, array.name, array.type.scalar, offset}});
  scope->found.push_back({array.name, name, offset});
  return name;
}

// ---- windows
// ---------------------------------------------------------------------------------------------------

Lanes ExpressionLowering::coefficient(const ir::Coefficient& n) {
  const auto value_at = [&](const std::vector<int>& point) {
    std::size_t at = 0;
    for (std::size_t d = n.mask->extents.size(); d-- > 0;)
      at = at * n.mask->extents[d] + point[d] + n.mask->extents[d] / 2;
    return n.mask->coefficients[at];
  };
  const auto& points = n.loop->domain.points;
  if (const auto* point = kernel::literal_value(point_.at(n.loop.get()))) {
    return {kernel::constant(n.mask->type.scalar, value_at(points[*point]).lane[0])};
  }
  std::vector<ir::Value> values;
  for (const auto& point : points) values.push_back(value_at(point));
  const auto same = std::find_if(tables_.begin(), tables_.end(), [&](const kernel::Table& t) {
    return t.type == n.mask->type.scalar && t.values == values;
  });
  const std::string name =
      same != tables_.end() ? same->name : layout_.names.claim(layout_.arrays.at(&stage_).name + "_mask");
  if (same == tables_.end()) tables_.push_back({name, n.mask->type.scalar, std::move(values)});
  return {kernel::load(name, n.mask->type.scalar, point_.at(n.loop.get()))};
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

ExpressionLowering::TapLoops ExpressionLowering::loop_over(const ir::Loop& loop, kernel::Block& block) {
  std::vector<int> low, extent;
  auto& tap = taps_[&loop];
  tap.clear();
  kernel::Block* inner = &block;
  const auto nest = [&](const std::string& variable, std::int64_t from, std::int64_t to) {
    inner->push_back(
        {kernel::For{kernel::LoopKind::Serial, variable, kernel::literal(from), kernel::literal(to), 1, {}}});
    inner = &std::get<kernel::For>(inner->back().op).body;
  };
  if (is_dense(loop.domain, &low, &extent)) {
    tap.resize(loop.domain.rank);
    Expr point = kernel::literal(0);
    for (int d = loop.domain.rank; d-- > 0;) {
      const std::string variable = locals_.claim(tap_names[d]);
      nest(variable, low[d], low[d] + extent[d]);
      tap[d] = kernel::name(variable);
      point = kernel::add(kernel::mul(point, kernel::literal(extent[d])),
                          kernel::sub(tap[d], kernel::literal(low[d])));
    }
    point_[&loop] = point;
  } else {
    const std::string variable = locals_.claim("tap");
    nest(variable, 0, static_cast<std::int64_t>(loop.domain.points.size()));
    point_[&loop] = kernel::name(variable);
    for (int d = 0; d < loop.domain.rank; ++d) {
      kernel::Table table{
          layout_.names.claim(layout_.arrays.at(&stage_).name + "_t" + ir::dim_name(d)), Scalar::I32, {}};
      for (const auto& p : loop.domain.points)
        table.values.push_back(ir::Value::integer(Type{Scalar::I32, 1}, p[d]));
      const std::string name = locals_.claim(tap_names[d]);
      inner->push_back(
          {kernel::Let{name, kernel::cast(ir::CastMode::Convert, Scalar::I64,
                                          kernel::load(table.name, Scalar::I32, kernel::name(variable)))}});
      tap.push_back(kernel::name(name));
      tables_.push_back(std::move(table));
    }
  }
  return {inner, point_.at(&loop)};
}

bool ExpressionLowering::fits_straight_line_code(const ir::Loop& loop, const std::vector<ir::Expr>& body,
                                                 int limit) const {
  std::size_t operations = 0;
  ir::visit(body, [&](const ir::Expr& e) {
    operations += e->type.lanes;
    if (const auto* inner = std::get_if<ir::FoldResult>(&e->op))
      operations += inner->fold->loop->domain.points.size() * 4;
  });
  return loop.domain.points.size() * operations <= static_cast<std::size_t>(limit);
}

std::vector<Lanes> ExpressionLowering::fold(const ir::Fold& fold) {
  if (const auto* value = known(&fold)) return *value;
  std::vector<Lanes> result;
  if (const auto strip = strips_.find(&fold); strip != strips_.end()) {
    for (std::size_t a = 0; a < strip->second.size(); ++a) {
      Lanes lanes;
      for (const std::string& array : strip->second[a]) {
        lanes.push_back(kernel::load(array, fold.initial[a]->type.scalar, kernel::name("i")));
      }
      result.push_back(std::move(lanes));
    }
  } else {
    const int limit =
        place_ == Place::Interior ? most_unrolled_operations : most_unrolled_operations_at_borders;
    result = fits_straight_line_code(*fold.loop, fold.next, limit) ? fold_unrolled(fold) : fold_in_loop(fold);
  }
  remember(&fold, free_loops(fold), result);
  return result;
}

std::vector<Lanes> ExpressionLowering::fold_unrolled(const ir::Fold& fold) {
  const ir::Loop* loop = fold.loop.get();
  std::vector<int> uses(fold.initial.size(), 0);  // of each accumulator in one tap
  ir::visit(fold.next, [&](const ir::Expr& e) {
    const auto* read = std::get_if<ir::Accumulated>(&e->op);
    if (read && read->loop == fold.loop) uses[read->accumulator] += uses_[e.get()];
  });
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
        const std::string name = locals_.claim("acc");
        emit({kernel::Let{name, lane}});
        lane = kernel::name(name, lane->type);
      }
    }
  }
  accumulators_.erase(loop);
  release_taps(*loop);
  return state;
}

std::vector<Lanes> ExpressionLowering::fold_in_loop(const ir::Fold& fold) {
  std::vector<Lanes> state;
  for (const ir::Expr& e : fold.initial) {
    Lanes lanes = lower(e);
    for (Expr& lane : lanes) {
      const std::string name = locals_.claim("acc");
      emit({kernel::Let{name, lane, true}});
      lane = kernel::name(name, lane->type);
    }
    state.push_back(std::move(lanes));
  }
  kernel::Block& outer = *scopes_.back().block;
  kernel::Block& body = *loop_over(*fold.loop, outer).body;
  open(body, &body);
  accumulators_[fold.loop.get()] = state;
  // All next values are computed before any accumulator changes.
  std::vector<Lanes> next;
  for (const ir::Expr& e : fold.next) {
    Lanes lanes = lower(e);
    if (fold.next.size() > 1 || lanes.size() > 1) {
      for (Expr& lane : lanes) {
        const std::string name = locals_.claim("next");
        emit({kernel::Let{name, lane}});
        lane = kernel::name(name, lane->type);
      }
    }
    next.push_back(std::move(lanes));
  }
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

std::vector<const ir::Fold*> ExpressionLowering::large_folds(const std::vector<ir::Expr>& roots) {
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
    const bool small =
        fits_straight_line_code(*result->fold->loop, result->fold->next, most_unrolled_operations);
    if (!small && std::find(found.begin(), found.end(), result->fold.get()) == found.end()) {
      found.push_back(result->fold.get());
    }
  };
  for (const ir::Expr& root : roots) walk(root);
  return found;
}

void ExpressionLowering::fold_over_strip(const ir::Fold& fold, kernel::Block& block, const Expr& x0,
                                         const Expr& count, int capacity) {
  const Expr i = kernel::name("i");
  const Expr x_outside = coords_[0];
  coords_[0] = kernel::add(x0, i);
  const auto vector_loop = [&](kernel::Block& around) -> kernel::Block& {
    around.push_back({kernel::For{kernel::LoopKind::Vector, "i", kernel::literal(0), count, 1, {}}});
    return std::get<kernel::For>(around.back().op).body;
  };

  std::vector<std::vector<std::string>> arrays;
  for (const ir::Expr& e : fold.initial) {
    std::vector<std::string> lanes;
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
      for (std::size_t l = 0; l < initial.size(); ++l) emit({kernel::Store{arrays[a][l], i, initial[l]}});
    }
    close();
  }

  kernel::Block& taps = *loop_over(*fold.loop, block).body;
  kernel::Block body;  // built apart: row pointers go before it
  open(body, &taps);
  std::vector<Lanes> state, next;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    Lanes lanes;
    for (const std::string& array : arrays[a])
      lanes.push_back(kernel::load(array, fold.initial[a]->type.scalar, i));
    state.push_back(std::move(lanes));
  }
  accumulators_[fold.loop.get()] = state;
  for (const ir::Expr& e : fold.next) next.push_back(lower(e));
  if (next.size() > 1 || next[0].size() > 1) {
    for (Lanes& lanes : next) {
      for (Expr& lane : lanes) {
        const std::string name = locals_.claim("next");
        emit({kernel::Let{name, lane}});
        lane = kernel::name(name, lane->type);
      }
    }
  }
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    for (std::size_t l = 0; l < next[a].size(); ++l) emit({kernel::Store{arrays[a][l], i, next[a][l]}});
  }
  close();
  vector_loop(taps) = std::move(body);
  accumulators_.erase(fold.loop.get());
  release_taps(*fold.loop);
  coords_[0] = x_outside;
  strips_[&fold] = std::move(arrays);
}

Lanes ExpressionLowering::median(const ir::Median& n, Type type) {
  const auto count = static_cast<int>(n.loop->domain.points.size());
  const Scalar sorted = type.scalar == Scalar::F16 ? Scalar::F32 : type.scalar;
  std::vector<std::string> arrays;
  for (int l = 0; l < type.lanes; ++l) {
    arrays.push_back(locals_.claim("window"));
    emit({kernel::LocalArray{arrays.back(), sorted, count}});
  }
  const bool network = place_ == Place::Interior && count <= most_network_inputs;
  if (network) {
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
    open(*loops.body, loops.body);
    const Lanes value = lower(n.value);
    for (int l = 0; l < type.lanes; ++l) emit({kernel::Store{arrays[l], loops.point, computable(value[l])}});
    close();
    release_taps(*n.loop);
  }
  Lanes lanes;
  for (int l = 0; l < type.lanes; ++l) {
    const std::string name = locals_.claim("median");
    if (network) {
      for (const auto& [i, j] : median_network(count)) emit({kernel::Order{arrays[l], i, j}});
      emit({kernel::Let{name, kernel::load(arrays[l], sorted, kernel::literal(count / 2))}});
    } else {
      emit({kernel::Let{name, std::make_shared<const kernel::Node>(
                                  kernel::Node{sorted, kernel::MedianOf{arrays[l], count}})}});
    }
    lanes.push_back(stored_as(type.scalar, kernel::name(name, sorted)));
  }
  return lanes;
}

}  // namespace weft::lower
