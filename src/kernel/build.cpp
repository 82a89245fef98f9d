#include "kernel/build.h"

namespace weft::kernel {

using ir::BinaryOp;

namespace {

template <class Op>
Expr make(Scalar type, Op op) {
  return std::make_shared<const Node>(Node{type, std::move(op)});
}

}  // namespace

Expr constant(Scalar type, ir::Number value) {
  ir::Value v{Type{type, 1}, {}};
  v.lane[0] = value;
  return make(type, Const{v});
}
Expr literal(std::int64_t value) { return constant(Scalar::I64, {.i = value}); }
Expr name(Symbol name, Scalar type) { return make(type, Name{std::move(name)}); }
Expr unary(ir::UnaryOp op, Expr a) {
  const Scalar type = a->type;
  return make(type, Unary{op, std::move(a)});
}

Expr binary(BinaryOp op, Expr a, Expr b) {
  const Scalar type = ir::is_comparison(op) ? Scalar::Bool : a->type;
  return make(type, Binary{op, std::move(a), std::move(b)});
}

Expr select(Expr condition, Expr a, Expr b) {
  if (const auto known = literal_value(condition)) return *known ? a : b;
  if (const auto* other = std::get_if<Select>(&b->op); other && same(other->condition, condition))
    b = other->b;
  const Scalar type = a->type;
  return make(type, Select{std::move(condition), std::move(a), std::move(b)});
}

Expr cast(ir::CastMode mode, Scalar to, Expr a) {
  if (a->type == to) return a;
  if (const auto* c = std::get_if<Const>(&a->op))
    return constant(to, ir::convert(mode, a->type, to, c->value.lane[0]));
  return make(to, Cast{mode, std::move(a)});
}

Expr fitting_cast(Scalar to, Expr a) { return make(to, Cast{ir::CastMode::Convert, std::move(a), true}); }

Expr index_call(IndexOp op, Expr a, Expr b) {
  const Scalar type = a->type;
  return make(type, IndexCall{op, std::move(a), std::move(b)});
}
Expr half_of_sum(Expr a, Expr b) { return make(a->type, HalfOfSum{a, std::move(b)}); }
Expr load(Symbol array, Scalar type, Expr index) {
  return make(type, Load{std::move(array), std::move(index)});
}

std::pair<Expr, std::int64_t> split_constant(const Expr& e) {
  if (const auto* b = std::get_if<Binary>(&e->op); b && e->type == Scalar::I64) {
    const auto c = literal_value(b->b);
    if (c && b->op == BinaryOp::Add) return {b->a, *c};
    if (c && b->op == BinaryOp::Sub) return {b->a, -*c};
  }
  return {e, 0};
}

Expr offset(Expr e, std::int64_t by) {
  if (by == 0) return e;
  const Scalar type = e->type;
  if (by > 0) return make(type, Binary{BinaryOp::Add, std::move(e), constant(type, {.i = by})});
  return make(type, Binary{BinaryOp::Sub, std::move(e), constant(type, {.i = -by})});
}

Expr add(Expr a, Expr b) {
  const auto [x, c] = split_constant(a);
  const auto [y, d] = split_constant(b);
  const auto p = literal_value(x), q = literal_value(y);
  if (p && q) return literal(*p + *q + c + d);
  if (q) return offset(x, c + d + *q);
  if (p) return offset(y, c + d + *p);
  return offset(make(Scalar::I64, Binary{BinaryOp::Add, x, y}), c + d);
}

Expr sub(Expr a, Expr b) {
  const auto [x, c] = split_constant(a);
  const auto [y, d] = split_constant(b);
  const auto p = literal_value(x), q = literal_value(y);
  if (p && q) return literal(*p - *q + c - d);
  if (q) return offset(x, c - d - *q);
  if (same(x, y)) return literal(c - d);
  return offset(make(Scalar::I64, Binary{BinaryOp::Sub, p ? offset(x, 0) : x, y}), c - d);
}

Expr mul(Expr a, Expr b) {
  const auto p = literal_value(a), q = literal_value(b);
  if (p && q) return literal(*p * *q);
  if (p) return mul(b, a);
  if (q && *q == 0) return literal(0);
  if (q && *q == 1) return a;
  return make(Scalar::I64, Binary{BinaryOp::Mul, std::move(a), std::move(b)});
}

Expr div(Expr a, Expr b) {
  const auto p = literal_value(a), q = literal_value(b);
  if (p && q && *q > 0) return literal(*p / *q);
  if (q && *q == 1) return a;
  return make(Scalar::I64, Binary{BinaryOp::Div, std::move(a), std::move(b)});
}

Expr min(Expr a, Expr b) {
  const auto [x, c] = split_constant(a);
  const auto [y, d] = split_constant(b);
  if (same(x, y)) return c <= d ? a : b;
  const auto p = literal_value(a), q = literal_value(b);
  if (p && q) return *p <= *q ? a : b;
  return make(Scalar::I64, Binary{BinaryOp::Min, std::move(a), std::move(b)});
}

Expr max(Expr a, Expr b) {
  const auto [x, c] = split_constant(a);
  const auto [y, d] = split_constant(b);
  if (same(x, y)) return c >= d ? a : b;
  const auto p = literal_value(a), q = literal_value(b);
  if (p && q) return *p >= *q ? a : b;
  return make(Scalar::I64, Binary{BinaryOp::Max, std::move(a), std::move(b)});
}

Expr min(const std::vector<Expr>& values) {
  Expr least = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) least = min(least, values[i]);
  return least;
}
Expr max(const std::vector<Expr>& values) {
  Expr largest = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) largest = max(largest, values[i]);
  return largest;
}
Expr parts(const Expr& extent, const Expr& size) { return div(sub(add(extent, size), literal(1)), size); }

