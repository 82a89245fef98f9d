// Stands in for CUDA's header of this name: numbers of 16 bits, for storage. Arithmetic is done in float and
// rounded, as GPUs round it.
#pragma once

#include "cuda_runtime.h"

struct __half {
  unsigned short bits;

  __half() = default;
  __half(float value) : bits(rounded(value)) {}
  __half(double value) : __half(static_cast<float>(value)) {}
  __half(int value) : __half(static_cast<float>(value)) {}
  operator float() const { return widened(bits); }

 private:
  static unsigned short rounded(float value) {
    return simt::bit_cast<unsigned short>(static_cast<_Float16>(value));
  }
  static float widened(unsigned short bits) { return static_cast<float>(simt::bit_cast<_Float16>(bits)); }
};
using half = __half;

struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;

inline __half __float2half(float a) { return __half(a); }
inline __half __float2half_rn(float a) { return __half(a); }
inline __half __double2half(double a) { return __half(a); }
inline float __half2float(__half a) { return a; }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __ushort_as_half(unsigned short bits) {
  __half a;
  a.bits = bits;
  return a;
}
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline float __low2float(__half2 a) { return a.x; }
inline float __high2float(__half2 a) { return a.y; }
