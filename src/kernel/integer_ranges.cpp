#include "kernel/integer_ranges.h"

#include <algorithm>
#include <cmath>

#include "ir/value.h"

namespace weft::kernel {

using ir::BinaryOp;

IntegerRange range_of_constant(Scalar type, const ir::Value& value) {
  const ir::Number n = value.lane[0];
  const double number = is_float(type)    ? n.f
                        : is_signed(type) ? static_cast<double>(n.i)
                                          : static_cast<double>(static_cast<std::uint64_t>(n.i));
  return {number, number};
}

IntegerRange range_of(Scalar type) {
  if (is_float(type)) return {-HUGE_VAL, HUGE_VAL};
  return hull(range_of_constant(type, ir::least({type, 1})), range_of_constant(type, ir::largest({type, 1})));
}

IntegerRange hull(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

IntegerRange range_of_result(BinaryOp op, const IntegerRange& a, const IntegerRange& b) {
  switch (op) {
    case BinaryOp::Add: return {a.low + b.low, a.high + b.high};
    case BinaryOp::Sub: return {a.low - b.high, a.high - b.low};
    case BinaryOp::Mul: {
      const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return {low, high};
    }
    case BinaryOp::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryOp::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    // By anything, 0 included, the magnitude does not grow.
    case BinaryOp::Div:
    case BinaryOp::Rem: {
      const double most = std::max(std::abs(a.low), std::abs(a.high));
      return {a.low >= 0 && b.low >= 0 ? 0 : -most, most};
    }
    case BinaryOp::Shr: return {std::min(a.low, 0.0), std::max(a.high, 0.0)};
    case BinaryOp::And:
      if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
      if (a.low >= 0 || b.low >= 0) return {0, a.low >= 0 ? a.high : b.high};
      if (b.high < 0) return {a.low + b.low + 1, a.high};  // the sign stays, and some of the bits below
      [[fallthrough]];
    default: return {-HUGE_VAL, HUGE_VAL};
  }
}

}  // namespace weft::kernel
