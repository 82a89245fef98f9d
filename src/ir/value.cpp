#include "ir/value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::ir {
namespace {

/// Calls f with a value-initialised C++ object of the scalar type.
template <class F>
auto with_type(Scalar s, F f) {
  switch (s) {
    case Scalar::Bool: return f(bool{});
    case Scalar::I8: return f(std::int8_t{});
    case Scalar::I16: return f(std::int16_t{});
    case Scalar::I32: return f(std::int32_t{});
    case Scalar::I64: return f(std::int64_t{});
    case Scalar::U8: return f(std::uint8_t{});
    case Scalar::U16: return f(std::uint16_t{});
    case Scalar::U32: return f(std::uint32_t{});
    case Scalar::U64: return f(std::uint64_t{});
    case Scalar::F16: return f(half{});
    case Scalar::F32: return f(float{});
    case Scalar::F64: break;
  }
  return f(double{});
}

template <class T>
constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, half>;

template <class T>
T get(Number n) {
  if constexpr (std::is_same_v<T, half>)
    return half(static_cast<float>(n.f));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(n.f);
  else
    return static_cast<T>(n.i);
}

template <class T>
Number put(T value) {
  if constexpr (is_real<T>)
    return {.f = static_cast<double>(value)};
  else
    return {.i = static_cast<std::int64_t>(value)};
}

template <class To>
To real_to_integer(double value) {
  // The largest double not above the type's maximum; beyond it the result saturates.
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (value >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class T>
T real_unary(UnaryOp op, T a) {
  switch (op) {
    case UnaryOp::Neg: return -a;
    case UnaryOp::Abs: return std::fabs(a);
#define ROW(op, name, c_name, ...) \
  case UnaryOp::op: return std::c_name(a);
      WEFT_FUNCTIONS_OF_ONE(ROW)
#undef ROW
    case UnaryOp::Not:
    case UnaryOp::BitNot: break;
  }
  return a;  // the verifier admits no other operator on floats
}

template <class T>
Number real_binary(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Add: return put(static_cast<T>(a + b));
    case BinaryOp::Sub: return put(static_cast<T>(a - b));
    case BinaryOp::Mul: return put(static_cast<T>(a * b));
    case BinaryOp::Div: return put(static_cast<T>(a / b));
    case BinaryOp::Rem: return put(static_cast<T>(std::fmod(a, b)));
    case BinaryOp::Min: return put(b < a ? b : a);
    case BinaryOp::Max: return put(a < b ? b : a);
#define ROW(op, name, c_name, ...) \
  case BinaryOp::op: return put(static_cast<T>(std::c_name(a, b)));
      WEFT_FUNCTIONS_OF_TWO(ROW)
#undef ROW
    case BinaryOp::Lt: return put(a < b);
    case BinaryOp::Le: return put(a <= b);
    case BinaryOp::Eq: return put(a == b);
    case BinaryOp::Ne: return put(a != b);
    default: return put(a);  // the verifier admits no bit operators on floats
  }
}

template <class T>
Number integer_binary(BinaryOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;  // wraps where the signed type would be undefined
  // U may be narrower than int, whose product could overflow: widen to at least unsigned.
  using W = std::common_type_t<U, unsigned>;
  const W ua = static_cast<W>(static_cast<U>(a)), ub = static_cast<W>(static_cast<U>(b));
  constexpr int width = std::numeric_limits<U>::digits;
  const int count = static_cast<int>(static_cast<std::uint64_t>(b) & (width - 1));
  const bool overflowing_division = std::is_signed_v<T> && b == static_cast<T>(-1);
  switch (op) {
    case BinaryOp::Add: return put(static_cast<T>(ua + ub));
    case BinaryOp::Sub: return put(static_cast<T>(ua - ub));
    case BinaryOp::Mul: return put(static_cast<T>(ua * ub));
    case BinaryOp::Div:
      return put(b == 0 ? T{0} : overflowing_division ? static_cast<T>(W{0} - ua) : static_cast<T>(a / b));
    case BinaryOp::Rem: return put(b == 0 || overflowing_division ? T{0} : static_cast<T>(a % b));
    case BinaryOp::Min: return put(std::min(a, b));
    case BinaryOp::Max: return put(std::max(a, b));
    case BinaryOp::And: return put(static_cast<T>(a & b));
    case BinaryOp::Or: return put(static_cast<T>(a | b));
    case BinaryOp::Xor: return put(static_cast<T>(a ^ b));
    case BinaryOp::Shl: return put(static_cast<T>(static_cast<U>(ua << count)));
    case BinaryOp::Shr: return put(static_cast<T>(a >> count));
    case BinaryOp::Lt: return put(a < b);
    case BinaryOp::Le: return put(a <= b);
    case BinaryOp::Eq: return put(a == b);
    case BinaryOp::Ne: return put(a != b);
    default: break;
  }
  return put(a);  // the verifier admits functions on floats only
}

Number bool_binary(BinaryOp op, bool a, bool b) {
  switch (op) {
    case BinaryOp::Add: return put(a || b);  // these two only where bins are bools: operators promote
    case BinaryOp::Mul: return put(a && b);
    case BinaryOp::And: return put(a && b);
    case BinaryOp::Or: return put(a || b);
    case BinaryOp::Xor: return put(a != b);
    case BinaryOp::Lt: return put(!a && b);
    case BinaryOp::Le: return put(!a || b);
    case BinaryOp::Eq: return put(a == b);
    case BinaryOp::Ne: return put(a != b);
    case BinaryOp::Min: return put(a && b);
    case BinaryOp::Max: return put(a || b);
    default: return put(a);
  }
}

}  // namespace

Number apply(UnaryOp op, Scalar s, Number a) {
  return with_type(s, [&](auto tag) -> Number {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, half>) {
      return put(half(real_unary(op, static_cast<float>(a.f))));
    } else if constexpr (is_real<T>) {
      return put(real_unary(op, get<T>(a)));
    } else if constexpr (std::is_same_v<T, bool>) {
      return put(op == UnaryOp::Not ? !get<bool>(a) : get<bool>(a));
    } else {
      using U = std::make_unsigned_t<T>;
      const T v = get<T>(a);
      switch (op) {
        case UnaryOp::Neg: return put(static_cast<T>(U{0} - static_cast<U>(v)));
        case UnaryOp::BitNot: return put(static_cast<T>(~v));
        case UnaryOp::Abs: return put(v < T{0} ? static_cast<T>(U{0} - static_cast<U>(v)) : v);
        default: return a;  // the verifier admits no other operator on integers
      }
    }
  });
}

