#include "kernel/reciprocals.h"

#include <cmath>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

bool has_reciprocal(Scalar type, double divisor) {
  const double least = type == Scalar::F64 ? 0x1p-1021 : 0x1p-125;
  int exponent = 0;
  const bool is_power_of_two = std::abs(std::frexp(divisor, &exponent)) == 0.5;
  return std::abs(divisor) >= least && std::abs(divisor) <= 1 / least && !is_power_of_two;
}

/// Null if it is no such division.
Expr as_product(const Expr& e) {
  const auto* division = std::get_if<Binary>(&e->op);
  if (!division || division->op != ir::BinaryOp::Div || !is_float(e->type)) return nullptr;
  const auto* divisor = std::get_if<Const>(&division->b->op);
  if (!divisor || !has_reciprocal(e->type, divisor->value.as_double())) return nullptr;
  const Expr one = constant(e->type, ir::Value::real({e->type, 1}, 1).lane[0]);
  Expr dividend = rewritten(division->a, as_product);
  return binary(ir::BinaryOp::Mul, std::move(dividend), binary(ir::BinaryOp::Div, one, division->b));
}

}  // namespace

void multiply_by_reciprocals(Function& function) { rewrite_expressions(function.body, as_product); }

}  // namespace weft::kernel
