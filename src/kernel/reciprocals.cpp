#include "kernel/reciprocals.h"

#include <functional>
#include <map>
#include <set>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

Expr reciprocal(const Expr& e) {
  return binary(ir::BinaryOp::Div, constant(e->type, ir::Value::real({e->type, 1}, 1).lane[0]), e);
}

class ReciprocalSharing {
 public:
  ReciprocalSharing(const Block& body, Names& names) : names_(names) {
    visit_statements(body, [&](const Stmt& statement) {
      for (const Symbol& variable : effects_of(statement).assigns) assigned_.insert(variable);
    });
  }

  void run(Block& block) {
    std::map<Symbol, int> divisions;
    for (const Stmt& statement : block) {
      each_division(statement, [&](const Symbol& divisor, const Expr&) { ++divisions[divisor]; });
    }
    std::map<Symbol, Expr> shared;
    Block result;
    for (Stmt& statement : block) {
      each_division(statement, [&](const Symbol& divisor, const Expr& value) {
        if (divisions[divisor] < 2 || shared.contains(divisor)) return;
        const Symbol inverse = names_.claim("reciprocal");
        result.push_back({Let{inverse, reciprocal(value)}});
        shared[divisor] = name(inverse, value->type);
      });
      each_operand(statement, [&](Expr& e) {
        e = rewritten(e, [&](const Expr& part) { return product(part, shared); });
      });
      each_block(statement, [&](Block& inside) { run(inside); });
      result.push_back(std::move(statement));
    }
    block = std::move(result);
  }

 private:
  /// The variable that it divides by, or none.
  const Name* divisor_of(const Expr& e) const {
    const auto* division = std::get_if<Binary>(&e->op);
    if (!division || division->op != ir::BinaryOp::Div) return nullptr;
    const auto* variable = std::get_if<Name>(&division->b->op);
    const bool has_reciprocal = e->type == Scalar::F32 || e->type == Scalar::F64;
    return variable && has_reciprocal && !assigned_.contains(variable->name) ? variable : nullptr;
  }
  void each_division(const Stmt& statement,
                     const std::function<void(const Symbol&, const Expr&)>& visitor) const {
    const auto visit = [&](const auto& self, const Expr& e) -> void {
      each_operand(*e, [&](const Expr& operand) { self(self, operand); });
      if (const Name* variable = divisor_of(e)) visitor(variable->name, std::get<Binary>(e->op).b);
    };
    each_operand(statement, [&](const Expr& e) { visit(visit, e); });
  }
  /// Null if it is no division by one of these.
  Expr product(const Expr& e, const std::map<Symbol, Expr>& shared) const {
    const Name* variable = divisor_of(e);
    const auto found = variable ? shared.find(variable->name) : shared.end();
    if (found == shared.end()) return nullptr;
    Expr dividend =
        rewritten(std::get<Binary>(e->op).a, [&](const Expr& part) { return product(part, shared); });
    return binary(ir::BinaryOp::Mul, std::move(dividend), found->second);
  }

  Names& names_;
  std::set<Symbol> assigned_;
};

}  // namespace

void share_reciprocals(Function& function, Names names) {
  ReciprocalSharing(function.body, names).run(function.body);
}

}  // namespace weft::kernel