Expr both(Expr a, Expr b) {
  if (!a || (literal_value(a) && *literal_value(a))) return b;
  if (!b || (literal_value(b) && *literal_value(b))) return a;
  return make(Scalar::Bool, Binary{BinaryOp::And, std::move(a), std::move(b)});
}

void append(Block& block, Block more) {
  for (Stmt& s : more) block.push_back(std::move(s));
}

std::optional<std::int64_t> literal_value(const Expr& e) {
  const auto* c = std::get_if<Const>(&e->op);
  if (!c || is_float(e->type)) return std::nullopt;
  return c->value.lane[0].i;
}

bool is_literal(const Expr& e, std::int64_t value) {
  const auto known = literal_value(e);
  return known && *known == value;
}

bool same(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b || a->type != b->type || a->op.index() != b->op.index()) return false;
  if (const auto* x = std::get_if<Const>(&a->op)) return x->value == std::get<Const>(b->op).value;
  if (const auto* x = std::get_if<Name>(&a->op)) return x->name == std::get<Name>(b->op).name;
  if (const auto* x = std::get_if<Unary>(&a->op)) {
    const auto& y = std::get<Unary>(b->op);
    return x->op == y.op && same(x->a, y.a);
  }
  if (const auto* x = std::get_if<Binary>(&a->op)) {
    const auto& y = std::get<Binary>(b->op);
    return x->op == y.op && same(x->a, y.a) && same(x->b, y.b);
  }
  if (const auto* x = std::get_if<Select>(&a->op)) {
    const auto& y = std::get<Select>(b->op);
    return same(x->condition, y.condition) && same(x->a, y.a) && same(x->b, y.b);
  }
  if (const auto* x = std::get_if<IndexCall>(&a->op)) {
    const auto& y = std::get<IndexCall>(b->op);
    return x->op == y.op && same(x->a, y.a) && same(x->b, y.b);
  }
  if (const auto* x = std::get_if<Cast>(&a->op)) {
    const auto& y = std::get<Cast>(b->op);
    return x->mode == y.mode && x->fits == y.fits && same(x->a, y.a);
  }
  if (const auto* x = std::get_if<Load>(&a->op)) {
    const auto& y = std::get<Load>(b->op);
    return x->array == y.array && same(x->index, y.index);
  }
  return false;
}

}  // namespace weft::kernel
