#include "kernel/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/stage_ir.h"
#include "ir/value.h"
#include "kernel/build.h"

namespace weft::kernel {

using ir::BinaryOp;
using ir::CastMode;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Shifts and divisions by constants, as the general rule does not look at the amount.
std::optional<ValueRange> range_by_constant(BinaryOp op, const ValueRange& a, std::int64_t b) {
  if (op == BinaryOp::Shr && b >= 0 && b < 32)
    return ValueRange{std::floor(std::ldexp(a.low, static_cast<int>(-b))),
                      std::floor(std::ldexp(a.high, static_cast<int>(-b)))};
  if (op == BinaryOp::Shl && b >= 0 && b < 16)
    return ValueRange{std::ldexp(a.low, static_cast<int>(b)), std::ldexp(a.high, static_cast<int>(b))};
  if (op == BinaryOp::Div && b > 0)
    return ValueRange{std::trunc(a.low / static_cast<double>(b)),
                      std::trunc(a.high / static_cast<double>(b))};
  return std::nullopt;
}

/// What a float of the type may be where its exact value is in the range: rounded, by other means than written, with
/// numbers that are too small or too large for the type.
ValueRange rounded(Scalar type, ValueRange range) {
  struct Format {
    double slack, least, most;
  };
  const Format format = type == Scalar::F16   ? Format{0x1p-9, 0x1p-14, 65504}
                        : type == Scalar::F32 ? Format{0x1p-22, 0x1p-126, 0x1.fffffep127}
                                              : Format{0x1p-51, 0x1p-1022, 0x1.fffffffffffffp1023};
  if (std::isnan(range.low) || std::isnan(range.high)) return {-infinity, infinity};
  range.low -= std::abs(range.low) * format.slack, range.high += std::abs(range.high) * format.slack;
  if (range.low > 0 && range.low < format.least) range.low = 0;
  if (range.high < 0 && range.high > -format.least) range.high = 0;
  if (range.low < -format.most) range.low = -infinity;
  if (range.high > format.most) range.high = infinity;
  // What is as far as the largest number may still be on this side of it.
  range.low = std::min(range.low, format.most), range.high = std::max(range.high, -format.most);
  return range;
}

bool may_be_nan(const Expr& e) {
  if (const auto* c = std::get_if<Const>(&e->op)) return std::isnan(c->value.as_double());
  const auto* cast = std::get_if<Cast>(&e->op);
  return !cast || is_float(cast->a->type);
}

}  // namespace

ValueRange range_of_constant(Scalar type, const ir::Value& value) {
  const ir::Number n = value.lane[0];
  const double number = is_float(type)    ? n.f
                        : is_signed(type) ? static_cast<double>(n.i)
                                          : static_cast<double>(static_cast<std::uint64_t>(n.i));
  return {number, number};
}

ValueRange range_of(Scalar type) {
  if (is_float(type)) return {-infinity, infinity};
  return hull(range_of_constant(type, ir::least({type, 1})), range_of_constant(type, ir::largest({type, 1})));
}

