#include "fuzz/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuzz/images.h"
#include "fuzz/operators.h"
#include "ir/build.h"

namespace weft::fuzz {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using Result = std::optional<Bound>;

/// Half the distance between 1 and the next number: the relative error of one rounding.
double rounding(Scalar s) { return s == Scalar::F64 ? 0x1p-53 : s == Scalar::F16 ? 0x1p-11 : 0x1p-24; }

/// Library functions and their vector variants are within 4 units in the last place.
constexpr double function_roundings = 8;

Bound everything() { return {-inf, inf, 0}; }

Bound range_of(Scalar s) {
  if (is_float(s)) return everything();
  const ir::Value low = ir::least({s, 1}), high = ir::largest({s, 1});
  return {low.as_double(), high.as_double(), 0};
}

Bound hull(const Bound& a, const Bound& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.error, b.error),
          a.special || b.special};
}

/// An interval without NaN ends.
Bound sane(Bound b) {
  if (std::isnan(b.low) || std::isnan(b.high)) b.low = -inf, b.high = inf;
  return b;
}

/// The largest finite number of a type of floats.
double largest_finite(Scalar s) {
  if (s == Scalar::F64) return std::numeric_limits<double>::max();
  return s == Scalar::F16 ? 65504 : std::numeric_limits<float>::max();
}

/// Integers that leave their type wrap; floats become infinite, and then NaN.
Bound fitted(Bound b, Scalar s) {
  b = sane(b);
  if (is_float(s)) return b.magnitude() <= largest_finite(s) ? b : everything();
  const Bound all = range_of(s);
  return b.low < all.low || b.high > all.high ? all : b;
}

