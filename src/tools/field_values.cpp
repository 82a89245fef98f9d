#include "tools/field_values.h"

#include <weft/error.h>

namespace weft::tools {
namespace {

ir::Number evaluate(const kernel::Expr& e, const FieldValues& fields) {
  const auto of = [&](const kernel::Expr& operand) { return evaluate(operand, fields); };
  return std::visit(
      ir::overloaded{
          [](const kernel::Const& c) { return c.value.lane[0]; },
          [&](const kernel::Name& n) { return fields.at(n.name).lane[0]; },
          [&](const kernel::Unary& u) { return ir::apply(u.op, u.a->type, of(u.a)); },
          [&](const kernel::Binary& b) { return ir::apply(b.op, b.a->type, of(b.a), of(b.b)); },
          [&](const kernel::Select& s) { return of(of(s.condition).i ? s.a : s.b); },
          [&](const kernel::Cast& c) { return ir::convert(c.mode, c.a->type, e->type, of(c.a)); },
          [&](const kernel::IndexCall& c) -> ir::Number {
            if (c.op != kernel::IndexOp::FloorDiv) throw InternalError("a size follows a border mode");
            return {.i = ir::floor_div(of(c.a).i, of(c.b).i)};
          },
          [](const auto&) -> ir::Number { throw InternalError("a size depends on pixels"); },
      },
      e->op);
}

}  // namespace

FieldValues field_values(const kernel::Module& module, const ir::Pipeline& pipeline,
                         const ir::Bindings& bindings) {
  FieldValues values;
  const ir::Sizes sizes = ir::sizes_of(bindings);
  auto size = module.sizes.begin();
  for (const ir::StagePtr& input : pipeline.inputs) {
    for (const std::int64_t extent : sizes.at(input->name))
      values[(size++)->name] = ir::Value::integer({Scalar::I64, 1}, extent);
  }
  auto field = module.params.begin();
  for (const auto& param : pipeline.params) values[(field++)->name] = ir::value_of(*param, bindings);
  return values;
}

std::int64_t evaluated(const kernel::Expr& e, const FieldValues& fields) { return evaluate(e, fields).i; }

std::vector<std::int64_t> extents_of(const kernel::Array& array, const FieldValues& fields) {
  std::vector<std::int64_t> extents;
  for (const kernel::Expr& extent : array.extents) extents.push_back(evaluated(extent, fields));
  return extents;
}

}  // namespace weft::tools