ValueRange hull(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

ValueRange range_of_result(BinaryOp op, const ValueRange& a, const ValueRange& b) {
  switch (op) {
    case BinaryOp::Add: return {a.low + b.low, a.high + b.high};
    case BinaryOp::Sub: return {a.low - b.high, a.high - b.low};
    case BinaryOp::Mul: {
      const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return {low, high};
    }
    case BinaryOp::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryOp::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case BinaryOp::Div:
      if (b.low > 0)
        return {std::trunc(a.low / (a.low < 0 ? b.low : b.high)),
                std::trunc(a.high / (a.high < 0 ? b.high : b.low))};
      [[fallthrough]];
    // By anything, 0 included, the magnitude does not grow.
    case BinaryOp::Rem: {
      double most = std::max(std::abs(a.low), std::abs(a.high));
      if (op == BinaryOp::Rem && b.low > 0) most = std::min(most, b.high - 1);
      return {a.low >= 0 && b.low >= 0 ? 0 : -most, most};
    }
    case BinaryOp::Shr: {
      if (b.low < 0 || b.high > 31) return {std::min(a.low, 0.0), std::max(a.high, 0.0)};
      const auto shifted = [](double v, double by) {
        return std::floor(std::ldexp(v, -static_cast<int>(by)));
      };
      return {shifted(a.low, a.low < 0 ? b.low : b.high), shifted(a.high, a.high < 0 ? b.high : b.low)};
    }
    case BinaryOp::Shl:
      if (a.low < 0 || b.low < 0 || b.high > 62) return {-infinity, infinity};
      return {std::ldexp(a.low, static_cast<int>(b.low)), std::ldexp(a.high, static_cast<int>(b.high))};
    case BinaryOp::And:
      if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
      if (a.low >= 0 || b.low >= 0) return {0, a.low >= 0 ? a.high : b.high};
      if (b.high < 0) return {a.low + b.low + 1, a.high};  // the sign stays, and some of the bits below
      [[fallthrough]];
    default: return {-infinity, infinity};
  }
}

ValueRange range_of_float_result(const Binary& n, Scalar type, const ValueRange& a, const ValueRange& b) {
  switch (n.op) {
    case BinaryOp::Add:
    case BinaryOp::Sub: return rounded(type, range_of_result(n.op, a, b));
    case BinaryOp::Mul: {
      const bool has_zero_times_infinity =
          std::isnan(a.low * b.low + a.low * b.high + a.high * b.low + a.high * b.high);
      return has_zero_times_infinity ? range_of(type) : rounded(type, range_of_result(n.op, a, b));
    }
    case BinaryOp::Min:
    case BinaryOp::Max: {
      // Of a number and NaN it is either.
      ValueRange range = range_of_result(n.op, a, b);
      if (may_be_nan(n.a)) range = hull(range, b);
      if (may_be_nan(n.b)) range = hull(range, a);
      return range;
    }
    default: return range_of(type);
  }
}

ValueRange range_of_cast(const Cast& n, Scalar to, const ValueRange& a) {
  const ValueRange all = range_of(to);
  if (is_float(to)) return rounded(to, a);
  if (to == Scalar::Bool) return is_float(n.a->type) ? all : a;
  if (!is_float(n.a->type) && n.mode == CastMode::Convert) return a;
  const auto integer = [&](double v) {
    const double whole = !is_float(n.a->type)          ? v
                         : n.mode == CastMode::Convert ? std::trunc(v)
                                                       : std::nearbyint(v);
    return std::clamp(whole, all.low, all.high);
  };
  const ValueRange range{integer(a.low), integer(a.high)};
  return is_float(n.a->type) ? hull(range, {0, 0}) : range;  // NaN is 0
}

ValueRange KnownRanges::of(const Expr& e) const {
  const ValueRange all = range_of(e->type), exact = exact_range(e);
  return exact.within(all) ? exact : all;  // what does not fit may be anything, once it has wrapped
}

void KnownRanges::declare(const For& loop) {
  names.erase(loop.variable);
  const ValueRange from = of(loop.from), to = of(loop.to);
  if (from.low < to.high) names[loop.variable] = {from.low, to.high - 1};
}

void KnownRanges::declare(const Let& let) {
  names.erase(let.name);
  if (!let.is_mutable) names.emplace(let.name, of(let.value));
}

std::vector<Symbol> KnownRanges::arrays_of(const Symbol& name) const {
  const auto found = points.find(name);
  return found == points.end() ? std::vector<Symbol>{name} : found->second;
}

ValueRange KnownRanges::exact_range(const Expr& e) const {
  const ValueRange all = range_of(e->type);
  return std::visit(ir::overloaded{
                        [&](const Const& n) {
                          const ValueRange value = range_of_constant(e->type, n.value);
                          return std::isnan(value.low) ? all : value;
                        },
                        [&](const Name& n) {
                          const auto found = names.find(n.name);
                          return found == names.end() ? all : found->second;
                        },
                        [&](const Unary& n) {
                          const ValueRange a = of(n.a);
                          if (n.op == ir::UnaryOp::Neg) return ValueRange{-a.high, -a.low};
                          if (n.op == ir::UnaryOp::Abs && is_signed(e->type))
                            return ValueRange{0, std::max(std::abs(a.low), std::abs(a.high))};
                          return all;
                        },
                        [&](const Binary& n) {
                          if (ir::is_comparison(n.op)) return all;
                          const ValueRange a = of(n.a);
                          if (is_float(e->type)) return range_of_float_result(n, e->type, a, of(n.b));
                          const auto amount = literal_value(n.b);
                          const auto by_constant =
                              amount ? range_by_constant(n.op, a, *amount) : std::nullopt;
                          return by_constant ? *by_constant : range_of_result(n.op, a, of(n.b));
                        },
                        [&](const Select& n) { return hull(of(n.a), of(n.b)); },
                        [&](const Cast& n) { return range_of_cast(n, e->type, of(n.a)); },
                        [&](const IndexCall& n) {
                          const auto extent = literal_value(n.b);
                          const bool is_known = n.op != IndexOp::FloorDiv && extent && *extent > 0;
                          return is_known ? ValueRange{0, static_cast<double>(*extent - 1)} : all;
                        },
                        [&](const Load& n) { return of_array(n.array, all); },
                        [&](const MedianOf& n) { return of_array(n.array, all); },
                        [&](const HalfOfSum&) { return all; },
                    },
                    e->op);
}

ValueRange KnownRanges::of_array(const Symbol& name, const ValueRange& all) const {
  std::optional<ValueRange> range;
  for (const Symbol& array : arrays_of(name)) {
    const auto found = stored.find(array);
    const ValueRange values = found == stored.end() ? all : found->second;
    range = range ? hull(*range, values) : values;
  }
  return range.value_or(all);
}

}  // namespace weft::kernel
