#include "ir/build.h"

#include <algorithm>

namespace weft::ir {
namespace {

template <class Op>
Expr make(Type type, Op op) {
  return std::make_shared<const Node>(Node{type, std::move(op)});
}

int common_lanes(int a, int b, const std::string& what) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  throw Error(what + " joins a pixel of " + std::to_string(a) + " lanes and one of " + std::to_string(b));
}

Expr converted(Expr a, Type type) {
  if (a->type == type) return a;
  if (a->type.lanes == type.lanes) return cast(CastMode::Convert, type.lane(), std::move(a));
  Expr one = cast(CastMode::Convert, type.lane(), std::move(a));
  return pack(std::vector<Expr>(type.lanes, one));
}

/// The type that a function of floats computes with.
Scalar in_floats(Scalar s) { return is_float(s) ? s : size_of(s) == 8 ? Scalar::F64 : Scalar::F32; }

}  // namespace

Type promoted(Type a) {
  if (a.scalar == Scalar::F16) return {Scalar::F32, a.lanes};
  if (is_float(a.scalar) || size_of(a.scalar) >= 4) return a;
  return {Scalar::I32, a.lanes};
}

Type common_type(Type a, Type b) {
  const int lanes = common_lanes(a.lanes, b.lanes, "an operator");
  const Scalar p = promoted(a).scalar, q = promoted(b).scalar;
  if (p == Scalar::F64 || q == Scalar::F64) return {Scalar::F64, lanes};
  if (p == Scalar::F32 || q == Scalar::F32) return {Scalar::F32, lanes};
  const Scalar wide = size_of(p) >= size_of(q) ? p : q;
  const bool is_unsigned = size_of(p) == size_of(q) ? !is_signed(p) || !is_signed(q) : !is_signed(wide);
  if (size_of(wide) == 8) return {is_unsigned ? Scalar::U64 : Scalar::I64, lanes};
  return {is_unsigned ? Scalar::U32 : Scalar::I32, lanes};
}

Expr constant(Value value) { return make(value.type, Const{value}); }
Expr constant(Type type, double value) { return constant(Value::real(type, value)); }
Expr quantity(Affine value) { return make(Type{Scalar::I64, 1}, Quantity{std::move(value)}); }
Expr param_ref(std::shared_ptr<const Param> param) {
  const Type type = param->initial.type;
  return make(type, ParamRef{std::move(param)});
}

namespace {

const Value* value_of(const Expr& e) {
  const auto* constant = std::get_if<Const>(&e->op);
  return constant ? &constant->value : nullptr;
}

}  // namespace

Expr unary(UnaryOp op, Expr a) {
  Type type = promoted(a->type);
  if (op == UnaryOp::Not) type.scalar = Scalar::Bool;
  if (op == UnaryOp::BitNot && is_float(type.scalar))
    throw Error("~ needs an integer, not " + name_of(a->type));
  if (function_of(op)) type.scalar = in_floats(type.scalar);
  if (op == UnaryOp::Not) return make(type, Unary{op, is_true(std::move(a))});
  a = converted(std::move(a), type);
  // Compilers round functions of constants otherwise than the C library, which computes all others.
  if (const Value* known = function_of(op) ? value_of(a) : nullptr) {
    Value result{type, {}};
    for (int l = 0; l < type.lanes; ++l) result.lane[l] = apply(op, type.scalar, known->lane[l]);
    return constant(result);
  }
  return make(type, Unary{op, std::move(a)});
}

Expr binary(BinaryOp op, Expr a, Expr b) {
  common_lanes(a->type.lanes, b->type.lanes, name_of(op));
  Type type = common_type(a->type, b->type);
  const bool bits = op >= BinaryOp::And && op <= BinaryOp::Shr;
  const bool logical = op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor || is_comparison(op);
  if (bits && is_float(type.scalar)) throw Error(name_of(op) + " needs integers, not " + name_of(type));
  if (logical && a->type.scalar == Scalar::Bool && b->type.scalar == Scalar::Bool) type.scalar = Scalar::Bool;
  if (op == BinaryOp::Min || op == BinaryOp::Max) {
    if (a->type.scalar == b->type.scalar) type.scalar = a->type.scalar;  // as std::min
  }
  if (function_of(op)) type.scalar = in_floats(type.scalar);
  if (op == BinaryOp::Shl || op == BinaryOp::Shr)
    type.scalar = promoted(a->type).scalar;  // the left operand's
  const Type result = is_comparison(op) ? Type{Scalar::Bool, type.lanes} : type;
  a = converted(std::move(a), type), b = converted(std::move(b), type);
  const Value *left = value_of(a), *right = value_of(b);
  if (function_of(op) && left && right) {  // as above
    Value known{result, {}};
    for (int l = 0; l < result.lanes; ++l)
      known.lane[l] = apply(op, type.scalar, left->lane[l], right->lane[l]);
    return constant(known);
  }
  return make(result, Binary{op, std::move(a), std::move(b)});
}