Number apply(BinaryOp op, Scalar s, Number a, Number b) {
  return with_type(s, [&](auto tag) -> Number {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, half>) {
      const auto x = static_cast<float>(a.f), y = static_cast<float>(b.f);
      const Number wide = real_binary(op, x, y);
      return is_comparison(op) ? wide : put(half(static_cast<float>(wide.f)));
    } else if constexpr (is_real<T>) {
      return real_binary(op, get<T>(a), get<T>(b));
    } else if constexpr (std::is_same_v<T, bool>) {
      return bool_binary(op, get<bool>(a), get<bool>(b));
    } else {
      return integer_binary(op, get<T>(a), get<T>(b));
    }
  });
}

Number convert(CastMode mode, Scalar from, Scalar to, Number a) {
  return with_type(from, [&](auto source) -> Number {
    return with_type(to, [&](auto target) -> Number {
      using From = decltype(source);
      using To = decltype(target);
      const From value = get<From>(a);
      if constexpr (is_real<To>) {
        if constexpr (std::is_same_v<To, half>)
          return put(half(static_cast<float>(value)));
        else
          return put(static_cast<To>(value));
      } else if constexpr (std::is_same_v<To, bool>) {
        return put(value != From{});
      } else if constexpr (is_real<From>) {
        const auto real = static_cast<double>(value);
        return put(real_to_integer<To>(mode == CastMode::Saturate ? std::nearbyint(real) : real));
      } else if (mode == CastMode::Convert) {
        return put(static_cast<To>(value));
      } else if constexpr (std::is_same_v<From, bool>) {
        return put(static_cast<To>(value));
      } else {
        if (std::cmp_less(value, std::numeric_limits<To>::min())) return put(std::numeric_limits<To>::min());
        if (std::cmp_greater(value, std::numeric_limits<To>::max()))
          return put(std::numeric_limits<To>::max());
        return put(static_cast<To>(value));
      }
    });
  });
}

Number load(Scalar s, const void* address) {
  return with_type(s, [&](auto tag) {
    std::memcpy(&tag, address, sizeof tag);
    return put(tag);
  });
}

void store(Scalar s, void* address, Number value) {
  with_type(s, [&](auto tag) {
    tag = get<decltype(tag)>(value);
    std::memcpy(address, &tag, sizeof tag);
  });
}

Value Value::integer(Type type, std::int64_t value) {
  Value v{type, {}};
  for (int l = 0; l < type.lanes; ++l)
    v.lane[l] = convert(CastMode::Convert, Scalar::I64, type.scalar, {.i = value});
  return v;
}

Value Value::real(Type type, double value) {
  Value v{type, {}};
  for (int l = 0; l < type.lanes; ++l)
    v.lane[l] = convert(CastMode::Convert, Scalar::F64, type.scalar, {.f = value});
  return v;
}

