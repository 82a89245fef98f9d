#include <weft/expr.h>

#include "dsl/builder.h"
#include "ir/bindings.h"
#include "ir/build.h"

namespace weft {

using ir::BinaryOp;
using ir::UnaryOp;

namespace {

using detail::Here;

/// Gives the mistakes of building a node the place in the user's source.
template <class Build>
Expr placed(const Here& here, Build build) {
  try {
    return Expr(build());
  } catch (const Error& e) {
    throw e.within("", here);
  }
}

Expr unary(UnaryOp op, const Expr& a) { return Expr(ir::unary(op, a.node())); }
Expr binary(BinaryOp op, const Expr& a, const Expr& b, const Here& here) {
  return placed(here, [&] { return ir::binary(op, a.node(), b.node()); });
}
Expr binary(BinaryOp op, const Operand& a, const Operand& b) { return binary(op, a.value, b.value, a.here); }
ir::Expr literal(Type type, std::int64_t value) { return ir::constant(ir::Value::integer(type, value)); }

}  // namespace

Expr::Expr(bool value) : node_(literal(type_of<bool>(), value)) {}
Expr::Expr(std::int8_t value) : node_(literal(type_of<std::int8_t>(), value)) {}
Expr::Expr(std::uint8_t value) : node_(literal(type_of<std::uint8_t>(), value)) {}
Expr::Expr(std::int16_t value) : node_(literal(type_of<std::int16_t>(), value)) {}
Expr::Expr(std::uint16_t value) : node_(literal(type_of<std::uint16_t>(), value)) {}
Expr::Expr(int value) : node_(literal(type_of<int>(), value)) {}
Expr::Expr(unsigned value) : node_(literal(type_of<unsigned>(), value)) {}
Expr::Expr(std::int64_t value) : node_(literal(type_of<std::int64_t>(), value)) {}
Expr::Expr(std::uint64_t value)
    : node_(literal(type_of<std::uint64_t>(), static_cast<std::int64_t>(value))) {}
Expr::Expr(float value) : node_(ir::constant(type_of<float>(), value)) {}
Expr::Expr(half value) : node_(ir::constant(type_of<half>(), value)) {}
Expr::Expr(double value) : node_(ir::constant(type_of<double>(), value)) {}
Expr::Expr(const Index& value) : node_(ir::quantity(value.affine())) {}

Type Expr::type() const { return node_->type; }
Expr Expr::lane(int i, std::source_location here) const {
  return placed(here, [&] { return ir::lane(node_, i); });
}

Expr& Expr::operator+=(const Operand& value) & { return *this = Operand(*this, value.here) + value; }
Expr& Expr::operator-=(const Operand& value) & { return *this = Operand(*this, value.here) - value; }
Expr& Expr::operator*=(const Operand& value) & { return *this = Operand(*this, value.here) * value; }
Expr& Expr::operator/=(const Operand& value) & { return *this = Operand(*this, value.here) / value; }

Index::Index(ir::Affine affine) : affine_(std::make_shared<const ir::Affine>(std::move(affine))) {}

Index Index::constant(std::int64_t value) { return Index(ir::Affine(value)); }

Index operator+(const Index& a, const Index& b) { return Index(a.affine() + b.affine()); }
Index operator-(const Index& a, const Index& b) { return Index(a.affine() - b.affine()); }
Index operator-(const Index& a) { return Index(a.affine() * -1); }

namespace detail {

Index add(const Index& a, std::int64_t b) { return Index(a.affine() + b); }
Index multiply(const Index& a, std::int64_t b) { return Index(a.affine() * b); }
Index floor_divide(const Index& a, std::int64_t b) {
  if (b == 0) throw Error("an index is divided by 0");
  return b > 0 ? Index(a.affine().floor_div(b)) : Index((a.affine() * -1).floor_div(-b));
}
Index modulo(const Index& a, std::int64_t b) {
  if (b <= 0) throw Error("the divisor of an index modulo has to be positive");
  return Index(a.affine() - a.affine().floor_div(b) * b);
}

Expr declare_param(const char* name, Type type, double value, const ValueRange& range, const Where& where) {
  auto param = std::make_shared<const ir::Param>(ir::Param{name, ir::Value::real(type, value), range, where});
  ir::check_range(*param, value);
  if (auto* builder = dsl::Builder::current()) builder->params.push_back(param);
  return Expr(ir::param_ref(std::move(param)));
}

}  // namespace detail

Expr operator-(const Expr& a) { return unary(UnaryOp::Neg, a); }
Expr operator!(const Expr& a) { return unary(UnaryOp::Not, a); }
Expr operator~(const Operand& a) {
  return placed(a.here, [&] { return ir::unary(UnaryOp::BitNot, a.value.node()); });
}
Expr operator+(const Operand& a, const Operand& b) { return binary(BinaryOp::Add, a, b); }
Expr operator-(const Operand& a, const Operand& b) { return binary(BinaryOp::Sub, a, b); }
Expr operator*(const Operand& a, const Operand& b) { return binary(BinaryOp::Mul, a, b); }
Expr operator/(const Operand& a, const Operand& b) { return binary(BinaryOp::Div, a, b); }
Expr operator%(const Operand& a, const Operand& b) { return binary(BinaryOp::Rem, a, b); }
Expr operator&(const Operand& a, const Operand& b) { return binary(BinaryOp::And, a, b); }
Expr operator|(const Operand& a, const Operand& b) { return binary(BinaryOp::Or, a, b); }
Expr operator^(const Operand& a, const Operand& b) { return binary(BinaryOp::Xor, a, b); }
Expr operator<<(const Operand& a, const Operand& b) { return binary(BinaryOp::Shl, a, b); }
Expr operator>>(const Operand& a, const Operand& b) { return binary(BinaryOp::Shr, a, b); }
Expr operator<(const Operand& a, const Operand& b) { return binary(BinaryOp::Lt, a, b); }
Expr operator<=(const Operand& a, const Operand& b) { return binary(BinaryOp::Le, a, b); }
Expr operator>(const Operand& a, const Operand& b) { return binary(BinaryOp::Lt, b, a); }
Expr operator>=(const Operand& a, const Operand& b) { return binary(BinaryOp::Le, b, a); }
Expr operator==(const Operand& a, const Operand& b) { return binary(BinaryOp::Eq, a, b); }
Expr operator!=(const Operand& a, const Operand& b) { return binary(BinaryOp::Ne, a, b); }
Expr operator&&(const Operand& a, const Operand& b) {
  return binary(BinaryOp::And, Expr(ir::is_true(a.value.node())), Expr(ir::is_true(b.value.node())), a.here);
}
Expr operator||(const Operand& a, const Operand& b) {
  return binary(BinaryOp::Or, Expr(ir::is_true(a.value.node())), Expr(ir::is_true(b.value.node())), a.here);
}

Expr min(const Expr& a, const Expr& b, Here here) { return binary(BinaryOp::Min, a, b, here); }
Expr max(const Expr& a, const Expr& b, Here here) { return binary(BinaryOp::Max, a, b, here); }
Expr clamp(const Expr& a, const Expr& low, const Expr& high, Here here) {
  return min(max(a, low, here), high, here);
}
Expr abs(const Expr& a) { return unary(UnaryOp::Abs, a); }
#define ROW(op, name, ...) \
  Expr name(const Expr& a) { return unary(UnaryOp::op, a); }
WEFT_FUNCTIONS_OF_ONE(ROW)
#undef ROW
#define ROW(op, name, ...) \
  Expr name(const Expr& a, const Expr& b, Here here) { return binary(BinaryOp::op, a, b, here); }
WEFT_FUNCTIONS_OF_TWO(ROW)
#undef ROW
Expr lerp(const Expr& a, const Expr& b, const Expr& t, Here here) {
  return Operand(a, here) + Operand(t, here) * (Operand(b, here) - a);
}
Expr select(const Expr& condition, const Expr& a, const Expr& b, Here here) {
  return placed(here, [&] { return ir::select(condition.node(), a.node(), b.node()); });
}

Expr pack(const std::vector<Expr>& lanes, Here here) {
  std::vector<ir::Expr> nodes;
  for (const Expr& e : lanes) nodes.push_back(e.node());
  return placed(here, [&] { return ir::pack(std::move(nodes)); });
}
Expr dot(const Expr& a, const Expr& b, Here here) {
  const Expr products = Operand(a, here) * b;
  Expr sum = products.lane(0);
  for (int i = 1; i < products.type().lanes; ++i) sum = sum + products.lane(i);
  return sum;
}
Expr cast(Type type, const Expr& a, Here here) {
  return placed(here, [&] { return ir::cast(ir::CastMode::Convert, type, a.node()); });
}
Expr saturate(Type type, const Expr& a, Here here) {
  return placed(here, [&] { return ir::cast(ir::CastMode::Saturate, type, a.node()); });
}

}  // namespace weft
