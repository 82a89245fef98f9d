#include "lower/expressions.h"

#include <algorithm>
#include <cmath>

#include "analysis/footprint.h"
#include "analysis/interior.h"
#include "ir/operation.h"
#include "ir/visit.h"
#include "plan/pixel_rows.h"

namespace weft::lower {

namespace {

bool is_number(const Expr& e, double value) {
  const auto* c = std::get_if<kernel::Const>(&e->op);
  return c && c->value.as_double() == value;
}

/// An integer as a float: neither infinite nor NaN, unless halves overflow.
bool is_float_of_integer(const Expr& e) {
  const auto* cast = std::get_if<kernel::Cast>(&e->op);
  return cast && is_float(e->type) && e->type != Scalar::F16 && !is_float(cast->a->type);
}
/// What a constant, or a fraction of two, is.
std::optional<double> known_value(const Expr& e) {
  if (const auto* c = std::get_if<kernel::Const>(&e->op)) return c->value.as_double();
  const auto* fraction = std::get_if<kernel::Binary>(&e->op);
  if (!fraction || fraction->op != BinaryOp::Div || !is_float(e->type)) return std::nullopt;
  const auto* a = std::get_if<kernel::Const>(&fraction->a->op);
  const auto* b = std::get_if<kernel::Const>(&fraction->b->op);
  if (!a || !b) return std::nullopt;
  return ir::apply(BinaryOp::Div, e->type, a->value.lane[0], b->value.lane[0]).f;
}
bool is_surely_finite(const Expr& e) {
  return is_float_of_integer(e) || std::isfinite(known_value(e).value_or(HUGE_VAL));
}

/// Whether a float is of half precision, so that rounding it to that changes nothing.
bool is_half(const Expr& e) {
  if (const auto* c = std::get_if<kernel::Cast>(&e->op)) return c->a->type == Scalar::F16;
  const auto* b = std::get_if<kernel::Binary>(&e->op);
  return b && (b->op == BinaryOp::Min || b->op == BinaryOp::Max) && is_half(b->a) && is_half(b->b);
}

bool is_name(const Expr& e) { return std::holds_alternative<kernel::Name>(e->op); }
bool is_constant(const Expr& e) { return std::holds_alternative<kernel::Const>(e->op); }

/// x; left + i, the i-th pixel of a part of a row; ((row - 1) >> 1) * 2 + 1, one of the rows of a step.
bool is_coordinate(const Expr& e) {
  const auto* of = std::get_if<kernel::Binary>(&e->op);
  return is_name(e) || is_constant(e) || (of && is_coordinate(of->a) && is_coordinate(of->b));
}

/// Whether a value needs no name of its own to be used twice: a name, a constant, or a coordinate as a float, so that it is seen
/// to be whole.
bool is_plain(const Expr& e) {
  const auto* cast = std::get_if<kernel::Cast>(&e->op);
  return is_name(e) || is_constant(e) ||
         (cast && is_float_of_integer(e) && cast->a->type == Scalar::I64 && is_coordinate(cast->a));
}

std::string lane_name(const std::string& name, std::size_t lane, std::size_t lanes) {
  return lanes == 1 ? name : name + std::to_string(lane);
}

}  // namespace

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

FoundPixel find_pixel(ir::BorderMode border, const Expr& index, const Expr& extent) {
  if (border != ir::BorderMode::Constant)
    return {kernel::index_call(index_op(border), index, extent), nullptr};
  return {index, kernel::both(kernel::binary(BinaryOp::Le, kernel::literal(0), index),
                              kernel::binary(BinaryOp::Lt, index, extent))};
}

Expr simplified_binary(BinaryOp op, const Expr& a, const Expr& b, bool strict) {
  // Not quite the same: 0 + -0 is 0, and max(-inf, NaN) is -inf.
  const bool drops_identities = !strict || !is_float(a->type);
  if (drops_identities && op == BinaryOp::Add && is_number(a, 0)) return b;
  if (drops_identities && op == BinaryOp::Add && is_number(b, 0)) return a;
  if (op == BinaryOp::Sub && is_number(b, 0)) return a;
  const auto* left = std::get_if<kernel::Const>(&a->op);
  const auto* right = std::get_if<kernel::Const>(&b->op);
  const bool arithmetic =
      op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Div;
  if (left && right && arithmetic && is_float(a->type)) {
    const ir::Number result = ir::apply(op, a->type, left->value.lane[0], right->value.lane[0]);
    // 1 / 9 says more than its first digits.
    const bool stays =
        op == BinaryOp::Div && std::fma(result.f, right->value.as_double(), -left->value.as_double()) != 0;
    if (!stays) return kernel::constant(a->type, result);
  }
  if (left && right && ir::is_comparison(op) && !is_float(a->type))  // of the phases of a row, say
    return kernel::constant(Scalar::Bool, ir::apply(op, a->type, left->value.lane[0], right->value.lane[0]));
  // What is left of an affine map that does not turn or scale. Not quite the same: 0 * -1 is -0.
  if (is_float(a->type) && is_surely_finite(a) && is_surely_finite(b)) {
    if (drops_identities && op == BinaryOp::Mul && is_number(a, 0)) return a;
    if (drops_identities && op == BinaryOp::Mul && is_number(b, 0)) return b;
    if (op == BinaryOp::Sub && kernel::same(a, b)) return kernel::constant(a->type, {.f = 0});
  }
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
      return kernel::binary(BinaryOp::Sub, a, simplified_binary(BinaryOp::Mul, positive, product->b, strict));
    }
  }
  // min(greatest, x) and max(least, x): the identities that windows start from
  if (drops_identities && (op == BinaryOp::Min || op == BinaryOp::Max)) {
    const auto* c = std::get_if<kernel::Const>(&a->op);
    const Type type{a->type, 1};
    if (c && c->value == (op == BinaryOp::Min ? ir::largest(type) : ir::least(type))) return b;
  }
  return kernel::binary(op, a, b);
}

