#include "rewrite/constant_divisors.h"

#include <cmath>
#include <optional>

#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

using ir::BinaryOp;
using ir::Expr;

namespace {

bool is_normal(Scalar type, double number) {
  const double least = type == Scalar::F64 ? 0x1p-1021 : 0x1p-125;
  return std::abs(number) >= least && std::abs(number) <= 1 / least;
}

bool is_power_of_two(double number) {
  int exponent = 0;
  return std::abs(std::frexp(number, &exponent)) == 0.5;
}

/// What to divide by, of a division that may be a product; or nothing.
std::optional<double> divisor_of(const Expr& e) {
  const auto* division = std::get_if<ir::Binary>(&e->op);
  const Scalar type = e->type.scalar;
  if (!division || division->op != BinaryOp::Div || (type != Scalar::F32 && type != Scalar::F64))
    return std::nullopt;
  const auto divisor = ir::as_number(division->b);
  return divisor && is_normal(type, *divisor) && !is_power_of_two(*divisor) ? divisor : std::nullopt;
}

/// factor / divisor, by which terms are multiplied.
Expr quotient(double factor, double divisor, Scalar type) {
  return ir::binary(BinaryOp::Div, ir::constant({type, 1}, factor), ir::constant({type, 1}, divisor));
}

/// A sum of products by constants with these divided instead; null of any other.
Expr with_factors_divided(const Expr& e, double divisor) {
  const auto* n = std::get_if<ir::Binary>(&e->op);
  if (!n) return nullptr;
  const Scalar type = e->type.scalar;
  switch (n->op) {
    case BinaryOp::Add:
    case BinaryOp::Sub: {
      const Expr a = with_factors_divided(n->a, divisor);
      const Expr b = a ? with_factors_divided(n->b, divisor) : nullptr;
      return b ? ir::binary(n->op, a, b) : nullptr;
    }
    case BinaryOp::Mul: {
      const bool is_first = ir::as_number(n->a).has_value();
      const auto factor = ir::as_number(is_first ? n->a : n->b);
      if (!factor || !is_normal(type, *factor) || !is_normal(type, *factor / divisor)) return nullptr;
      return ir::binary(BinaryOp::Mul, quotient(*factor, divisor, type), is_first ? n->b : n->a);
    }
    default: return nullptr;
  }
}

Expr as_product(const Expr& e) {
  const auto divisor = divisor_of(e);
  if (!divisor) return nullptr;
  const Expr& dividend = std::get<ir::Binary>(e->op).a;
  if (const Expr divided = with_factors_divided(dividend, *divisor)) return divided;
  return ir::binary(BinaryOp::Mul, dividend, quotient(1, *divisor, e->type.scalar));
}

}  // namespace

ir::Pipeline constant_divisors(const ir::Pipeline& pipeline) {
  if (pipeline.strict) return pipeline;
  return rewrite_stages(
      pipeline, [](const ir::Stage&) -> Rule { return as_product; }, as_product);
}

}  // namespace weft::rewrite
