#include "kernel/evaluate.h"

#include <weft/error.h>

#include "ir/stage_ir.h"
#include "kernel/visit.h"

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
            if (field == fields.end()) throw InternalError("no field is called '" + n.name.spelling() + "'");
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
            return Number{.i = ir::floor_div(a, b)};
          },
          [&](const Load&) { return unsupported(); },
          [&](const MedianOf&) { return unsupported(); },
          [&](const HalfOfSum&) { return unsupported(); },
      },
      e->op);
}

}  // namespace

FieldValues field_values(const Module& module, const ir::Pipeline& pipeline, const ir::Bindings& bindings) {
  FieldValues values;
  const ir::Sizes sizes = ir::sizes_of(bindings);
  auto size = module.sizes.begin();
  for (const ir::StagePtr& input : pipeline.inputs) {
    for (const std::int64_t extent : sizes.at(input->name)) values[(size++)->name] = {.i = extent};
  }
  auto field = module.params.begin();
  for (const auto& param : pipeline.params) values[(field++)->name] = ir::value_of(*param, bindings).lane[0];
  for (const Field& counter : module.counters) values[counter.name] = {.i = 0};
  for (const Launch* launch : launches_with_room(module))
    values[launch->grid->room->field] = {.i = launch->grid->room->expected};
  return values;
}

std::int64_t evaluate(const Expr& e, const FieldValues& fields) {
  if (is_float(e->type)) throw InternalError("a size that is no integer");
  return value_of(e, fields).i;
}

std::vector<std::int64_t> extents_of(const Array& array, const FieldValues& fields) {
  std::vector<std::int64_t> extents;
  for (const Expr& extent : array.extents) extents.push_back(evaluate(extent, fields));
  return extents;
}

}  // namespace weft::kernel