Expr simplified_unary(ir::UnaryOp op, const Expr& a) {
  const bool rounds = op == ir::UnaryOp::Floor || op == ir::UnaryOp::Ceil || op == ir::UnaryOp::Rint ||
                      op == ir::UnaryOp::Trunc;
  return rounds && is_float_of_integer(a) ? a : kernel::unary(op, a);
}

Expr computable(const Expr& e) {
  const auto* rounded = e->type == Scalar::F16 ? std::get_if<kernel::Cast>(&e->op) : nullptr;
  if (rounded && is_half(rounded->a)) return rounded->a;
  return e->type == Scalar::F16 ? kernel::cast(ir::CastMode::Convert, Scalar::F32, e) : e;
}
Expr stored_as(Scalar type, const Expr& e) {
  return type == Scalar::F16 ? kernel::cast(ir::CastMode::Convert, type, e) : e;
}

ExpressionLowering::ExpressionLowering(const KernelContext& kernel, const ir::Stage& stage, Place place,
                                       std::vector<Expr> coords, const Names* names)
    : kernel_(kernel),
      layout_(kernel.layout),
      locals_(layout_.names),
      tables_(kernel.module.tables),
      networks_(kernel.module.networks),
      names_(names ? *names : kernel.names),
      stage_(stage),
      place_(place),
      strict_(kernel.module.strict),
      coords_(std::move(coords)) {
  count_uses(ir::expressions(stage));
}

void ExpressionLowering::share_with(const std::vector<const ir::Stage*>& others) {
  std::vector<ir::Expr> roots = ir::expressions(stage_);
  for (const ir::Stage* other : others) {
    for (ir::Expr& root : ir::expressions(*other)) roots.push_back(std::move(root));
  }
  uses_.clear();
  count_uses(roots);
}

void ExpressionLowering::count_uses(const std::vector<ir::Expr>& roots) {
  ir::visit(roots, [&](const ir::Expr& e) {
    for (const ir::Expr& operand : ir::operands(*e)) ++uses_[operand.get()];
  });
  for (const ir::Expr& root : roots) ++uses_[root.get()];
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
  if (!std::holds_alternative<ir::FoldResult>(e->op)) {
    for (const ir::Expr& operand : ir::operands(*e)) merge(free_loops(operand));
  }
  std::visit(ir::overloaded{
                 [](const ir::Operation auto&) {},
                 [](const ir::Const&) {},
                 [](const ir::ParamRef&) {},
                 [&](const ir::Quantity& n) { add_taps(n.value); },
                 [&](const ir::Read& n) {
                   for (const ir::Index& index : n.indices) {
                     if (const auto* affine = std::get_if<ir::Affine>(&index)) add_taps(*affine);
                   }
                 },
                 [&](const ir::Coefficient& n) { loops.insert(n.loop.get()); },
                 [&](const ir::Accumulated& n) { loops.insert(n.loop.get()); },
                 [&](const ir::FoldResult& n) { merge(free_loops(*n.fold)); },
                 [&](const ir::Median& n) { loops.erase(n.loop.get()); },
                 [](const ir::Operand&) {},
                 [](const ir::StepNumber&) {},
             },
             e->op);
  return free_loops_[e.get()] = std::move(loops);
}

