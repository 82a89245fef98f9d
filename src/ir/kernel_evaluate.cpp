#include "ir/kernel_evaluate.h"

#include <weft/error.h>

#include "ir/stage_ir.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;
using ir::Number;

/// Sums, differences and products of 64 bits are those of sizes, and are not to wrap.
Number checked(BinaryOp op, Scalar type, Number a, Number b) {
  if (type != Scalar::I64) return ir::apply(op, type, a, b);
  Number result{};
  bool overflows = false;
  switch (op) {
    case BinaryOp::Add: overflows = __builtin_add_overflow(a.i, b.i, &result.i); break;
    case BinaryOp::Sub: overflows = __builtin_sub_overflow(a.i, b.i, &result.i); break;
    case BinaryOp::Mul: overflows = __builtin_mul_overflow(a.i, b.i, &result.i); break;
    default: return ir::apply(op, type, a, b);
  }
  if (overflows) throw Error("an image is too large to address").help("use smaller images");
  return result;
}

Number value_of(const Expr& e, const FieldValues& fields) {
  const auto unsupported = []() -> Number { throw InternalError("no expression of the host"); };
  return std::visit(
      ir::overloaded{
          [&](const Const& n) { return n.value.lane[0]; },
          [&](const Name& n) {
            const auto field = fields.find(n.name);
            if (field == fields.end()) throw InternalError("no field has the name '" + n.name + "'");
            return field->second;
          },
          [&](const Unary& n) { return ir::apply(n.op, e->type, value_of(n.a, fields)); },
          [&](const Binary& n) {
            return checked(n.op, n.a->type, value_of(n.a, fields), value_of(n.b, fields));
          },
          [&](const Select& n) { return value_of(value_of(n.condition, fields).i ? n.a : n.b, fields); },
          [&](const Cast& n) { return ir::convert(n.mode, n.a->type, e->type, value_of(n.a, fields)); },
          [&](const IndexCall& n) {
            const std::int64_t a = value_of(n.a, fields).i, b = value_of(n.b, fields).i;
            if (n.op != IndexOp::FloorDiv || b <= 0) return unsupported();
            return Number{.i = a / b - (a % b != 0 && a < 0)};
          },
          [&](const Load&) { return unsupported(); },
          [&](const MedianOf&) { return unsupported(); },
      },
      e->op);
}

}  // namespace

std::int64_t evaluate(const Expr& e, const FieldValues& fields) {
  if (is_float(e->type)) throw InternalError("a size that is no integer");
  return value_of(e, fields).i;
}

}  // namespace weft::kernel
