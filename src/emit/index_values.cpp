#include "emit/index_values.h"

#include <algorithm>
#include <cmath>

#include "ir/stage_ir.h"
#include "kernel/visit.h"

namespace weft::emit {

using ir::BinaryOp;
using kernel::Expr;

namespace {

/// What no size, pitch or coordinate reaches: no machine has so much memory.
constexpr double most = 0x1p44;

}  // namespace

IndexValues::IndexValues(const kernel::Function& function, const kernel::Module& module) : known_(true) {
  for (const kernel::Field& param : module.params) bounds_[param.name] = HUGE_VAL;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& statement) {
    const auto* let = std::get_if<kernel::Let>(&statement.op);
    if (!let) return;
    double& known = bounds_.emplace(let->name, 0.0).first->second;  // of all declarations of it
    known = std::max(known, let->is_mutable ? HUGE_VAL : bound(let->value));
  });
}

bool IndexValues::is_one(const Expr& e) const { return known_ && bound(e) < 0x1p51; }

double IndexValues::bound(const Expr& e) const {
  if (is_float(e->type)) return HUGE_VAL;
  if (size_of(e->type) < 8) return 0x1p32;
  return std::visit(
      ir::overloaded{
          [&](const kernel::Const& n) { return std::abs(n.value.as_double()); },
          [&](const kernel::Name& n) {
            const auto found = bounds_.find(n.name);
            return found == bounds_.end() ? most : found->second;
          },
          [&](const kernel::Unary& n) { return n.op == ir::UnaryOp::Neg ? bound(n.a) : HUGE_VAL; },
          [&](const kernel::Binary& n) {
            switch (n.op) {
              case BinaryOp::Add:
              case BinaryOp::Sub: return bound(n.a) + bound(n.b);
              case BinaryOp::Min:
              case BinaryOp::Max: return std::max(bound(n.a), bound(n.b));
              case BinaryOp::Mul: return bound(n.a) * bound(n.b);
              case BinaryOp::Div:
              case BinaryOp::Shr: return bound(n.a);
              default: return HUGE_VAL;
            }
          },
          [&](const kernel::Select& n) { return std::max(bound(n.a), bound(n.b)); },
          [&](const kernel::Cast& n) { return bound(n.a); },
          [&](const kernel::IndexCall& n) { return std::max(bound(n.a), bound(n.b)); },
          [](const kernel::Load&) { return HUGE_VAL; },
          [](const kernel::MedianOf&) { return HUGE_VAL; },
          [](const kernel::HalfOfSum&) { return HUGE_VAL; },
      },
      e->op);
}

}  // namespace weft::emit