std::unordered_set<const ir::Loop*> ExpressionLowering::free_loops(const ir::Fold& fold) {
  std::unordered_set<const ir::Loop*> loops;
  for (const ir::Expr& e : fold.next) loops.insert(free_loops(e).begin(), free_loops(e).end());
  loops.erase(fold.loop.get());
  for (const ir::Expr& e : fold.initial) loops.insert(free_loops(e).begin(), free_loops(e).end());
  return loops;
}

// ---- expressions -----------------------------------------------------------------------------------------

Lanes ExpressionLowering::lower(const ir::Expr& e) {
  if (const auto* value = known(e.get())) return value->front();
  Lanes lanes = named(e, compute(e));
  remember(e.get(), free_loops(e), {lanes});
  return lanes;
}

/// Gives a value a name of its own if it is used more than once, or if it is a whole stage computed in place.
Lanes ExpressionLowering::named(const ir::Expr& e, Lanes lanes) {
  const bool is_stage = names_.count(e.get()) > 0;
  if (!is_stage && uses_[e.get()] < 2) return lanes;
  if (!is_stage && std::holds_alternative<ir::Pack>(e->op)) return lanes;
  return with_names(e, std::move(lanes));
}

Lanes ExpressionLowering::with_names(const ir::Expr& e, Lanes lanes) {
  const auto stage = names_.find(e.get());
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const Expr& value = lanes[l];
    if (is_plain(value)) continue;
    const kernel::Symbol name =
        locals_.claim(lane_name(stage == names_.end() ? "v" : stage->second, l, lanes.size()));
    emit({kernel::Let{name, value}});
    lanes[l] = kernel::name(name, value->type);
  }
  return lanes;
}

Lanes ExpressionLowering::compute(const ir::Expr& e) {
  if (const auto table = row_tables_.find(e.get()); table != row_tables_.end()) return look_up(table->second);
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
            for (Expr& lane : lanes) lane = stored_as(scalar, simplified_unary(n.op, computable(lane)));
            return lanes;
          },
          [&](const ir::Binary& n) {
            const bool may_skip_b = scalar == Scalar::Bool && (n.op == BinaryOp::And || n.op == BinaryOp::Or);
            Lanes lanes = lower(n.a);
            const Lanes b = may_skip_b ? lower_branch(n.b) : lower(n.b);
            for (std::size_t l = 0; l < lanes.size(); ++l)
              lanes[l] =
                  stored_as(scalar, simplified_binary(n.op, computable(lanes[l]), computable(b[l]), strict_));
            return lanes;
          },
          [&](const ir::Select& n) {
            const Lanes condition = lower(n.condition), b = lower_branch(n.b);
            Lanes lanes = lower_branch(n.a);
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
          [&](const ir::Operand& n) { return operands_.at(n.side).at(n.component); },
          [&](const ir::StepNumber&) {
            return Lanes{!layout_.step_variable ? kernel::name(layout_.counter, scalar)
                                                : kernel::cast(ir::CastMode::Convert, scalar,
                                                               kernel::name(layout_.step_variable))};
          },
      },
      e->op);
}

/// What may be computed conditionally. In vector loops pixels are loaded before, not in a branch: of conditional
/// loads compilers make masked ones, which not all processors have for all types, and those of several lanes GCC 12
/// permutes differently from their masks.
Lanes ExpressionLowering::lower_branch(const ir::Expr& e) {
  Lanes lanes = lower(e);
  bool reads = false;
  ir::visit({e}, [&](const ir::Expr& inner) { reads |= std::holds_alternative<ir::Read>(inner->op); });
  return is_in_vector_loop() && reads ? with_names(e, std::move(lanes)) : lanes;
}

// ---- reads -----------------------------------------------------------------------------------------------

namespace {

Lanes pixel_at(const kernel::Symbol& array, Type type, const Expr& offset, std::int64_t lane_pitch = 1) {
  Lanes lanes;
  for (int l = 0; l < type.lanes; ++l)
    lanes.push_back(kernel::load(array, type.scalar, kernel::add(offset, kernel::literal(l * lane_pitch))));
  return lanes;
}

/// An empty source is memory that holds zeros; an empty region of another source has to be looked at.
bool may_be_empty_crop(const ir::Read& n, std::size_t d) {
  const ir::Affine& extent = n.region[d].extent;
  const bool has_pixels = extent.is_constant() && extent.constant() > 0;
  return n.region[d] != n.source->box[d] && !has_pixels;
}

}  // namespace