Bound times(const Bound& a, const Bound& b) {
  const double p[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  Bound result{inf, -inf, 0};
  for (double v : p) {
    if (std::isnan(v)) return everything();
    result.low = std::min(result.low, v), result.high = std::max(result.high, v);
  }
  return result;
}

bool has_zero(const Bound& b) { return b.low - b.error <= 0 && b.high + b.error >= 0; }

Bound quotient(const Bound& a, const Bound& b) {
  return has_zero(b) ? everything() : times(a, {1 / b.high, 1 / b.low, 0});
}

/// The interval of a function that never falls.
template <class F>
Bound rising(const Bound& a, F f) {
  return sane({f(a.low), f(a.high), 0});
}

/// The interval of an operator on exact operands of type `s` (after conversion).
Bound interval(Op op, const std::vector<Bound>& o, Scalar s) {
  const Bound &a = o[0], &b = o.size() > 1 ? o[1] : o[0];
  switch (op) {
    case Op::Neg: return {-a.high, -a.low, 0};
    case Op::Abs: return {has_zero(a) ? 0 : std::min(std::abs(a.low), std::abs(a.high)), a.magnitude(), 0};
    case Op::Sqrt: return a.low < 0 ? everything() : rising(a, [](double v) { return std::sqrt(v); });
    case Op::Exp: return rising(a, [](double v) { return std::exp(v); });
    case Op::Log: return a.low <= 0 ? everything() : rising(a, [](double v) { return std::log(v); });
    case Op::Sin:
    case Op::Cos: return a.is_finite() ? Bound{-1, 1, 0} : everything();
    case Op::Tan: return a.magnitude() < 1.5 ? rising(a, [](double v) { return std::tan(v); }) : everything();
    case Op::Atan:
    case Op::Atan2: return a.is_finite() && b.is_finite() ? Bound{-3.2, 3.2, 0} : everything();
    case Op::Tanh: return a.is_finite() ? Bound{-1, 1, 0} : everything();
    case Op::Floor:
    case Op::Ceil:
    case Op::Rint:
    case Op::Trunc: return {a.low - 1, a.high + 1, 0};
    case Op::Add: return {a.low + b.low, a.high + b.high, 0};
    case Op::Sub: return {a.low - b.high, a.high - b.low, 0};
    case Op::Mul: return times(a, b);
    case Op::Div: return is_float(s) ? quotient(a, b) : range_of(s);
    case Op::Min:
    case Op::Max:
      if (!a.is_finite() || !b.is_finite()) return everything();  // a NaN may stay one
      if (op == Op::Min) return {std::min(a.low, b.low), std::min(a.high, b.high), 0};
      return {std::max(a.low, b.low), std::max(a.high, b.high), 0};
    case Op::Pow:
      return a.low > 0 ? times(Bound{0, 1, 0}, {0, std::pow(std::max(a.high, 1 / a.low), b.magnitude()), 0})
                       : everything();
    default: break;
  }
  const ir::Function* function = function_of(op);
  if (!function) return range_of(s);
  return a.is_finite() && b.is_finite() ? Bound{function->least, function->greatest, 0} : everything();
}

/// Whether compiled code computes infinities and NaNs from the same pixels as the interpreter. It does not
/// where a factor of infinity is 0 on one side and almost 0 on the other; and `pow` has approximations.
bool keeps_special(Op op, const std::vector<Bound>& o) {
  const auto decides = [](const Bound& a, const Bound& b) { return a.special && b.error > 0 && has_zero(b); };
  if (op == Op::Mul) return !decides(o[0], o[1]) && !decides(o[1], o[0]);
  return op != Op::Pow;
}

/// Where some operands may be special: the finite results, and whether others are special.
Bound with_special(Op op, const std::vector<Bound>& o, Scalar s, Bound range) {
  if (!is_float(s)) return range;
  if (op == Op::Exp || op == Op::Div) range = hull(range, {0, 0, 0});  // of minus infinity; by infinity
  if (op == Op::Min || op == Op::Max)
    range = hull(range, hull(o[0], o[1]));  // one of them may be passed over
  range.special = true;
  return range;
}

/// What operands' errors and the operator's own rounding come to; nothing where that cannot be said. `u` is
/// the relative error of one rounding.
std::optional<double> error_of(Op op, const std::vector<Bound>& o, const Bound& result, double u) {
  const Bound &a = o[0], &b = o.size() > 1 ? o[1] : o[0];
  const double own = function_roundings * u * result.magnitude();
  const bool exact = a.error == 0 && b.error == 0;
  switch (op) {
    case Op::Neg:
    case Op::Abs: return a.error;
    case Op::Min:
    case Op::Max: return std::max(a.error, b.error);
    case Op::Add:
    case Op::Sub: return a.error + b.error + u * (a.magnitude() + b.magnitude());
    case Op::Mul:
      return a.error * b.magnitude() + b.error * a.magnitude() + a.error * b.error +
             u * a.magnitude() * b.magnitude();
    case Op::Div: {
      const double least = std::min(std::abs(b.low), std::abs(b.high)) - b.error;
      if (has_zero(b) || least <= 0) return std::nullopt;
      return (a.error + result.magnitude() * b.error) / least + own;
    }
    case Op::Sqrt:
      if (a.error == 0 && a.low >= 0) return own;
      return a.low > a.error ? std::optional(a.error / std::sqrt(a.low - a.error) + own) : std::nullopt;
    case Op::Log:
      return a.low > 2 * a.error ? std::optional(a.error / (a.low - a.error) + own) : std::nullopt;
    case Op::Exp:
      return a.high < 60 && a.error < 0.1 ? std::optional(2 * a.error * result.magnitude() + own)
                                          : std::nullopt;
    case Op::Sin:
    case Op::Cos: return a.magnitude() < 1e4 ? std::optional(a.error + function_roundings * u) : std::nullopt;
    case Op::Atan:
    case Op::Tanh: return a.error + own;
    case Op::Tan: return a.magnitude() < 1.3 ? std::optional(20 * a.error + own) : std::nullopt;
    case Op::Atan2: return exact && b.low > 0 ? std::optional(own) : std::nullopt;
    case Op::Pow: return exact && a.low > 0 && result.is_finite() ? std::optional(own) : std::nullopt;
    case Op::Floor:
    case Op::Ceil:
    case Op::Rint:
    case Op::Trunc: return exact && a.is_finite() ? std::optional(0.) : std::nullopt;
    default: break;
  }
  if (!a.is_finite() || !b.is_finite()) return std::nullopt;
  const ir::Function* function = function_of(op);
  if (!function) return exact ? std::optional(0.) : std::nullopt;
  const double passed_on = exact ? 0 : function->steepest * (a.error + b.error);
  return std::isfinite(passed_on) && result.is_finite() ? std::optional(passed_on + own) : std::nullopt;
}

/// Beyond these, a difference would say little.
constexpr double largest_error = 0.5, largest_value = 1e15;

bool is_exact(const Bound& b) { return b.error == 0; }
/// Infinities or NaNs may be among the values.
bool is_unbounded(const Bound& b) { return b.special || !b.is_finite(); }

/// Errors that are too large, or not even a number: 0 times infinity.
Result accepted(const Bound& b) {
  if (!is_exact(b) && !(b.error <= largest_error && b.magnitude() <= largest_value)) return std::nullopt;
  return b;
}

Result converted(const Bound& a, Scalar from, Scalar to) {
  if (from == to) return a;
  if (to == Scalar::Bool) return is_exact(a) ? Result(Bound{0, 1, 0}) : std::nullopt;
  if (!is_float(to)) {
    if (!is_exact(a)) return std::nullopt;
    const Bound all = range_of(to);
    if (a.special) return all;  // infinities are cut to the ends
    const Bound cut{std::clamp(a.low, all.low, all.high), std::clamp(a.high, all.low, all.high), 0};
    return is_float(from) ? hull(cut, {0, 0, 0}) : fitted(a, to);
  }
  const bool narrows = is_float(from) && size_of(to) < size_of(from);
  const double limit = to == Scalar::F16 ? 65504 : to == Scalar::F32 ? 3e38 : inf;
  const double slack = 1 + 2 * rounding(to);
  Bound result{std::min(a.low * slack, a.low / slack), std::max(a.high * slack, a.high / slack), a.error,
               a.special};
  if (a.magnitude() >= limit) {
    if (!is_exact(a)) return std::nullopt;
    result.low = -inf, result.high = inf;
  }
  if (!is_exact(a) && narrows) result.error += 2 * rounding(to) * result.magnitude();
  return sane(result);
}

}  // namespace