double Value::as_double(int l) const {
  return convert(CastMode::Convert, type.scalar, Scalar::F64, lane[l]).f;
}
std::int64_t Value::as_integer(int l) const {
  return convert(CastMode::Convert, type.scalar, Scalar::I64, lane[l]).i;
}

bool Value::operator==(const Value& o) const {
  if (type != o.type) return false;
  for (int l = 0; l < type.lanes; ++l) {
    if (lane[l].i != o.lane[l].i) return false;
  }
  return true;
}

std::string Value::to_string() const {
  std::string text;
  for (int l = 0; l < type.lanes; ++l) {
    std::string one;
    if (type.scalar == Scalar::U64) {
      one = std::to_string(static_cast<std::uint64_t>(lane[l].i));
    } else if (type.scalar == Scalar::Bool) {
      one = lane[l].i ? "true" : "false";
    } else if (!is_float(type.scalar)) {
      one = std::to_string(lane[l].i);
    } else {
      // The shortest decimal that reads back as the same number of this type.
      char digits[40];
      const auto end = type.scalar == Scalar::F64
                           ? std::to_chars(digits, digits + sizeof digits, lane[l].f)
                           : std::to_chars(digits, digits + sizeof digits, static_cast<float>(lane[l].f));
      one.assign(digits, end.ptr);
    }
    text += (l ? ", " : "") + one;
  }
  return type.lanes == 1 ? text : "(" + text + ")";
}

Value largest(Type type) {
  return with_type(type.scalar, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (is_real<T>)
      return Value::real(type, std::numeric_limits<double>::infinity());
    else
      return Value::integer(type, static_cast<std::int64_t>(std::numeric_limits<T>::max()));
  });
}

Value least(Type type) {
  return with_type(type.scalar, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (is_real<T>)
      return Value::real(type, -std::numeric_limits<double>::infinity());
    else
      return Value::integer(type, static_cast<std::int64_t>(std::numeric_limits<T>::lowest()));
  });
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Lt; }

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
#define ROW_OF(operands, name, c_name, cost, has_vectors, least, greatest, steepest) \
  {#name, #c_name, operands, Function::Cost::cost, has_vectors, least, greatest, steepest},
#define ROW(op, ...) ROW_OF(1, __VA_ARGS__)
constexpr Function functions_of_one[] = {WEFT_FUNCTIONS_OF_ONE(ROW)};
#undef ROW
#define ROW(op, ...) ROW_OF(2, __VA_ARGS__)
constexpr Function functions_of_two[] = {WEFT_FUNCTIONS_OF_TWO(ROW)};
#undef ROW

/// The row of an operator, given the first that is a function.
template <class Op, std::size_t n>
const Function* row_of(Op op, Op first, const Function (&rows)[n]) {
  const int row = static_cast<int>(op) - static_cast<int>(first);
  return row >= 0 && row < static_cast<int>(n) ? &rows[row] : nullptr;
}

}  // namespace

const Function* function_of(UnaryOp op) { return row_of(op, UnaryOp::Sqrt, functions_of_one); }
const Function* function_of(BinaryOp op) { return row_of(op, BinaryOp::Pow, functions_of_two); }

std::span<const Function> functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> rows(std::begin(functions_of_one), std::end(functions_of_one));
    rows.insert(rows.end(), std::begin(functions_of_two), std::end(functions_of_two));
    return rows;
  }();
  return all;
}

std::string name_of(UnaryOp op) {
  if (const Function* function = function_of(op)) return function->c_name;
  switch (op) {
    case UnaryOp::Neg: return "-";
    case UnaryOp::Not: return "!";
    case UnaryOp::BitNot: return "~";
    default: return "abs";
  }
}

std::string name_of(BinaryOp op) {
  if (const Function* function = function_of(op)) return function->c_name;
  switch (op) {
    case BinaryOp::Add: return "+";
    case BinaryOp::Sub: return "-";
    case BinaryOp::Mul: return "*";
    case BinaryOp::Div: return "/";
    case BinaryOp::Rem: return "%";
    case BinaryOp::Min: return "min";
    case BinaryOp::Max: return "max";
    case BinaryOp::And: return "&";
    case BinaryOp::Or: return "|";
    case BinaryOp::Xor: return "^";
    case BinaryOp::Shl: return "<<";
    case BinaryOp::Shr: return ">>";
    case BinaryOp::Lt: return "<";
    case BinaryOp::Le: return "<=";
    case BinaryOp::Eq: return "==";
    default: return "!=";
  }
}

}  // namespace weft::ir
