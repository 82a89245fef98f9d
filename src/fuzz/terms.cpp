#include "fuzz/terms.h"

#include "fuzz/operators.h"
#include "ir/build.h"

namespace weft::fuzz {
namespace {

Expr sample(Type type) { return Expr(ir::constant(ir::Value::integer(type, 1))); }

bool is_bitwise(Op op) { return op == Op::BitNot || (op >= Op::And && op <= Op::Shr); }

/// Simple arithmetic more often than the rest.
Op any_op(Dice& dice) {
  if (dice.chance(0.45)) return dice.one_of<Op>({Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Select});
  return static_cast<Op>(dice.below(op_count));
}

}  // namespace

Context Context::deeper() const {
  Context result = *this;
  --result.depth;
  return result;
}

Term Terms::operation(Op op, std::vector<Term> operands) {
  std::vector<Expr> samples;
  for (const Term& t : operands) samples.push_back(sample(t.type));
  Term result{.kind = Term::Kind::Operator, .type = operator_of(op).apply(samples).type(), .op = op};
  result.operands = std::move(operands);
  return result;
}

Term Terms::cast(Term::Kind kind, Scalar to, Term operand) {
  Term result{.kind = kind, .type = operand.type.lane()};
  result.type = {to, operand.type.lanes};
  result.operands = {std::move(operand)};
  return result;
}

Term Terms::literal(Scalar scalar) {
  const Type type{scalar, 1};
  const double value = dice_.between(-32, 32) / 8.;
  ir::Value v =
      is_float(scalar) ? ir::Value::real(type, value) : ir::Value::integer(type, dice_.between(-3, 9));
  if (is_integer(scalar) && dice_.chance(0.15)) {
    v = ir::largest(type);
    if (scalar == Scalar::I64 || scalar == Scalar::U64) v.lane[0].i = std::int64_t{1} << 40;
  }
  return {.kind = Term::Kind::Literal, .type = type, .literal = v};
}

Term Terms::compared(Op op, int coordinate, const Size& size) {
  Term position{.kind = Term::Kind::Position, .type = {Scalar::I64, 1}}, limit = position;
  position.position.coordinate = coordinate;
  limit.position.offset = size;
  return operation(op, {position, limit});
}

Term Terms::position(const Context& context) {
  Term result{.kind = Term::Kind::Position, .type = {Scalar::I64, 1}};
  Index& index = result.position;
  if (!context.loops.empty() && dice_.chance(0.5))
    add_tap(index, dice_.below(2), context);
  else if (dice_.chance(0.85))
    index.coordinate = dice_.below(static_cast<int>(context.box.size()));
  else
    index.offset = context.box[dice_.below(static_cast<int>(context.box.size()))].extent;
  if (dice_.chance(0.3)) index.offset.offset += dice_.between(-3, 3);
  if (dice_.chance(0.2)) index.divisor = dice_.between(2, 3);
  if (dice_.chance(0.15)) index.modulo = dice_.between(2, 4);
  return result;
}

Term Terms::leaf(const Context& context) {
  const int dice = dice_.below(20);
  if (context.given && dice < 14)
    return fitting({.kind = Term::Kind::Given, .type = *context.given}, context.lanes);
  if (!context.accumulators.empty() && dice < 7) {
    const auto& [id, type] = dice_.one_of(context.accumulators);
    return fitting({.kind = Term::Kind::Accumulator, .type = type, .id = id}, context.lanes);
  }
  if (dice == 14 && !recipe_.params.empty()) {
    const int p = dice_.below(static_cast<int>(recipe_.params.size()));
    return {.kind = Term::Kind::Parameter, .type = {recipe_.params[p].scalar, 1}, .id = p};
  }
  if (dice == 15 && context.in_body()) return position(context);
  if (dice == 16 && context.in_update() && dice_.chance(0.5))
    return {.kind = Term::Kind::StepNumber, .type = {Scalar::I32, 1}};
  if (dice == 16) return literal(dice_.scalar());
  if (dice == 17 && !context.loops.empty() && !context.loops.back().second.coefficients.empty()) {
    const auto& [loop, mask] = context.loops.back();
    Term t{.kind = Term::Kind::Coefficient, .type = {mask.scalar, 1}, .id = loop};
    t.window = mask;
    return t;
  }
  return fitting(read(context), context.lanes);
}

/// The term, or one lane of it, so that it fits others of `lanes` lanes.
Term Terms::fitting(Term term, int lanes) {
  if (term.type.lanes == 1 || term.type.lanes == lanes) return term;
  if (term.kind == Term::Kind::Pack) {  // the other lanes, and what they read, would not be there
    const Scalar scalar = term.type.scalar;
    return cast(Term::Kind::Cast, scalar, std::move(term.operands.at(dice_.below(term.type.lanes))));
  }
  Term result{.kind = Term::Kind::Lane, .type = term.type.lane(), .id = dice_.below(term.type.lanes)};
  result.operands = {std::move(term)};
  return result;
}

Term Terms::random_operation(const Context& context) {
  const Op op = any_op(dice_);
  Context inner = context.deeper();
  std::vector<Term> operands;
  for (int i = 0; i < operator_of(op).arity; ++i) {
    if (op == Op::Select && i == 0)
      operands.push_back(condition(inner));
    else
      operands.push_back(is_bitwise(op) ? integer(inner) : term(inner));
  }
  if (op == Op::Dot && operands[0].type.lanes != operands[1].type.lanes) return operands[0];
  if (op == Op::Log || op == Op::Sqrt || (op == Op::Pow && !recipe_.strict)) {
    if (dice_.chance(0.8))
      operands[0] = operation(Op::Max, {operation(Op::Abs, {operands[0]}), literal(Scalar::U8)});
  }
  if ((op == Op::Div || op == Op::Atan2) && !recipe_.strict && dice_.chance(0.8))
    operands[1] =
        operation(Op::Add, {operation(Op::Abs, {operands[1]}), operation(Op::Abs, {literal(Scalar::F32)})});
  return operation(op, std::move(operands));
}

Term Terms::packed(const Context& context) {
  Context inner = context.deeper();
  inner.lanes = 1;
  Term result{.kind = Term::Kind::Pack, .type = {}};
  for (int i = 0; i < context.lanes; ++i) result.operands.push_back(term(inner));
  result.type = result.operands[0].type;
  for (const Term& t : result.operands) {
    if (t.type.scalar != result.type.scalar) result.type = ir::common_type(result.type, t.type);
  }
  result.type.lanes = context.lanes;
  return result;
}

/// Some points of the window; the same one may not come twice.
void Terms::list_points(Window& w) {
  for (int i = dice_.between(1, std::min(4, w.points())); i > 0; --i) {
    const std::array<int, 2> point = {dice_.between(w.least(0), w.greatest(0)),
                                      dice_.between(w.least(1), w.greatest(1))};
    if (std::find(w.listed.begin(), w.listed.end(), point) == w.listed.end()) w.listed.push_back(point);
  }
}

Window Terms::window(int most_points) {
  Window w{.width = dice_.between(1, 5), .height = dice_.between(1, 5)};
  if (dice_.chance(0.1)) w.depth = dice_.between(1, 3);
  while (w.points() > most_points) {
    int& side = w.depth > 1 ? w.depth : w.width > w.height ? w.width : w.height;
    --side;
  }
  if (w.depth == 0 && dice_.chance(0.12)) {
    list_points(w);
    return w;
  }
  if (w.depth > 0 || dice_.chance(0.4)) return w;
  w.scalar = dice_.one_of<Scalar>({Scalar::I32, Scalar::F32, Scalar::F64});
  for (int i = 0; i < w.width * w.height; ++i) {
    const int c = dice_.between(-3, 4);
    w.coefficients.push_back(w.scalar == Scalar::I32 ? c : c / 4.);
  }
  w.coefficients[static_cast<std::size_t>(w.width * w.height / 2)] = 1;
  return w;
}

Term Terms::window_term(const Context& context) {
  Term result{.kind = Term::Kind::Window, .id = next_loop_++};
  result.combine = static_cast<Combine>(dice_.below(5));
  result.window = window(most_taps / context.taps);
  Context inner = context.deeper();
  inner.loops.emplace_back(result.id, result.window);
  inner.taps *= result.window.points();
  result.operands = {term(inner)};
  const Type type = result.operands[0].type;
  result.type = combined(result.combine, Domain(1, 1), [&](Tap) { return sample(type); }).type();
  return result;
}

Term Terms::fold(const Context& context) {
  Term result{.kind = Term::Kind::Fold, .id = next_loop_++};
  result.window = window(most_taps / context.taps);
  Context after = context.deeper();
  const int count = dice_.between(1, accumulators_per_loop - 1);
  for (int a = 0; a < count; ++a) {
    Term initial = dice_.chance(0.5) ? literal(dice_.scalar()) : leaf(context.deeper());
    after.accumulators.emplace_back(accumulator_of(result.id, a), initial.type);
    result.operands.push_back(std::move(initial));
  }
  Context inner = after;
  inner.loops.emplace_back(result.id, result.window);
  inner.taps *= result.window.points();
  for (int a = 0; a < count; ++a) {
    const auto [id, type] =
        after.accumulators[after.accumulators.size() - static_cast<std::size_t>(count - a)];
    inner.lanes = type.lanes;
    Term next = term(inner);
    if (dice_.chance(0.7)) {
      const Op op = dice_.one_of<Op>({Op::Add, Op::Add, Op::Sub, Op::Min, Op::Max, Op::Mul});
      next = operation(op, {Term{.kind = Term::Kind::Accumulator, .type = type, .id = id}, std::move(next)});
    }
    result.operands.push_back(std::move(next));
  }
  Term last = term(after);
  result.type = last.type;
  result.operands.push_back(std::move(last));
  return result;
}

Term Terms::term(const Context& context) {
  if (context.depth <= 0 || dice_.chance(0.1)) return leaf(context);
  Term result;
  const int dice = dice_.below(20);
  if (dice < 2)
    result = cast(Term::Kind::Cast, dice_.scalar(), term(context.deeper()));
  else if (dice == 2)
    result = cast(Term::Kind::Saturate, dice_.scalar(), term(context.deeper()));
  else if (dice == 3 && context.lanes > 1)
    result = packed(context);
  else if (dice == 4 && context.lanes > 1)
    result = fitting(term(context.deeper()), 1);
  else if (dice < 7 && context.in_body() && context.loops.size() < 2)
    result = window_term(context);
  else if (dice < 9 && context.in_body() && context.loops.size() < 2)
    result = fold(context);
  else
    result = random_operation(context);
  return is_legal(result) ? result : leaf(context);
}

Term Terms::integer(const Context& context) {
  Term result = term(context);
  if (!is_float(result.type.scalar)) return result;
  result = cast(Term::Kind::Cast,
                dice_.one_of<Scalar>({Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8,
                                      Scalar::U16, Scalar::U32, Scalar::U64}),
                std::move(result));
  return is_legal(result) ? result : literal(Scalar::I32);
}

Term Terms::condition(const Context& context) {
  Term a = term(context), b = term(context);
  Term result =
      operation(static_cast<Op>(dice_.between(static_cast<int>(Op::Lt), static_cast<int>(Op::Ne))), {a, b});
  return is_legal(result) ? result : literal(Scalar::Bool);
}

}  // namespace weft::fuzz
