#include "rewrite/merge_terms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/visit.h"

namespace weft::rewrite {

using ir::BinaryOp;
using ir::Expr;

namespace {

// Longer sums are windows, whose taps are different pixels.
constexpr std::size_t most_terms = 16;

struct Term {
  Expr value;
  double factor;
};

/// value * constant, or the value alone.
Term term_of(const Expr& e) {
  if (const auto* product = std::get_if<ir::Binary>(&e->op); product && product->op == BinaryOp::Mul) {
    if (const auto factor = ir::as_number(product->b)) return {product->a, *factor};
    if (const auto factor = ir::as_number(product->a)) return {product->b, *factor};
  }
  return {e, 1};
}

void add_terms(const Expr& e, std::vector<Term>& terms) {
  const auto* sum = std::get_if<ir::Binary>(&e->op);
  if (!sum || sum->op != BinaryOp::Add || terms.size() > most_terms) return terms.push_back(term_of(e));
  add_terms(sum->a, terms);
  add_terms(sum->b, terms);
}

bool is_same(const Expr& a, const Expr& b) {
  if (a == b) return true;
  const auto *one = std::get_if<ir::Read>(&a->op), *other = std::get_if<ir::Read>(&b->op);
  return one && other && ir::read_alike(*one, *other) && one->indices == other->indices;
}

bool is_exact(double factor, Scalar type) {
  return type == Scalar::F64 || static_cast<double>(static_cast<float>(factor)) == factor;
}

Expr times(const Expr& e, double factor) {
  return factor == 1 ? e : ir::binary(BinaryOp::Mul, e, ir::constant({e->type.scalar, 1}, factor));
}

Expr sum_of(const std::vector<Term>& terms) {
  const double first = terms.front().factor;
  const bool is_common =
      std::all_of(terms.begin(), terms.end(), [&](const Term& term) { return term.factor == first; });
  Expr sum;
  for (const Term& term : terms) {
    const Expr value = is_common ? term.value : times(term.value, term.factor);
    sum = sum ? ir::binary(BinaryOp::Add, sum, value) : value;
  }
  return is_common ? times(sum, first) : sum;
}

Expr merged_sum(const Expr& e) {
  std::vector<Term> terms, merged;
  add_terms(e, terms);
  if (terms.size() > most_terms) return nullptr;
  for (const Term& term : terms) {
    // Infinities of one sign add up; of both, they are not a number, which must not get lost.
    const auto known = std::find_if(merged.begin(), merged.end(), [&](const Term& other) {
      return is_same(term.value, other.value) && std::signbit(term.factor) == std::signbit(other.factor) &&
             is_exact(term.factor + other.factor, e->type.scalar);
    });
    if (known == merged.end())
      merged.push_back(term);
    else
      known->factor += term.factor;
  }
  return merged.size() < terms.size() ? sum_of(merged) : nullptr;
}

/// (value * factor) * constant, or divided by it, as one product.
Expr merged_factors(const Expr& e, const ir::Binary& n) {
  const auto constant = ir::as_number(n.b);
  const Term inner = term_of(n.a);
  if (!constant || inner.value == n.a || *constant == 0) return nullptr;
  const double factor = n.op == BinaryOp::Mul ? inner.factor * *constant : inner.factor / *constant;
  const double back = n.op == BinaryOp::Mul ? factor / *constant : factor * *constant;
  if (!is_exact(factor, e->type.scalar) || back != inner.factor || !std::isnormal(factor)) return nullptr;
  return times(inner.value, factor);
}

}  // namespace

Expr merged_terms(const Expr& e) {
  const auto* n = std::get_if<ir::Binary>(&e->op);
  if (!n || (e->type.scalar != Scalar::F32 && e->type.scalar != Scalar::F64)) return nullptr;
  switch (n->op) {
    case BinaryOp::Add: return merged_sum(e);
    case BinaryOp::Mul:
    case BinaryOp::Div: return merged_factors(e, *n);
    default: return nullptr;
  }
}

}  // namespace weft::rewrite
