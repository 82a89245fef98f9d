#include "kernel/low_bits.h"

#include <optional>

#include "kernel/build.h"
#include "kernel/value_ranges.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;
using ir::CastMode;
using ir::UnaryOp;

int bits_of(Scalar type) { return 8 * size_of(type); }

/// The integer that an expression is in a wider type, if it is no more.
Expr before_widening(const Expr& e) {
  const auto* cast = std::get_if<Cast>(&e->op);
  const bool widens = cast && cast->mode == CastMode::Convert && is_integer(cast->a->type) &&
                      range_of(cast->a->type).within(range_of(e->type));
  return widens ? cast->a : nullptr;
}

Expr low_bits(Scalar type, const Expr& e);

/// Of what needs all bits of its operands, if those were widened: its value before that.
Expr before_widening(const Binary& n) {
  const Expr a = before_widening(n.a), b = before_widening(n.b);
  if (!a) return nullptr;
  switch (n.op) {
    case BinaryOp::Min:
    case BinaryOp::Max:
      return b && a->type == b->type ? binary(n.op, in_few_bits(a), in_few_bits(b)) : nullptr;
    case BinaryOp::Shr:
    case BinaryOp::Div: {
      const auto by = literal_value(n.b);
      if (!by || *by <= 0) return nullptr;
      const double number = static_cast<double>(*by);
      const bool fits = n.op == BinaryOp::Shr ? *by < bits_of(a->type)
                                              : ValueRange{number, number}.within(range_of(a->type));
      return fits ? binary(n.op, in_few_bits(a), constant(a->type, {.i = *by})) : nullptr;
    }
    default: return nullptr;
  }
}

/// Whether the low bits of a result depend on the low bits of what it is computed from alone.
bool is_modular(const Expr& e, Scalar type) {
  if (const auto* n = std::get_if<Unary>(&e->op)) return n->op == UnaryOp::Neg || n->op == UnaryOp::BitNot;
  const auto* n = std::get_if<Binary>(&e->op);
  if (!n) return false;
  switch (n->op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Xor: return true;
    case BinaryOp::Shl: {
      const auto by = literal_value(n->b);
      return by && *by >= 0 && *by < bits_of(type);
    }
    default: return false;
  }
}

/// What an integer becomes when it is converted to a type that is no wider.
Expr low_bits(Scalar type, const Expr& e) {
  if (e->type == type) return in_few_bits(e);
  if (const auto* n = std::get_if<Cast>(&e->op);
      n && n->mode == CastMode::Convert && is_integer(n->a->type)) {
    const bool is_wider = size_of(n->a->type) > size_of(type);
    return is_wider ? low_bits(type, n->a) : cast(CastMode::Convert, type, in_few_bits(n->a));
  }
  if (is_modular(e, type)) {
    if (size_of(type) == 1) return cast(CastMode::Convert, type, low_bits(Scalar::I16, e));
    if (const auto* n = std::get_if<Unary>(&e->op)) return unary(n->op, low_bits(type, n->a));
    const auto& n = std::get<Binary>(e->op);
    if (n.op == BinaryOp::Shl)
      return binary(n.op, low_bits(type, n.a), constant(type, {.i = *literal_value(n.b)}));
    return binary(n.op, low_bits(type, n.a), low_bits(type, n.b));
  }
  const auto* n = std::get_if<Binary>(&e->op);
  const Expr narrow = n ? before_widening(*n) : nullptr;
  return cast(CastMode::Convert, type, narrow ? narrow : in_few_bits(e));
}

}  // namespace

Expr in_few_bits(const Expr& e) {
  return rewritten(e, [](const Expr& part) -> Expr {
    const auto* n = std::get_if<Cast>(&part->op);
    const bool narrows = n && n->mode == CastMode::Convert && is_integer(part->type) &&
                         is_integer(n->a->type) && size_of(part->type) < size_of(n->a->type);
    return narrows ? low_bits(part->type, n->a) : nullptr;
  });
}

}  // namespace weft::kernel