double Bound::magnitude() const { return std::max(std::abs(low), std::abs(high)); }
bool Bound::is_finite() const { return std::isfinite(low) && std::isfinite(high); }

Bounds::Bounds(const Recipe& recipe) : recipe_(recipe) {
  for (const Image& image : recipe.images) {
    Bound b = range_of(image.type.scalar);
    if (is_float(image.type.scalar) && !image.extreme)
      b = {-largest_modest, largest_modest, 0, image.special};
    sources_.push_back(b);
  }
}

Result Bounds::of(const Term& t) {
  using Kind = Term::Kind;
  switch (t.kind) {
    case Kind::Literal: return Bound{t.literal.as_double(), t.literal.as_double(), 0};
    case Kind::Position: return Bound{-1e6, 1e6, 0};
    case Kind::Parameter: return Bound{least_parameter, most_parameter, 0};
    case Kind::Interpolated: return of_interpolated(t);
    case Kind::StepNumber: return Bound{0, most_parameter, 0};
    case Kind::Operator: return of_operator(t);
    case Kind::Cast:
    case Kind::Saturate: {
      const Result a = of(t.operands.at(0));
      return a ? converted(*a, t.operands[0].type.scalar, t.type.scalar) : a;
    }
    case Kind::Pack: {
      Result all;
      for (const Term& o : t.operands) {
        Result one = of(o);
        if (one) one = converted(*one, o.type.scalar, t.type.scalar);
        if (!one) return one;
        all = all ? hull(*all, *one) : *one;
      }
      return all;
    }
    case Kind::Lane: return of(t.operands.at(0));
    case Kind::Read: return of_access(t.access);
    case Kind::Window: {
      const Result value = of(t.operands.at(0));
      return value ? of_window(t.combine, *value, t.window.points(), t.type) : value;
    }
    case Kind::Coefficient: {
      Bound b{0, 0, 0};
      for (double c : t.window.coefficients) b = hull(b, {c, c, 0});
      return b;
    }
    case Kind::Fold: return of_fold(t);
    case Kind::Accumulator:
      for (auto a = accumulators_.rbegin(); a != accumulators_.rend(); ++a) {
        if (a->first == t.id) return a->second;
      }
      return is_float(t.type.scalar) ? Bound{-100, 100, recipe_.strict ? 0 : 1e-4} : range_of(t.type.scalar);
    case Kind::Given: return given_;
  }
  return std::nullopt;
}