Expr select(Expr condition, Expr a, Expr b) {
  condition = is_true(std::move(condition));
  Type type = a->type.scalar == b->type.scalar
                  ? Type{a->type.scalar, common_lanes(a->type.lanes, b->type.lanes, "select")}
                  : common_type(a->type, b->type);
  type.lanes = common_lanes(type.lanes, condition->type.lanes, "select");
  return make(type,
              Select{std::move(condition), converted(std::move(a), type), converted(std::move(b), type)});
}

Expr cast(CastMode mode, Type to, Expr a) {
  if (to.lanes != 1 && to.lanes != a->type.lanes) {
    throw Error("cannot cast " + name_of(a->type) + " to " + name_of(to) + ": the lanes differ");
  }
  to.lanes = a->type.lanes;
  if (to == a->type) return a;
  if (const auto* value = std::get_if<Const>(&a->op)) {
    Value folded{to, {}};
    for (int l = 0; l < to.lanes; ++l) {
      folded.lane[l] = convert(mode, a->type.scalar, to.scalar, value->value.lane[l]);
    }
    return constant(folded);
  }
  return make(to, Cast{mode, std::move(a)});
}

Expr pack(std::vector<Expr> lanes) {
  if (lanes.size() < 2 || lanes.size() > 4)
    throw Error("a pixel has 2 to 4 lanes, not " + std::to_string(lanes.size()));
  Type type = lanes[0]->type;
  for (const Expr& e : lanes) {
    if (e->type.lanes != 1) throw Error("the lanes of a pixel are scalars, not " + name_of(e->type));
    if (e->type.scalar != type.scalar) type = common_type(type, e->type);
  }
  for (Expr& e : lanes) e = converted(e, type);
  type.lanes = static_cast<int>(lanes.size());
  return make(type, Pack{std::move(lanes)});
}

Expr lane(Expr a, int lane) {
  if (lane < 0 || lane >= a->type.lanes) {
    throw Error("lane " + std::to_string(lane) + " of a pixel of " + std::to_string(a->type.lanes));
  }
  if (a->type.lanes == 1) return a;
  if (const auto* packed = std::get_if<Pack>(&a->op)) return packed->lanes[lane];
  const Type type = a->type.lane();
  return make(type, Lane{std::move(a), lane});
}

Expr read(Read read) {
  const Type type = read.source->type;
  for (Index& index : read.indices) {
    if (auto* computed = std::get_if<Expr>(&index))
      *computed = cast(CastMode::Convert, Type{Scalar::I64, 1}, *computed);
  }
  return make(type, std::move(read));
}

Expr coefficient(std::shared_ptr<const Loop> loop, std::shared_ptr<const Mask> mask) {
  const Type type = mask->type;
  return make(type, Coefficient{std::move(loop), std::move(mask)});
}
Expr accumulated(std::shared_ptr<const Loop> loop, int accumulator, Type type) {
  return make(type, Accumulated{std::move(loop), accumulator});
}
Expr operand(int side, int component, Type type) { return make(type, Operand{side, component}); }
Expr step_number() { return make({Scalar::I32, 1}, StepNumber{}); }
Expr fold_result(std::shared_ptr<const Fold> fold, int accumulator) {
  const Type type = fold->initial[accumulator]->type;
  return make(type, FoldResult{std::move(fold), accumulator});
}
Expr median(std::shared_ptr<const Loop> loop, Expr value) {
  const Type type = value->type;
  return make(type, Median{std::move(loop), std::move(value)});
}

Expr is_true(Expr a) {
  if (a->type.scalar == Scalar::Bool) return a;
  return cast(CastMode::Convert, Type{Scalar::Bool, 1}, std::move(a));
}

}  // namespace weft::ir