Lanes ExpressionLowering::read(const ir::Read& n, Type type) {
  if (const auto kept = kept_rows_.find(n.source.get()); kept != kept_rows_.end())
    return read_kept(kept->second, n, type);
  if (const auto kept = kept_columns_.find(n.source.get()); kept != kept_columns_.end())
    return read_column(kept->second, n, type);
  if (auto lanes = read_pack(n, type)) return *std::move(lanes);
  const ArrayLayout& array = layout_.arrays.at(n.source.get());
  if (const auto found = looked_up_.find(&n); found != looked_up_.end())
    return {kernel::load(found->second, type.scalar, i_)};
  if (const auto found = places_.find(&n); found != places_.end()) {
    const Expr place = kernel::cast(ir::CastMode::Convert, Scalar::I64,
                                    kernel::load(found->second.array, found->second.type, i_));
    return pixel_at(array.name, type, kernel::mul(place, kernel::literal(type.lanes)));
  }
  const bool direct = is_direct(n);
  Expr inside, outer = kernel::literal(0), along_x = kernel::literal(0);
  // A thread's pixels may have in common where they are in the other dimensions: what each computes is added last.
  Expr computed = kernel::literal(0);
  for (std::size_t d = 0; d < n.indices.size(); ++d) {
    const Expr index = index_in_array(n, d, direct, inside);
    if (d == 0) {
      along_x = kernel::mul(index, kernel::literal(type.lanes));
    } else {
      const bool is_affine = std::holds_alternative<ir::Affine>(n.indices[d]);
      Expr& sum = is_affine || place_ != Place::Thread ? outer : computed;
      sum = kernel::add(sum, kernel::mul(index, kernel::name(array.strides[d - 1])));
    }
  }

  kernel::Symbol base = array.name;
  if (direct && n.indices.size() > 1) {
    base = row_pointer(array, array.name, outer, n);
  } else {
    along_x = kernel::add(kernel::add(outer, along_x), computed);
  }
  if (!inside && place_ == Place::Thread && array.is_own && (type.lanes == 2 || type.lanes == 4))
    return pixel_at(whole_pixel(array, along_x), type, kernel::literal(0));
  Lanes lanes = pixel_at(base, type, along_x);
  return inside ? or_constant(inside, std::move(lanes), n) : lanes;
}

std::optional<Lanes> ExpressionLowering::read_pack(const ir::Read& n, Type type) {
  if (packs_.empty()) return std::nullopt;
  const ir::Read here = ir::at_taps(n, [&](const ir::TapCoord& tap) { return number_of(tap); });
  for (const Pack& pack : packs_) {
    if (!plan::have_the_same_row(pack.read, here)) continue;
    const analysis::Along x = analysis::footprint(here).front();
    if (x.min != x.max) continue;
    // In steps of several pixels reads are of their own columns, which the number says.
    const std::int64_t beside = x.is_unit(0) ? x.min : 0;
    const Expr column = kernel::add(number_in_pack_, kernel::literal(pack.before + beside));
    Lanes lanes = pixel_at(pack.array, type, kernel::mul(column, kernel::literal(type.lanes)));
    if (pack.inside) lanes = or_constant(pack.inside, std::move(lanes), n);
    return lanes;
  }
  return std::nullopt;
}