Result Bounds::of_operator(const Term& t) {
  const Scalar s = t.type.scalar;
  std::vector<Bound> given, o;  // in their own types, and in that of the result
  for (const Term& operand : t.operands) {
    Result one = of(operand);
    if (!one) return one;
    given.push_back(*one);
    const bool is_condition = t.op == Op::Select && o.empty();
    if (s != Scalar::Bool && !is_condition) one = converted(*one, operand.type.scalar, s);
    if (!one) return one;
    o.push_back(*one);
  }
  const auto compose_in = [&](Scalar type, Op op, const Bound& a, const Bound& b) {
    return computed(op, {a, b}, type);
  };
  const auto compose = [&](Op op, const Bound& a, const Bound& b) { return compose_in(s, op, a, b); };
  switch (t.op) {
    case Op::Select: return is_exact(o[0]) ? Result(hull(o[1], o[2])) : std::nullopt;
    case Op::Clamp: {
      const Result low = compose(Op::Max, o[0], o[1]);  // min(max(a, low), high), as scalars go
      return low ? compose(Op::Min, *low, o[2]) : low;
    }
    case Op::Lerp: {
      // The difference has the type of both ends, which may be narrower than that of the weight.
      const Scalar ends = ir::common_type(t.operands[0].type, t.operands[1].type).scalar;
      const Result from = converted(given[0], t.operands[0].type.scalar, ends);
      const Result to = converted(given[1], t.operands[1].type.scalar, ends);
      Result r = from && to ? compose_in(ends, Op::Sub, *to, *from) : std::nullopt;
      if (r) r = converted(*r, ends, s);
      if (r) r = compose(Op::Mul, o[2], *r);
      return r ? compose(Op::Add, o[0], *r) : r;
    }
    case Op::Dot: {
      const Result r = compose(Op::Mul, o[0], o[1]);
      return r ? of_window(Combine::Sum, *r, t.operands[0].type.lanes, t.type) : r;
    }
    default: break;
  }
  const bool decides = !is_float(s);
  for (const Bound& b : o) {
    if (decides && !is_exact(b)) return std::nullopt;
  }
  return computed(t.op, o, s);
}

/// One operation on operands that have been converted to its type.
Result Bounds::computed(Op op, const std::vector<Bound>& o, Scalar s) const {
  Bound range = fitted(interval(op, o, s), s);
  if (std::any_of(o.begin(), o.end(), [](const Bound& b) { return b.special; })) {
    if (!keeps_special(op, o)) return std::nullopt;
    range = with_special(op, o, s, range);
  }
  if (recipe_.strict || !is_float(s)) return range;
  const auto error = error_of(op, o, range, rounding(s));
  if (!error) return std::nullopt;
  range.error = *error;
  return accepted(range);
}

