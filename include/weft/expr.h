// Expressions: what a pixel is, as a function of its coordinates. Arithmetic follows C++ (integral promotion,
// usual conversions; a double literal makes a double), without its undefined behaviour: signed integers wrap,
// x/0 is 0, shifts are masked, float to integer truncates and saturates. Operators work lane by lane; a
// scalar meets lanes.
#pragma once

#include <weft/error.h>
#include <weft/types.h>
#include <weft/value_range.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <source_location>
#include <type_traits>
#include <vector>

namespace weft {

namespace ir {
struct Node;
class Affine;
}  // namespace ir

class Index;
struct Operand;

namespace detail {
template <class...>
constexpr bool never = false;  // depends on a template's arguments, for mistakes that are explained
}

/// A value at the current pixel.
class Expr {
 public:
  Expr(bool value);           // NOLINT(google-explicit-constructor): literals stand in formulas
  Expr(std::int8_t value);    // NOLINT
  Expr(std::uint8_t value);   // NOLINT
  Expr(std::int16_t value);   // NOLINT
  Expr(std::uint16_t value);  // NOLINT
  Expr(int value);            // NOLINT
  Expr(unsigned value);       // NOLINT
  Expr(std::int64_t value);   // NOLINT
  Expr(std::uint64_t value);  // NOLINT
  Expr(float value);          // NOLINT
  Expr(half value);           // NOLINT
  Expr(double value);         // NOLINT
  Expr(const Index& value);   // NOLINT: a coordinate as a value, an i64
  template <class T, int N>
  Expr(const Vec<T, N>& pixel);  // NOLINT: Vec<std::uint8_t, 3>{255, 0, 0} is a red pixel
  explicit Expr(std::shared_ptr<const ir::Node> node) : node_(std::move(node)) {}

  Expr(const Expr&) = default;
  Expr(Expr&&) = default;
  ~Expr() = default;
  // A C++ variable may get another value, as in a loop that adds several stages; a pixel may not.
  Expr& operator=(const Expr&) & = default;
  Expr& operator=(Expr&&) & = default;
  Expr& operator+=(const Operand& value) &;
  Expr& operator-=(const Operand& value) &;
  Expr& operator*=(const Operand& value) &;
  Expr& operator/=(const Operand& value) &;
  template <class T>
  void operator=(const T&) && {
    static_assert(detail::never<T>, "a pixel cannot be assigned: the body of its stage returns its value");
  }

  Type type() const;
  /// Lane i of a pixel: rgb.lane(0) is red.
  Expr lane(int i, std::source_location here = std::source_location::current()) const;

  const std::shared_ptr<const ir::Node>& node() const { return node_; }

 private:
  std::shared_ptr<const ir::Node> node_;
};

/// An operand of an operator, and where in the user's source it was written.
struct Operand {
  template <class T>
  requires(std::is_convertible_v<const T&, Expr>)
      Operand(const T& v, std::source_location at = std::source_location::current())  // NOLINT
      : value(value_of(v, at)), here(at) {}

  Expr value;
  std::source_location here;

 private:
  template <class T>
  static Expr value_of(const T& v, const std::source_location& at) {
    if constexpr (requires { v.pixel(at); })
      return v.pixel(at);
    else
      return v;
  }
};

namespace detail {
using Here = std::source_location;
}  // namespace detail

/// An affine form of coordinates and sizes. `/` is the floor division and `%` its non-negative remainder, so
/// that src(x / 2, y) is right for negative x as well.
class Index {
 public:
  Index(std::integral auto value)  // NOLINT(google-explicit-constructor): Extents{640, 480}
      : Index(constant(static_cast<std::int64_t>(value))) {}
  explicit Index(ir::Affine affine);
  const ir::Affine& affine() const { return *affine_; }