/// Where the read is along a dimension, counted from the start of the array that holds its source; to `inside` what has to
/// hold for a pixel to be there.
Expr ExpressionLowering::index_in_array(const ir::Read& n, std::size_t d, bool direct, Expr& inside) {
  const auto* affine = std::get_if<ir::Affine>(&n.indices[d]);
  Expr index = affine ? lower(*affine) : lower(std::get<ir::Expr>(n.indices[d]))[0];
  const bool constant = n.border && n.border->mode == ir::BorderMode::Constant;
  // At its own coordinate in a box of the same extent a read cannot leave the source.
  const bool at_own_coordinate = d < stage_.domain().size() && stage_.domain()[d] == n.region[d] &&
                                 distance_suffix(n.indices[d], static_cast<int>(d)) == "_0";
  // The interior lies within all ends of what is read with a constant border, rows lie anywhere.
  const bool has_row = d == 0 || (constant && place_ == Place::Interior);
  const bool is_inside =
      at_own_coordinate || (direct && has_row) ||
      (affine && n.border && analysis::stays_inside(*affine, n.region[d], stage_.domain()));
  if (n.border && !is_inside && constant) {
    const Expr local = kernel::sub(index, lower(n.region[d].min));
    inside =
        kernel::both(inside, kernel::both(kernel::binary(BinaryOp::Le, kernel::literal(0), local),
                                          kernel::binary(BinaryOp::Lt, local, lower(n.region[d].extent))));
  } else if (n.border && !is_inside) {
    index = bordered_index(n, d, index);
    if (may_be_empty_crop(n, d)) {
      const Expr some = kernel::binary(BinaryOp::Lt, kernel::literal(0), lower(n.region[d].extent));
      index = kernel::select(some, index, lower(n.source->box[d].min));
      inside = kernel::both(inside, some);
    }
  }
  return kernel::sub(index, lower(n.source->box[d].min));
}

ExpressionLowering::RowOfRead ExpressionLowering::row_of(const ir::Read& n) {
  const ArrayLayout& array = layout_.arrays.at(n.source.get());
  RowOfRead row{kernel::literal(0), nullptr};
  for (std::size_t d = 1; d < n.indices.size(); ++d) {
    const Expr index = index_in_array(n, d, false, row.inside);
    row.offset = kernel::add(row.offset, kernel::mul(index, kernel::name(array.strides[d - 1])));
  }
  return row;
}

/// What is read beyond the ends is the border's constant: zeros, unless it has one.
Lanes ExpressionLowering::or_constant(const Expr& inside, Lanes lanes, const ir::Read& n) {
  const Type type = n.source->type;
  Lanes otherwise(type.lanes, kernel::constant(type.scalar, ir::Value::integer(type, 0).lane[0]));
  if (n.border && n.border->constant) otherwise = lower(n.border->constant);
  for (std::size_t l = 0; l < lanes.size(); ++l) lanes[l] = kernel::select(inside, lanes[l], otherwise[l]);
  return lanes;
}

/// A local array of the lanes of a pixel, loaded at once: they lie at a multiple of their width.
kernel::Symbol ExpressionLowering::whole_pixel(const ArrayLayout& array, const Expr& offset) {
  if (const kernel::Symbol* known_pixel = find(What::Pixel, array.name, offset)) return *known_pixel;
  const kernel::Symbol name = locals_.claim(array.name.spelling() + "_pixel");
  const Expr lanes = kernel::literal(array.type.lanes);
  kernel::LoadPack load{name, array.name, array.type.scalar, array.type.lanes, offset, lanes};
  load.is_whole = true;
  emit({std::move(load)});
  auto scope = scopes_.rbegin();
  while (scope->tap) ++scope;
  scope->found.push_back({What::Pixel, array.name, name, offset});
  return name;
}

/// Whether it is inside along x at all pixels of the loop, and reads rows.
bool ExpressionLowering::is_direct(const ir::Read& n) const {
  if (!is_in_vector_loop() || analysis::access_of(n) != analysis::Access::Direct) return false;
  return place_ == Place::Interior || !n.border || n.indices.empty() ||
         analysis::stays_inside(std::get<ir::Affine>(n.indices[0]), n.region[0], stage_.domain());
}