Result Bounds::of_access(const Access& access) {
  Result result = access.age < 0 ? sources_.at(access.source) : fields_.at(access.source);
  for (const Index& index : access.indices) {
    for (const Term& t : index.computed) {
      const Result at = of(t);
      if (!at || !is_exact(*at)) return std::nullopt;
    }
  }
  const Scalar scalar = recipe_.type_of(access.source).scalar;
  for (const Term& t : access.constant) {
    Result constant = of(t);
    if (constant) constant = converted(*constant, t.type.scalar, scalar);
    if (!constant) return constant;
    result = hull(*result, *constant);
  }
  return hull(*result, {0, 0, 0});  // what is empty is read as 0
}

namespace {

/// A multiple of 1/8 that is small: floats hold it exactly.
bool is_dyadic(const Term& t) {
  return t.kind == Term::Kind::Operator && t.op == Op::Mul && t.operands.at(0).kind == Term::Kind::Position &&
         t.operands.at(1).kind == Term::Kind::Literal;
}

}  // namespace

/// Coordinates near ties would go either way. Far out, 1 - (x - floor(x)) loses its 1 when compilers regroup
/// it, and the weights may sum to nothing.
Result Bounds::of_interpolated(const Term& t) {
  const Result value = of_access(t.access);
  for (const Term& coordinate : t.operands) {
    if (!recipe_.strict && is_dyadic(coordinate)) continue;
    const Result at = of(coordinate);
    if (!at || !is_exact(*at)) return std::nullopt;
    if (!recipe_.strict && at->magnitude() >= 0x1p20) return std::nullopt;
  }
  return value ? of_resampled(*value, t.interpolation, t.type, static_cast<int>(t.operands.size())) : value;
}

/// The magnitudes of the weights of a dimension sum to less than 2.
Result Bounds::of_resampled(const Bound& value, Interpolation kernel, Type type, int rank) const {
  if (kernel == Interpolation::Nearest) return value;
  if (value.special) return std::nullopt;  // weights of 0 may come out as almost 0
  const double weights = std::ldexp(1, rank), most = weights * value.magnitude();
  if (recipe_.strict) return sane({-most, most, 0});
  constexpr double roundings = 256;
  return accepted({-most, most, weights * value.error + roundings * rounding(type.scalar) * most});
}

/// Each level adds a weighted mean of the one below.
Result Bounds::of_pyramid(const Stage& stage) {
  const Result value = of_access(stage.access);
  if (!value || value->special) return std::nullopt;
  const double most = stage.levels * value->magnitude();
  if (recipe_.strict) return sane({-most, most, 0});
  constexpr double roundings = 256;
  return accepted(
      {-most, most, stage.levels * value->error + roundings * rounding(stage.type.scalar) * most});
}

Result Bounds::of_window(Combine combine, const Bound& value, int points, Type type) const {
  const double n = points, m = value.magnitude();
  const bool inexact = !recipe_.strict && is_float(type.scalar);
  const double u = rounding(type.scalar);
  switch (combine) {
    case Combine::Minimum:
    case Combine::Maximum:
      // Without strict, a window that holds a NaN has no one minimum.
      return inexact && is_unbounded(value) ? std::nullopt : Result(value);
    case Combine::Median: return is_float(type.scalar) && is_unbounded(value) ? std::nullopt : Result(value);
    case Combine::Sum: {
      const Bound range = fitted({std::min(n * value.low, 0.), std::max(n * value.high, 0.), 0}, type.scalar);
      return inexact ? accepted({range.low, range.high, n * value.error + n * u * n * m, value.special})
                     : range;
    }
    case Combine::Product: {
      if (value.special && !is_exact(value) && has_zero(value)) return std::nullopt;
      const double most = std::pow(std::max(m, 1.), n);
      const Bound range = fitted({-most, most, 0}, type.scalar);
      return inexact ? accepted({range.low, range.high, n * most * (value.error + u), value.special}) : range;
    }
  }
  return std::nullopt;
}

