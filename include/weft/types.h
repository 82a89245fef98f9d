// The types of pixels: a scalar type and a number of lanes (1 to 4).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace weft {

enum class Scalar : std::uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64 };

/// An IEEE binary16 number. It is a storage type: arithmetic on it happens in float.
struct half {
  std::uint16_t bits = 0;

  half() = default;
  explicit half(float value);  ///< Rounds to nearest, ties to even.
  operator float() const;      // NOLINT(google-explicit-constructor): widening loses nothing
};

/// A pixel of N lanes, stored interleaved: Vec<std::uint8_t, 3> is one RGB pixel.
template <class T, int N>
struct Vec {
  static_assert(N >= 2 && N <= 4, "a pixel has 2 to 4 lanes; use T itself for one");
  T lane[N];
  T& operator[](int i) { return lane[i]; }
  const T& operator[](int i) const { return lane[i]; }
  bool operator==(const Vec&) const = default;
};

struct Type {
  Scalar scalar = Scalar::F32;
  int lanes = 1;

  bool operator==(const Type&) const = default;
  Type lane() const { return {scalar, 1}; }
  Type with_lanes(int n) const { return {scalar, n}; }
};

bool is_float(Scalar s);
bool is_signed(Scalar s);       ///< Signed integers and floats.
bool is_integer(Scalar s);      ///< Signed and unsigned integers, not bool.
int size_of(Scalar s);          ///< Bytes.
int size_of(Type t);            ///< Bytes of one interleaved pixel.
std::string name_of(Scalar s);  ///< "u8", "f32", "bool" …
std::string name_of(Type t);    ///< "u8", "f32x3" …

namespace detail {
template <class T>
struct TypeOf {
  static_assert(std::is_arithmetic_v<T>, "not a pixel type of Weft");
  static constexpr Scalar scalar() {
    if (std::is_same_v<T, bool>) return Scalar::Bool;
    if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? Scalar::F32 : Scalar::F64;
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<Scalar>(static_cast<int>(std::is_signed_v<T> ? Scalar::I8 : Scalar::U8) + log2);
  }
  static constexpr Type type() { return {scalar(), 1}; }
};
template <>
struct TypeOf<half> {
  static constexpr Type type() { return {Scalar::F16, 1}; }
};
template <class T, int N>
struct TypeOf<Vec<T, N>> {
  static constexpr Type type() { return {TypeOf<T>::type().scalar, N}; }
};
}  // namespace detail

/// The Type of a C++ type: type_of<Vec<float, 3>>() is f32x3.
template <class T>
constexpr Type type_of() {
  return detail::TypeOf<std::remove_cv_t<T>>::type();
}

}  // namespace weft
