#include "ir/shake.h"

#include <cmath>

namespace weft::ir {
namespace {

constexpr int function_steps = 4;  // units in the last place, as promised of vector functions

/// Whether the operation, done with more bits, gives the same.
template <class Wide>
bool is_exact(BinaryOp op, Wide a, Wide b, Wide result) {
  switch (op) {
    case BinaryOp::Add: return a + b == result;
    case BinaryOp::Sub: return a - b == result;
    case BinaryOp::Mul: return a * b == result;
    case BinaryOp::Div: return result * b == a;
    default: return true;  // minima and maxima
  }
}

}  // namespace

Number Shake::operator()(UnaryOp op, Scalar s, Number a, Number result) {
  if (is_transcendental(op)) return near(s, result, function_steps);
  if (op != UnaryOp::Sqrt) return result;
  const auto root = static_cast<long double>(result.f);
  return root * root == static_cast<long double>(a.f) ? result : near(s, result, 1);
}

Number Shake::operator()(BinaryOp op, Scalar s, Number a, Number b, Number result) {
  if (is_comparison(op)) return result;
  if (is_transcendental(op)) return near(s, result, function_steps);
  return is_exact<long double>(op, a.f, b.f, result.f) ? result : near(s, result, 1);
}

Number Shake::near(Scalar s, Number result, int most) {
  if (!std::isfinite(result.f)) return result;
  int steps = std::uniform_int_distribution(-most, most)(random_);
  const double end = steps < 0 ? -INFINITY : INFINITY;
  for (steps = std::abs(steps); steps > 0; --steps) {
    if (s == Scalar::F64)
      result.f = std::nextafter(result.f, end);
    else if (s == Scalar::F32)
      result.f = std::nextafter(static_cast<float>(result.f), static_cast<float>(end));
    else  // a half has 11 bits
      result.f = half(static_cast<float>(result.f * (1 + std::copysign(0x1p-10, end * result.f))));
  }
  return result;
}

}  // namespace weft::ir