Result Bounds::of_fold(const Term& t) {
  const int count = accumulators_of(t);
  std::vector<Bound> now;
  for (int a = 0; a < count; ++a) {
    const Result initial = of(t.operands.at(a));
    if (!initial) return initial;
    now.push_back(*initial);
  }
  const std::size_t outside = accumulators_.size();
  const auto forget = [&](Result result) {
    accumulators_.resize(outside);
    return result;
  };
  for (int a = 0; a < count; ++a) accumulators_.emplace_back(accumulator_of(t.id, a), now[a]);
  // Bounds of integers reach those of their type or stay; those of floats need every tap.
  const int taps = recipe_.strict ? std::min(t.window.points(), 3) : t.window.points();
  for (int tap = 0; tap < taps; ++tap) {
    for (int a = 0; a < count; ++a) {
      const Term& next = t.operands.at(count + a);
      Result one = of(next);
      if (one) one = converted(*one, next.type.scalar, t.operands[a].type.scalar);
      if (!one) return forget(one);
      accumulators_[outside + a].second = hull(*one, accumulators_[outside + a].second);
    }
  }
  if (recipe_.strict) {
    for (int a = 0; a < count; ++a) accumulators_[outside + a].second = range_of(t.operands[a].type.scalar);
  }
  return forget(of(t.operands.at(2 * count)));
}

Result Bounds::of_window_stage(const Stage& stage) {
  Result value = of_access(stage.access);
  if (!value) return value;
  const Type type = stage.window_type;
  if (stage.kind == Stage::Kind::Resize)
    return of_resampled(*value, stage.interpolation, type, static_cast<int>(stage.box.size()));
  const int points = stage.window.points();
  if (stage.kind == Stage::Kind::Convolve) {
    double most = 0;
    for (double c : stage.window.coefficients) most = std::max(most, std::abs(c));
    const double m = value->magnitude() * most;
    const double error = recipe_.strict || !is_float(type.scalar) ? 0 : m * rounding(type.scalar);
    return of_window(Combine::Sum, {-m, m, value->error * most + error, value->special}, points, type);
  }
  switch (stage.local) {
    case weft::Local::Sum: return of_window(Combine::Sum, *value, points, type);
    case weft::Local::Product: return of_window(Combine::Product, *value, points, type);
    case weft::Local::Min: return of_window(Combine::Minimum, *value, points, type);
    case weft::Local::Max: return of_window(Combine::Maximum, *value, points, type);
    case weft::Local::Median: return of_window(Combine::Median, *value, points, type);
    case weft::Local::Mean: break;
  }
  return of_window(Combine::Sum, *value, points, type);  // a little more than the mean
}

/// Floats that are summed are not drawn where the order counts: in strict pipelines, and where they may be
/// infinite.
Result Bounds::of_reduce(const Stage& stage) {
  using Kind = weft::Reduce::Kind;
  const Result value = of(stage.cases.at(0).value);
  if (!value) return value;
  if (stage.reduce == Kind::Custom) return range_of(stage.type.scalar);
  const bool picks_place = stage.reduce == Kind::ArgMin || stage.reduce == Kind::ArgMax;
  const bool selects = picks_place || stage.reduce == Kind::Min || stage.reduce == Kind::Max;
  const bool from_floats = is_float(stage.cases[0].value.type.scalar);
  if (from_floats && !value->is_finite()) return std::nullopt;
  if (picks_place) return is_exact(*value) ? Result(Bound{-1, 1e4, 0}) : std::nullopt;
  if (selects) return hull(*value, range_of(stage.type.scalar));  // of no elements it is an end of the type
  if (!from_floats) return range_of(stage.type.scalar);
  constexpr double most_pixels = 4000, roundings = 4096 + 32;
  const double sum = most_pixels * value->magnitude();
  if (recipe_.strict || stage.reduce == Kind::Product) return std::nullopt;
  return accepted({-sum, sum, most_pixels * value->error + roundings * rounding(stage.type.scalar) * sum,
                   value->special});
}