 private:
  static Index constant(std::int64_t value);
  std::shared_ptr<const ir::Affine> affine_;
};
/// A coordinate of the pixel being computed.
using Var = Index;

Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator-(const Index& a);
Index operator+(const Index& a, std::integral auto b);
Index operator+(std::integral auto a, const Index& b);
Index operator-(const Index& a, std::integral auto b);
Index operator-(std::integral auto a, const Index& b);
Index operator*(const Index& a, std::integral auto b);
Index operator*(std::integral auto a, const Index& b);
Index operator/(const Index& a, std::integral auto b);
Index operator%(const Index& a, std::integral auto b);

Expr operator-(const Expr& a);
Expr operator!(const Expr& a);
Expr operator~(const Operand& a);
Expr operator+(const Operand& a, const Operand& b);
Expr operator-(const Operand& a, const Operand& b);
Expr operator*(const Operand& a, const Operand& b);
Expr operator/(const Operand& a, const Operand& b);
Expr operator%(const Operand& a, const Operand& b);
Expr operator&(const Operand& a, const Operand& b);
Expr operator|(const Operand& a, const Operand& b);
Expr operator^(const Operand& a, const Operand& b);
Expr operator<<(const Operand& a, const Operand& b);
Expr operator>>(const Operand& a, const Operand& b);
Expr operator<(const Operand& a, const Operand& b);
Expr operator<=(const Operand& a, const Operand& b);
Expr operator>(const Operand& a, const Operand& b);
Expr operator>=(const Operand& a, const Operand& b);
Expr operator==(const Operand& a, const Operand& b);
Expr operator!=(const Operand& a, const Operand& b);
Expr operator&&(const Operand& a, const Operand& b);  ///< Both sides are evaluated.
Expr operator||(const Operand& a, const Operand& b);

Expr min(const Expr& a, const Expr& b, detail::Here here = detail::Here::current());
Expr max(const Expr& a, const Expr& b, detail::Here here = detail::Here::current());
Expr clamp(const Expr& a, const Expr& low, const Expr& high, detail::Here here = detail::Here::current());
Expr abs(const Expr& a);
Expr sqrt(const Expr& a);
Expr cbrt(const Expr& a);
Expr exp(const Expr& a);
Expr exp2(const Expr& a);
Expr log(const Expr& a);
Expr log2(const Expr& a);
Expr erf(const Expr& a);
Expr sin(const Expr& a);
Expr cos(const Expr& a);
Expr tan(const Expr& a);
Expr asin(const Expr& a);
Expr acos(const Expr& a);
Expr atan(const Expr& a);
Expr atan2(const Expr& y, const Expr& x, detail::Here here = detail::Here::current());
Expr tanh(const Expr& a);
Expr pow(const Expr& a, const Expr& b, detail::Here here = detail::Here::current());
Expr hypot(const Expr& a, const Expr& b, detail::Here here = detail::Here::current());
Expr floor(const Expr& a);
Expr ceil(const Expr& a);
Expr round(const Expr& a);  ///< Half to even, as rint.
Expr trunc(const Expr& a);
Expr lerp(const Expr& a, const Expr& b, const Expr& t,
          detail::Here here = detail::Here::current());  ///< a + t * (b - a)
/// `a` where the condition holds, else `b`. Both are evaluated: where `b` may not even be read, use cases().
Expr select(const Expr& condition, const Expr& a, const Expr& b, detail::Here here = detail::Here::current());

/// One pixel of 2 to 4 lanes.
Expr pack(const std::vector<Expr>& lanes, detail::Here here = detail::Here::current());
template <class... More>
Expr pack(const Operand& a, const Expr& b, const More&... more) {
  return pack(std::vector<Expr>{a.value, b, Expr(more)...}, a.here);
}
Expr dot(const Expr& a, const Expr& b,
         detail::Here here = detail::Here::current());  ///< The sum over the lanes of a * b.

/// C++'s conversion; float to integer truncates and saturates.
Expr cast(Type type, const Expr& a, detail::Here here = detail::Here::current());
/// Rounds half to even, then clamps to the range of the type.
Expr saturate(Type type, const Expr& a, detail::Here here = detail::Here::current());
/// cast<float>(e), cast<std::uint8_t>(e): applied to each lane.
template <class T>
Expr cast(const Expr& a, detail::Here here = detail::Here::current()) {
  return cast(type_of<T>(), a, here);
}
template <class T>
Expr saturate(const Expr& a, detail::Here here = detail::Here::current()) {
  return saturate(type_of<T>(), a, here);
}

/// A run-time parameter: an argument of the compiled pipeline, with the value it has unless the caller gives
/// one.
template <class T>
class Param;

namespace detail {
Expr declare_param(const char* name, Type type, double value, const ValueRange& range, const Where& where);
Index add(const Index& a, std::int64_t b);
Index multiply(const Index& a, std::int64_t b);
Index floor_divide(const Index& a, std::int64_t b);
Index modulo(const Index& a, std::int64_t b);
}  // namespace detail

template <class T>
class Param : public Expr {
 public:
  Param(const char* name, T value, std::source_location here = std::source_location::current())
      : Param(name, value, ValueRange{}, here) {}
  /// A run refuses values outside the range: Param<int> steps("steps", 1, at_least(0)).
  Param(const char* name, T value, const ValueRange& range,
        std::source_location here = std::source_location::current())
      : Expr(detail::declare_param(name, type_of<T>(), static_cast<double>(value), range, here)) {}
};

// ---- the templates above, defined ----

template <class T, int N>
Expr::Expr(const Vec<T, N>& pixel)
    : Expr(pack(std::vector<Expr>(std::begin(pixel.lane), std::end(pixel.lane)))) {}

Index operator+(const Index& a, std::integral auto b) { return detail::add(a, b); }
Index operator+(std::integral auto a, const Index& b) { return detail::add(b, a); }
Index operator-(const Index& a, std::integral auto b) {
  return detail::add(a, -static_cast<std::int64_t>(b));
}
Index operator-(std::integral auto a, const Index& b) { return detail::add(-b, a); }
Index operator*(const Index& a, std::integral auto b) { return detail::multiply(a, b); }
Index operator*(std::integral auto a, const Index& b) { return detail::multiply(b, a); }
Index operator/(const Index& a, std::integral auto b) { return detail::floor_divide(a, b); }
Index operator%(const Index& a, std::integral auto b) { return detail::modulo(a, b); }

}  // namespace weft