Lanes ExpressionLowering::read_kept(const KeptRows& kept, const ir::Read& n, Type type) {
  const auto& x = std::get<ir::Affine>(n.indices[0]);
  ir::Scaled along;
  ir::as_scaled(analysis::at_extreme_tap(x, false), 0, &along);
  std::vector<Expr> row;
  for (std::size_t d = 1; d < n.indices.size(); ++d) {
    const auto& index = std::get<ir::Affine>(n.indices[d]);
    Expr& at = row.emplace_back(lower(index));
    const bool may_leave = kept.rows_of_source && n.border && n.border->mode != ir::BorderMode::Constant &&
                           !analysis::stays_inside(index, n.region[d], stage_.domain());
    if (!may_leave) continue;
    const Expr min = lower(n.region[d].min);
    const Expr found = kernel::add(
        kernel::index_call(index_op(n.border->mode), kernel::sub(at, min), lower(n.region[d].extent)), min);
    at = kept.are_copied ? kernel::select(kept.are_copied, at, found) : found;
  }
  if (kept.array_of) {
    const Expr distance = lower(x - ir::Affine(ir::Atom(ir::Coord{0})));
    return {kernel::load(kept.array_of(row), type.scalar,
                         kernel::add(i_, kernel::add(distance, kernel::literal(kept.shift))))};
  }
  const Expr start = kept.row(row);
  const auto row_from = [&](const Expr& offset) {
    return row_pointer(layout_.arrays.at(n.source.get()), kept.array, kernel::add(start, offset), n);
  };
  if (along.divisor > 1) {
    std::vector<Expr> coords = coords_;
    coords[0] = kernel::add(left_, i_);
    return pixel_at(row_from(kernel::literal(0)), type, kept.at(lower_affine(x, layout_, coords, taps_)),
                    kept.lane_pitch);
  }
  const Expr scale = kernel::literal(along.scale);
  const Expr distance = lower(x - ir::Affine(ir::Atom(ir::Coord{0})) * along.scale);
  const Expr away = kernel::add(distance, kernel::literal(kept.shift));
  const Expr pixel = kernel::add(kernel::mul(i_, scale), away);
  return pixel_at(row_from(kept.at(kernel::mul(left_, scale))), type,
                  kernel::mul(pixel, kernel::literal(pixel_pitch(type.lanes, kept.lane_pitch))),
                  kept.lane_pitch);
}

Lanes ExpressionLowering::read_column(const KeptColumn& kept, const ir::Read& n, Type type) {
  std::vector<Expr> at;
  Expr inside;
  for (std::size_t d = 0; d < n.indices.size(); ++d) at.push_back(index_in_array(n, d, false, inside));
  Lanes lanes = pixel_at(kept.array, type, kept.place(at), kept.lane_pitch);
  return inside ? or_constant(inside, std::move(lanes), n) : lanes;
}

const kernel::Symbol* ExpressionLowering::find(What what, const kernel::Symbol& array,
                                               const Expr& value) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    for (const Found& known_one : scope->found) {
      if (known_one.what == what && known_one.array == array && kernel::same(known_one.value, value))
        return &known_one.name;
    }
  }
  return nullptr;
}

/// Of a tap of the current point of an unrolled loop.
std::optional<std::int64_t> ExpressionLowering::number_of(const ir::TapCoord& tap) const {
  const auto taps = taps_.find(tap.loop.get());
  return taps == taps_.end() ? std::nullopt : kernel::literal_value(taps->second.at(tap.dim));
}

/// "_m1", "_0" or "_p2" for an index at a constant distance from the pixel's own coordinate, "" for any
/// other.
std::string ExpressionLowering::distance_suffix(const ir::Index& index, int dim) const {
  const auto* affine = std::get_if<ir::Affine>(&index);
  if (!affine) return "";
  const ir::Affine at_tap = ir::at_taps(*affine, [&](const ir::TapCoord& tap) { return number_of(tap); });
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
  if (is_in_vector_loop()) return inside;
  if (const kernel::Symbol* known_index = find(What::Index, {}, inside)) return kernel::name(*known_index);
  const std::string suffix = distance_suffix(n.indices[dim], static_cast<int>(dim));
  const kernel::Symbol name =
      locals_.claim(ir::dim_name(static_cast<int>(dim)) + (suffix.empty() ? "_in" : suffix));
  emit({kernel::Let{name, inside}});
  auto scope = scopes_.rbegin();
  while (scope->tap) ++scope;
  scope->found.push_back({What::Index, {}, name, inside});
  return kernel::name(name);
}

/// A pointer to the row of a source at `offset` in the array that holds it, found once outside the loop over
/// pixels; `row` is its index if the source is 2-D.
kernel::Symbol ExpressionLowering::row_pointer(const ArrayLayout& source, const kernel::Symbol& array,
                                               const Expr& offset, const ir::Read& read) {
  if (const kernel::Symbol* known_row = find(What::Row, array, offset)) return *known_row;
  std::string suffix;
  for (int d = 1; d < static_cast<int>(read.indices.size()); ++d)
    suffix += distance_suffix(read.indices[d], d);
  const kernel::Symbol name = locals_.claim(source.name.spelling() + (suffix.empty() ? "_row" : suffix));
  const auto scope =
      std::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& s) { return s.rows != nullptr; });
  scope->rows->push_back({kernel::Pointer{name, array, source.type.scalar, offset}});
  scope->found.push_back({What::Row, array, name, offset});
  return name;
}

}  // namespace weft::lower