/// Updates come in any order, so that floats may only be selected.
Result Bounds::of_scatter(const Stage& stage) {
  for (const Term& t : stage.at) {
    const Result at = of(t);
    if (!at || !is_exact(*at)) return std::nullopt;
  }
  const Term& term = stage.cases.at(0).value;
  Result value = of(term);
  if (value) value = converted(*value, term.type.scalar, stage.type.scalar);
  if (!value || !is_float(stage.type.scalar)) return value ? range_of(stage.type.scalar) : value;
  const bool selects = stage.update == ScatterUpdate::Op::Min || stage.update == ScatterUpdate::Op::Max;
  if (!selects || is_unbounded(*value)) return std::nullopt;
  return hull(*value, *of(stage.initial));
}

void Bounds::assume_fields(int first_source, const std::vector<Type>& types) {
  fields_.clear();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool exact = recipe_.strict || !is_float(types[i].scalar);
    fields_[first_source + static_cast<int>(i)] = exact ? range_of(types[i].scalar) : Bound{-20, 20, 1e-4};
  }
}

/// Each step makes the intervals wider, unless the fields are exact: then they are everything at once.
std::optional<std::vector<Bound>> Bounds::of_evolution(const std::vector<Stage>& fields, int first_source) {
  std::map<int, Bound> now;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool exact = recipe_.strict || !is_float(fields[i].type.scalar);
    now[first_source + static_cast<int>(i)] =
        exact ? range_of(fields[i].type.scalar) : sources_.at(fields[i].access.source);
  }
  for (int step = 0; step < most_parameter; ++step) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields_ = now;
      const Result after = of_cases(fields[i]);
      if (!after) return std::nullopt;
      Bound& field = now[first_source + static_cast<int>(i)];
      field = hull(field, *after);
    }
  }
  std::vector<Bound> all;
  for (const auto& [source, bound] : now) all.push_back(bound);
  return all;
}

Result Bounds::of(const Stage& stage) {
  if (stage.kind == Stage::Kind::Reduce) return of_reduce(stage);
  if (stage.kind == Stage::Kind::Scatter) return of_scatter(stage);
  if (stage.kind == Stage::Kind::Pyramid) return of_pyramid(stage);
  if (stage.kind == Stage::Kind::Convolve || stage.kind == Stage::Kind::Local ||
      stage.kind == Stage::Kind::Resize) {
    Result window = of_window_stage(stage);
    if (window) window = fitted(*window, stage.window_type.scalar);
    if (!window || stage.post.empty()) return window;
    given_ = window;
    const Result result = of(stage.post[0]);
    given_.reset();
    return result;
  }
  return of_cases(stage);
}

Result Bounds::of_cases(const Stage& stage) {
  Result all;
  for (const Case& c : stage.cases) {
    for (const Term& when : c.when) {
      const Result condition = of(when);
      if (!condition || !is_exact(*condition)) return std::nullopt;
    }
    Result value = of(c.value);
    if (value) value = converted(*value, c.value.type.scalar, stage.type.scalar);
    if (!value) return value;
    all = all ? hull(*all, *value) : *value;
  }
  return all;
}

std::optional<std::vector<Bound>> bounds_of(const Recipe& recipe) {
  Bounds bounds(recipe);
  std::vector<Bound> all;
  const std::vector<bool> needed = needed_sources(recipe);
  for (std::size_t s = 0; s < recipe.stages.size(); ++s) {
    const bool counts = needed[recipe.images.size() + s];
    const auto stage = recipe.stages.begin() + static_cast<std::ptrdiff_t>(s);
    std::optional<std::vector<Bound>> some;
    if (stage->kind == Stage::Kind::Evolve)
      some = bounds.of_evolution({stage, stage + stage->fields}, recipe.first_stage() + static_cast<int>(s));
    else if (const Result one = counts ? bounds.of(*stage) : Result(Bound{}))
      some = {*one};
    if (!some) return std::nullopt;
    for (const Bound& one : *some) bounds.add(one), all.push_back(one);
    s += some->size() - 1;
  }
  return all;
}

}  // namespace weft::fuzz
