// From a Scalar known at run time to the C++ type of its lanes.
#pragma once

#include <weft/types.h>

#include <cstdint>

namespace weft::tools {

/// A bool in memory: one byte, so that reading one that is neither 0 nor 1 is defined.
struct Boolean {
  std::uint8_t value = 0;
  explicit operator double() const { return value != 0 ? 1 : 0; }
};

/// Calls f with a value of the type, for the types that pictures are converted to: bool, floats and the
/// unsigned integers of pictures.
template <class F>
void with_image_scalar(Scalar scalar, F f) {
  switch (scalar) {
    case Scalar::Bool: return f(Boolean{});
    case Scalar::U8: return f(std::uint8_t{});
    case Scalar::U16: return f(std::uint16_t{});
    case Scalar::U32: return f(std::uint32_t{});
    case Scalar::F16: return f(half{});
    case Scalar::F64: return f(double{});
    default: return f(float{});
  }
}

/// Likewise, for every type.
template <class F>
void with_scalar(Scalar scalar, F f) {
  switch (scalar) {
    case Scalar::Bool: return f(Boolean{});
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
    case Scalar::F64: return f(double{});
  }
}

}  // namespace weft::tools
