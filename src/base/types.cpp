#include <weft/types.h>

#include <bit>
#include <cmath>

#include "base/cpp_names.h"

namespace weft {

bool is_float(Scalar s) { return s >= Scalar::F16; }
bool is_signed(Scalar s) { return is_float(s) || (s >= Scalar::I8 && s <= Scalar::I64); }
bool is_integer(Scalar s) { return s >= Scalar::I8 && s <= Scalar::U64; }

int size_of(Scalar s) {
  constexpr int bytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
  return bytes[static_cast<int>(s)];
}
int size_of(Type t) { return size_of(t.scalar) * t.lanes; }

std::string name_of(Scalar s) {
  constexpr const char* names[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                   "u16",  "u32", "u64", "f16", "f32", "f64"};
  return names[static_cast<int>(s)];
}
std::string name_of(Type t) {
  return t.lanes == 1 ? name_of(t.scalar) : name_of(t.scalar) + "x" + std::to_string(t.lanes);
}

std::string cpp_name(Scalar s) {
  constexpr const char* names[] = {"bool",          "std::int8_t",  "std::int16_t",  "int",
                                   "std::int64_t",  "std::uint8_t", "std::uint16_t", "unsigned",
                                   "std::uint64_t", "half",         "float",         "double"};
  return names[static_cast<int>(s)];
}
std::string cpp_name(Type t) {
  return t.lanes == 1 ? cpp_name(t.scalar)
                      : "Vec<" + cpp_name(t.scalar) + ", " + std::to_string(t.lanes) + ">";
}

half::half(float value) {
  const auto f = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (f >> 16) & 0x8000u, magnitude = f & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {  // infinity and NaN
    bits = static_cast<std::uint16_t>(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0u));
  } else if (magnitude >= 0x477ff000u) {  // rounds above 65504
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // subnormal: the unit is 2^-24; nearbyint ties to even
    bits = static_cast<std::uint16_t>(
        sign | static_cast<std::uint32_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f)));
  } else {  // add half an ulp less one, plus one if the kept part is odd
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
}

half::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

}  // namespace weft
