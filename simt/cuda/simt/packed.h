// Arithmetic of two numbers of 16 bits, or four of 8, in one word.
#pragma once

namespace simt {
template <class T, class Combine>
inline unsigned packed(unsigned a, unsigned b, Combine combine) {
  constexpr int bits = 8 * sizeof(T);
  constexpr unsigned mask = (1u << bits) - 1;
  unsigned result = 0;
  for (int at = 0; at < 32; at += bits) {
    const int left = static_cast<T>(a >> at & mask), right = static_cast<T>(b >> at & mask);
    result |= (static_cast<unsigned>(combine(left, right)) & mask) << at;
  }
  return result;
}
inline int clamped(int value, int least, int most) {
  return value < least ? least : value > most ? most : value;
}
}  // namespace simt

#define SIMT_PACKED(name, type, result)                                          \
  inline unsigned name(unsigned a, unsigned b) {                                 \
    return simt::packed<type>(a, b, [](int x, int y) -> int { return result; }); \
  }
#define SIMT_PACKED_BOTH(signed_type, unsigned_type, count, least, most, unsigned_most) \
  SIMT_PACKED(__vadd##count, unsigned_type, x + y)                                      \
  SIMT_PACKED(__vsub##count, unsigned_type, x - y)                                      \
  SIMT_PACKED(__vaddus##count, unsigned_type, simt::clamped(x + y, 0, unsigned_most))   \
  SIMT_PACKED(__vsubus##count, unsigned_type, simt::clamped(x - y, 0, unsigned_most))   \
  SIMT_PACKED(__vaddss##count, signed_type, simt::clamped(x + y, least, most))          \
  SIMT_PACKED(__vsubss##count, signed_type, simt::clamped(x - y, least, most))          \
  SIMT_PACKED(__vminu##count, unsigned_type, x < y ? x : y)                             \
  SIMT_PACKED(__vmaxu##count, unsigned_type, x > y ? x : y)                             \
  SIMT_PACKED(__vmins##count, signed_type, x < y ? x : y)                               \
  SIMT_PACKED(__vmaxs##count, signed_type, x > y ? x : y)                               \
  SIMT_PACKED(__vavgu##count, unsigned_type, (x + y + 1) / 2)                           \
  SIMT_PACKED(__vhaddu##count, unsigned_type, (x + y) / 2)                              \
  SIMT_PACKED(__vabsdiffu##count, unsigned_type, x < y ? y - x : x - y)                 \
  SIMT_PACKED(__vcmpeq##count, unsigned_type, x == y ? -1 : 0)                          \
  SIMT_PACKED(__vcmpne##count, unsigned_type, x != y ? -1 : 0)                          \
  SIMT_PACKED(__vcmpltu##count, unsigned_type, x < y ? -1 : 0)                          \
  SIMT_PACKED(__vcmpleu##count, unsigned_type, x <= y ? -1 : 0)                         \
  SIMT_PACKED(__vcmpgtu##count, unsigned_type, x > y ? -1 : 0)                          \
  SIMT_PACKED(__vcmpgeu##count, unsigned_type, x >= y ? -1 : 0)                         \
  SIMT_PACKED(__vcmplts##count, signed_type, x < y ? -1 : 0)                            \
  SIMT_PACKED(__vcmples##count, signed_type, x <= y ? -1 : 0)                           \
  SIMT_PACKED(__vcmpgts##count, signed_type, x > y ? -1 : 0)                            \
  SIMT_PACKED(__vcmpges##count, signed_type, x >= y ? -1 : 0)                           \
  SIMT_PACKED(__vseteq##count, unsigned_type, x == y)                                   \
  SIMT_PACKED(__vsetne##count, unsigned_type, x != y)                                   \
  SIMT_PACKED(__vsetltu##count, unsigned_type, x < y)                                   \
  SIMT_PACKED(__vsetleu##count, unsigned_type, x <= y)                                  \
  SIMT_PACKED(__vsetgtu##count, unsigned_type, x > y)                                   \
  SIMT_PACKED(__vsetgeu##count, unsigned_type, x >= y)                                  \
  SIMT_PACKED(__vsetlts##count, signed_type, x < y)                                     \
  SIMT_PACKED(__vsetles##count, signed_type, x <= y)                                    \
  SIMT_PACKED(__vsetgts##count, signed_type, x > y)                                     \
  SIMT_PACKED(__vsetges##count, signed_type, x >= y)
SIMT_PACKED_BOTH(signed char, unsigned char, 4, -128, 127, 255)
SIMT_PACKED_BOTH(short, unsigned short, 2, -32768, 32767, 65535)
#undef SIMT_PACKED_BOTH
#undef SIMT_PACKED

/// The sum of four absolute differences.
inline unsigned __vsadu4(unsigned a, unsigned b) {
  const unsigned each = __vabsdiffu4(a, b);
  return (each & 255u) + (each >> 8 & 255u) + (each >> 16 & 255u) + (each >> 24);
}
/// c and the sum of four products.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int at = 0; at < 32; at += 8) c += (a >> at & 255u) * (b >> at & 255u);
  return c;
}
inline int __dp4a(int a, int b, int c) {
  unsigned sum = static_cast<unsigned>(c);
  for (int at = 0; at < 32; at += 8)
    sum += static_cast<unsigned>(static_cast<signed char>(static_cast<unsigned>(a) >> at & 255u) *
                                 static_cast<signed char>(static_cast<unsigned>(b) >> at & 255u));
  return static_cast<int>(sum);
}
