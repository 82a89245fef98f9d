#include "emit/prelude.h"

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/types.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "emit/c_like.h"
#include "emit/vector_helpers.h"
#include "ir/value.h"

namespace weft::emit {
namespace {

const std::map<std::string, std::string>& fixed_helpers() {
  static const std::map<std::string, std::string> helpers = {
      {"look_up", look_up_text},
      {"pick_planes", pick_planes_text},
      {"row_vector", row_vector_text},
      {"row_vector_of_integers", integer_vectors_text},
      {"steps_in_lanes", steps_in_lanes_text},
      {"clamp_index", R"(// i itself inside [0, n), else the nearest index.
static inline int64_t clamp_index(int64_t i, int64_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}
)"},
      {"mirror_index", R"(// Reflected at the edges, which are repeated: -1 is 0, n is n - 1.
static inline int64_t mirror_index(int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (n <= 0) return 0;
  i %= 2 * n;
  if (i < 0) i += 2 * n;
  return i < n ? i : 2 * n - 1 - i;
}
)"},
      {"mirror101_index", R"(// Reflected at the edge pixels, which are not repeated: -1 is 1, n is n - 2.
static inline int64_t mirror101_index(int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (n <= 1) return 0;
  i %= 2 * n - 2;
  if (i < 0) i += 2 * n - 2;
  return i < n ? i : 2 * n - 2 - i;
}
)"},
      {"in_portions", R"(#ifndef WEFT_LEAST_PORTION
#define WEFT_LEAST_PORTION 2500  // nanoseconds that one takes at least, unless the host says it
#endif
// The loop of a launch in portions of equal size, but for the last.
struct portions {
  void (*body)(const void* frame, int64_t first, int64_t last);
  const void* frame;
  int64_t count, length;
  static void run(const void* data, int64_t first, int64_t last) {
    const portions& all = *static_cast<const portions*>(data);
    const int64_t end = last * all.length;
    all.body(all.frame, first * all.length, end < all.count ? end : all.count);
  }
};
// Runs the loop, whose iterations take about `picoseconds` each, in portions that the host finds large enough.
static inline void in_portions(const weft_host* host, int64_t count, int64_t picoseconds,
                               void (*body)(const void* frame, int64_t first, int64_t last), const void* frame) {
  const int64_t least = host->least_portion > 0 ? host->least_portion : WEFT_LEAST_PORTION;
  int64_t most = count * picoseconds / (1000 * least);
  if (most > 1) most -= most % 2;  // of three, two threads would do one and two
  const int64_t length = most > 1 ? (count + most - 1) / most : count;
  const portions all = {body, frame, count, length < 1 ? 1 : length};
  host->parallel_for(host->context, (count + all.length - 1) / all.length, portions::run, &all);
}
)"},
      {"prefetch",
       R"(// Asks memory for what is read soon, as far as the second level of caches: the first has no room to wait in.
static inline void prefetch(const void* from, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(static_cast<const char*>(from) + b, 0, 2);
}
)"},
      {"half_of_sum",
       R"(// (a + b) / 2 of integers whose sum may not fit: what both have, half of what one has, and what rounding to 0 adds.
static inline int16_t half_of_sum(int16_t a, int16_t b) {
  const int16_t other = (int16_t)(a ^ b), half = (int16_t)((a & b) + (other >> 1));
  return (int16_t)(half + ((half >> 15) & other & 1));
}
)"},
      {"exceeds_caches", R"(#ifndef WEFT_CACHE_BYTES
#define WEFT_CACHE_BYTES (16 << 20)  // half of the last level: the other half goes to what is read
#endif
// Whether these are too many bytes for the caches.
static inline bool exceeds_caches(int64_t bytes) { return bytes > WEFT_CACHE_BYTES; }
)"},
      {"store_past_caches",
       R"(// Stores what is not read soon: whole lines past the caches, so that memory is not read first.
#if defined(__clang__)
typedef int32_t past_caches_line __attribute__((vector_size(64), may_alias));
#define WEFT_STORE_PAST_CACHES(to, v) __builtin_nontemporal_store(v, to)
#elif defined(__AVX512F__)
typedef long long past_caches_line __attribute__((vector_size(64), may_alias));
#define WEFT_STORE_PAST_CACHES(to, v) __builtin_ia32_movntdq512(to, v)
#elif defined(__SSE2__)
typedef long long past_caches_line __attribute__((vector_size(16), may_alias));
#define WEFT_STORE_PAST_CACHES(to, v) __builtin_ia32_movntdq(to, v)
#endif
static inline void store_past_caches(void* to, const void* from, int64_t bytes) {
  int64_t b = 0;
#if defined(WEFT_STORE_PAST_CACHES)
  const int64_t head = -(intptr_t)to & 63;
  if (head + 64 <= bytes) {
    __builtin_memcpy(to, from, (size_t)head);
    for (b = head; b + 64 <= bytes; b += (int64_t)sizeof(past_caches_line)) {
      past_caches_line v;
      __builtin_memcpy(&v, (const char*)from + b, sizeof v);
      WEFT_STORE_PAST_CACHES((past_caches_line*)((char*)to + b), v);
    }
  }
#endif
  __builtin_memcpy((char*)to + b, (const char*)from + b, (size_t)(bytes - b));
}
)"},
      {"settle_stores",
       R"(// Orders what was stored past the caches before all that follows, such as that the work is done.
static inline void settle_stores() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
)"},
      {"repeat_index", R"(// Periodic: -1 is n - 1, n is 0.
static inline int64_t repeat_index(int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (n <= 0) return 0;
  i %= n;
  return i < 0 ? i + n : i;
}
)"},
      {"floor_div", R"(// Rounds down; b > 0.
static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }
)"},
      {"exchange", R"(template <class T>
static inline void exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}
)"},
      {"order_pair", R"(template <class T>
static inline void order_pair(T& a, T& b) {
  const T low = b < a ? b : a, high = a < b ? b : a;
  a = low;
  b = high;
}
)"},
      {"exp_approx_f32",
       R"(// e^v within 2.5 ulp, and 0 below 2^-125: v = n ln 2 + r, |r| <= ln 2 / 2, and e^r by a polynomial.
// Clamping v itself would cost more: compilers make a maze of masks of two comparisons with constants.
static inline float exp_approx_f32(float v) {
  // 1.5 * 2^23 leaves no bits for a fraction: the addition rounds to n, and the last bits hold n + 126.
  union { float f; int32_t i; uint32_t u; } sum = {v * 1.44269504f + 12583038.0f};
  sum.i = sum.i < 0x4b4000fe ? sum.i : 0x4b4000fe;  // n <= 128, from where on e^v is infinite
  const float n = sum.f - 12583038.0f;
#ifdef __FMA__  // ln 2 in two parts; fused, so that no compiler adds the parts up again
  const float r = __builtin_fmaf(n, 2.12194440e-4f, __builtin_fmaf(n, -0.693359375f, v));
#else
  const float r = (v - n * 0.693359375f) + n * 2.12194440e-4f;
#endif
  // 2 e^r, since 2^n need not be a float but 2^(n - 1) is
  float p = 1.66250028e-2f;
  p = p * r + 8.37806612e-2f;
  p = p * r + 3.33342314e-1f;
  p = p * r + 9.99984622e-1f;
  p = p * r + 2.0f;
  p = p * r + 2.0f;
  union { uint32_t u; float f; } scale = {sum.u << 23};
  return v < -87.0f ? 0.0f : p * scale.f;
}
)"},
      {"pow_approx_f32",
       R"(// x^y within 6 ulp for 0 < y <= 4 that is no integer, and 0 below 2^-125, without branches.
static inline float pow_approx_f32(float x, float y) {
#ifndef __FMA__
  return powf(x, y);
#else
  const bool subnormal = x < 1.17549435e-38f;
  union { float f; int32_t i; } bits = {subnormal ? x * 16777216.0f : x};
  const int32_t exponent = (bits.i - 0x3f2aaaab) >> 23;
  union { int32_t i; float f; } mantissa = {bits.i - (int32_t)((uint32_t)exponent << 23)};
  const float e = (float)(subnormal ? exponent - 24 : exponent);
  const float f = mantissa.f - 1.0f;  // x = (1 + f) 2^e, 2/3 <= 1 + f < 4/3
  float q = 0.142273068f;
  q = q * f - 0.151245914f;
  q = q * f + 0.13958001f;
  q = q * f - 0.164719089f;
  q = q * f + 0.200130895f;
  q = q * f - 0.25004255f;
  q = q * f + 0.333331799f;
  q = q * f - 0.5f;
  // y log2 x = y e + part; e is a small integer, so nothing is lost where y e is large
  const float part = y * 1.44269504f * (q * (f * f) + f);
  const float z = y * e + part;
  // the rest as in e^v: 2 * 2^r, in units of 2^(n - 1)
  union { float f; int32_t i; uint32_t u; } sum = {z + 12583038.0f};
  sum.i = sum.i < 0x4b4000fe ? sum.i : 0x4b4000fe;
  const float n = sum.f - 12583038.0f;
  const float r = __builtin_fmaf(y, e, -n) + part;
  float p = 0.00266004525f;
  p = p * r + 0.0193395176f;
  p = p * r + 0.111011206f;
  p = p * r + 0.480445618f;
  p = p * r + 1.38629436f;
  p = p * r + 2.0f;
  union { uint32_t u; float f; } scale = {sum.u << 23};
  const float power = z < -125.6f ? 0.0f : p * scale.f;
  const float nan = __builtin_nanf(""), infinity = __builtin_inff();
  const float special = x < 0.0f ? (x < -3.40282347e38f ? infinity : nan) : x;
  return x > 0.0f && x < infinity ? power : special;
#endif
}
)"},
      {"half_to_float",
       R"(// IEEE binary16 to float: the exponent is rebiased by a multiplication, which is right for subnormals too.
static inline float half_to_float(half_t h) {
  const uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
  union { uint32_t u; float f; } value = {magnitude}, scale = {0x77800000u};
  value.f *= scale.f;
  if (magnitude >= 0x0f800000u) value.u |= 0x7f800000u;
  value.u |= (uint32_t)(h & 0x8000u) << 16;
  return value.f;
}
)"},
      {"float_to_half", R"(// Rounds to nearest, ties to even.
static inline half_t float_to_half(float f) {
  union { float f; uint32_t u; } value = {f};
  const uint32_t sign = (value.u >> 16) & 0x8000u, magnitude = value.u & 0x7fffffffu;
  union { uint32_t u; float f; } small = {magnitude}, shift = {0x3f000000u};
  small.f += shift.f;  // subnormal results: the addition rounds at 2^-24
  const uint32_t subnormal = small.u - shift.u;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return (half_t)(sign | (magnitude >= 0x477ff000u ? special : finite));
}
)"},
  };
  return helpers;
}

std::optional<Scalar> scalar_named(const std::string& name) {
  for (int s = 0; s <= static_cast<int>(Scalar::F64); ++s) {
    if (name_of(static_cast<Scalar>(s)) == name) return static_cast<Scalar>(s);
  }
  return std::nullopt;
}

std::string limit(Scalar s, bool largest) {
  const ir::Value value = largest ? ir::largest({s, 1}) : ir::least({s, 1});
  return c_literal(s, value.lane[0]);
}

/// A float's truncation to i64 by its bits, where processors convert none in vectors but can shift each lane by its own
/// amount. Nothing is lost: what a mantissa is shifted by keeps it within 63 bits, or leaves nothing of it.
std::string truncation_by_bits(Scalar from) {
  struct Format {
    const char *unsigned_type, *suffix;
    int bits, mantissa_bits, exponents;
  };
  const Format f =
      from == Scalar::F32 ? Format{"uint32_t", "u", 32, 23, 255} : Format{"uint64_t", "ull", 64, 52, 2047};
  const int bias = f.exponents / 2 + f.mantissa_bits, most = 62 - f.mantissa_bits;
  return fmt::format(R"(#if defined(__AVX2__) && !defined(__AVX512DQ__)
  // By hand, as there are no vectors of this conversion: v = mantissa * 2^exponent.
  union {{ {real} f; {word} u; }} bits = {{v}};
  const int64_t exponent = (int64_t)(bits.u >> {fraction} & {exponents}{suffix}) - {bias};
  const int64_t mantissa = (int64_t)((bits.u & {mask:#x}{suffix}) | {one:#x}{suffix});
  const int64_t left = exponent > 0 ? exponent : 0, right = exponent < 0 ? -exponent : 0;
  const int64_t whole = mantissa << (left < {most} ? left : {most}) >> (right < {none} ? right : {none});
  const int64_t above = exponent > {most} ? {largest} : whole;
  const int64_t below = exponent > {most} ? {least} : -whole;
  const int64_t integer = bits.u >> {sign} ? below : above;
  return v == v ? integer : 0;
#else
)",
                     fmt::arg("real", c_type(from)), fmt::arg("word", f.unsigned_type),
                     fmt::arg("fraction", f.mantissa_bits), fmt::arg("exponents", f.exponents),
                     fmt::arg("suffix", f.suffix), fmt::arg("bias", bias),
                     fmt::arg("mask", (std::uint64_t{1} << f.mantissa_bits) - 1),
                     fmt::arg("one", std::uint64_t{1} << f.mantissa_bits), fmt::arg("most", most),
                     fmt::arg("none", f.mantissa_bits + 1), fmt::arg("largest", limit(Scalar::I64, true)),
                     fmt::arg("least", limit(Scalar::I64, false)), fmt::arg("sign", f.bits - 1));
}

/// float to integer: NaN gives 0, what is out of range gives the nearest end.
std::string from_float(const std::string& name, Scalar to, Scalar from, bool round) {
  const std::string real = c_type(from), integer = c_type(to);
  const std::string rounded =
      round ? (from == Scalar::F32 ? "__builtin_rintf(v)" : "__builtin_rint(v)") : "v";
  if (size_of(to) < 4 || (size_of(to) == 4 && from == Scalar::F64)) {
    // The ends are exact in the floating type, so clamping first leaves nothing to check.
    const std::string suffix = from == Scalar::F32 ? ".0f" : ".0";
    const std::string low = is_signed(to) ? std::to_string(ir::least({to, 1}).lane[0].i) : "0";
    const std::string high =
        to == Scalar::U32 ? "4294967295" : std::to_string(ir::largest({to, 1}).lane[0].i);
    const std::string through = to == Scalar::U32 ? "int64_t" : "int32_t";
    const std::string nan = is_signed(to) ? "  v = v == v ? v : 0;\n" : "";
    if (round && from == Scalar::F32) {
      return fmt::format(R"(static inline {0} {1}(float v) {{
{2}  v = v > {3}.0f ? v : {3}.0f;
  v = v < {4}.0f ? v : {4}.0f;
  // 1.5 * 2^23 leaves no bits for a fraction: the addition rounds half to even, into the last bits.
  union {{ float f; uint32_t u; }} sum = {{v + 12582912.0f}};
  return ({0})sum.u;
}}
)",
                         integer, name, nan, low, high);
    }
    return fmt::format(
        "static inline {0} {1}({2} v) {{\n{3}  v = v > {4}{6} ? v : {4}{6};\n  v = v < {5}{6} ? v : "
        "{5}{6};\n  return ({0})({7}){8};\n}}\n",
        integer, name, real, nan, low, high, suffix, through, rounded);
  }
  // The greatest integer is not a number of the floating type, but the least is, and so is the one before the
  // power of two that follows the greatest. Selects, since a branch would keep loops from being vectorised.
  const double least = is_signed(to) ? -std::pow(2.0, size_of(to) * 8 - 1) : 0.0;
  const double above = std::pow(2.0, size_of(to) * 8 - (is_signed(to) ? 1 : 0));
  const double greatest =
      from == Scalar::F32 ? std::nextafter(static_cast<float>(above), 0.0f) : std::nextafter(above, 0.0);
  std::string text = fmt::format("static inline {0} {1}({2} v) {{\n", integer, name, real);
  const bool by_bits = to == Scalar::I64 && !round;
  if (by_bits) text += truncation_by_bits(from);
  if (round) text += fmt::format("  v = {0};\n", rounded);
  if (is_signed(to)) text += "  v = v == v ? v : 0;\n";
  return text + fmt::format(R"(  v = v > {1} ? v : {1};
  const {0} whole = ({0})(v < {2} ? v : {2});
  return v > {2} ? {3} : whole;
{4}}}
)",
                            integer, c_literal(from, {.f = least}), c_literal(from, {.f = greatest}),
                            limit(to, true), by_bits ? "#endif\n" : "");
}

std::string saturate_integer(const std::string& name, Scalar to, Scalar from) {
  std::string body;
  // Comparisons that cannot hold, in C's mixed arithmetic or for bools, are left out.
  const bool from_signed = is_signed(from), from_bool = from == Scalar::Bool;
  const std::int64_t low = ir::least({to, 1}).lane[0].i;
  const bool needs_low = from_signed && (!is_signed(to) || size_of(to) < size_of(from));
  const bool needs_high = !from_bool && (size_of(to) < size_of(from) ||
                                         (size_of(to) == size_of(from) && is_signed(to) && !from_signed));
  // Without branches, which would keep loops from being vectorised well.
  if (needs_low)
    body += fmt::format("  v = v < {0} ? {0} : v;\n", is_signed(to) ? c_literal(to, {.i = low}) : "0");
  if (needs_high) body += fmt::format("  v = v > {0} ? {0} : v;\n", limit(to, true));
  return fmt::format("static inline {0} {1}({2} v) {{\n{3}  return ({0})v;\n}}\n", c_type(to), name,
                     c_type(from), body);
}

/// Helpers named by operation and types: "min_f32", "saturate_u8_f32".
std::string typed_helper(const std::string& name) {
  const auto first = name.find('_');
  const std::string operation = name.substr(0, first);
  const auto second = name.find('_', first + 1);
  const auto type =
      first == std::string::npos ? std::nullopt : scalar_named(name.substr(first + 1, second - first - 1));
  if (!type) throw InternalError("emitted code has no helper '" + name + "'");
  const std::string t = c_type(*type);
  if ((operation == "min" || operation == "max") && *type == Scalar::Bool)
    return fmt::format("static inline bool {}(bool a, bool b) {{ return a {} b; }}\n", name,
                       operation == "min" ? "&" : "|");
  if (operation == "min")
    return fmt::format("static inline {0} {1}({0} a, {0} b) {{ return b < a ? b : a; }}\n", t, name);
  if (operation == "max")
    return fmt::format("static inline {0} {1}({0} a, {0} b) {{ return a < b ? b : a; }}\n", t, name);
  if (operation == "minus")
    return fmt::format(
        "// As a call, since GCC 12 takes 0 - (float)i for -(float)i, which is -0 where i is 0.\n"
        "static inline {0} {1}({0} a, {0} b) {{ return a - b; }}\n",
        t, name);
  if (operation == "abs") {
    const std::string magnitude =
        size_of(*type) < 4 ? fmt::format("({})(a < 0 ? -a : a)", t) : "a < 0 ? -a : a";
    return fmt::format("static inline {0} {1}({0} a) {{ return {2}; }}\n", t, name,
                       is_signed(*type) ? magnitude : "a");
  }
  if (operation == "div") {
    return is_signed(*type)
               ? fmt::format(
                     "// x / 0 is 0, and the least value / -1 wraps.\nstatic inline {0} {1}({0} a, {0} b) {{ "
                     "return b == 0 ? 0 : b == -1 ? -a : a / b; }}\n",
                     t, name)
               : fmt::format(
                     "// x / 0 is 0.\nstatic inline {0} {1}({0} a, {0} b) {{ return b == 0 ? 0 : a / b; }}\n",
                     t, name);
  }
  if (operation == "rem") {
    return fmt::format(
        "// x % 0 is 0.\nstatic inline {0} {1}({0} a, {0} b) {{ return b == 0{2} ? 0 : a % b; }}\n", t, name,
        is_signed(*type) ? " || b == -1" : "");
  }
  if (operation == "median") {
    return fmt::format(R"(// The element of rank n / 2, by insertion; reorders the values.
static inline {0} {1}({0}* values, int n) {{
  for (int i = 1; i < n; ++i) {{
    const {0} value = values[i];
    int j = i;
    for (; j > 0 && value < values[j - 1]; --j) values[j] = values[j - 1];
    values[j] = value;
  }}
  return values[n / 2];
}}
)",
                       t, name);
  }
  const auto from = second == std::string::npos ? std::nullopt : scalar_named(name.substr(second + 1));
  if (!from) throw InternalError("emitted code has no helper '" + name + "'");
  if (operation == "index")
    return fmt::format(
        R"(// ({0})i of an index, below 2^51. Most processors convert no vectors of 64-bit integers.
static inline {0} {1}(int64_t i) {{
#if defined(__SSE2__) && !defined(__AVX512DQ__)
  // 1.5 * 2^52 leaves no bits for a fraction: what is added to its bits is added to the number.
  union {{ int64_t i; double f; }} sum = {{i + 0x4338000000000000}};
  return ({0})(sum.f - 6755399441055744.0);
#else
  return ({0})i;
#endif
}}
)",
        t, name);
  if (operation == "convert")
    return fmt::format(
        "// Without the sum, GCC 12 makes of ({0})(int)x a truncation, which keeps the sign of a zero.\n"
        "static inline {0} {1}({2} v) {{\n  const {0} real = ({0})v;\n  return real + {3};\n}}\n",
        t, name, c_type(*from), c_literal(*type, {.f = 0}));
  if (operation == "whole") {
    return fmt::format(
        "// The whole part of a number that {1} holds; of NaN, 0.\nstatic inline {0} {2}({3} v) {{ return "
        "({0})(v == v ? v : 0); }}\n",
        c_type(*type), name_of(*type), name, c_type(*from));
  }
  if (operation == "truncate") return from_float(name, *type, *from, false);
  if (operation == "saturate") {
    return is_float(*from) ? from_float(name, *type, *from, true) : saturate_integer(name, *type, *from);
  }
  throw InternalError("emitted code has no helper '" + name + "'");
}

}  // namespace

std::string prelude(const std::set<std::string>& helpers) {
  std::string text;
  for (const std::string& name : helpers) {
    const auto fixed = fixed_helpers().find(name);
    text += fixed == fixed_helpers().end() ? typed_helper(name) : fixed->second;
  }
  return text;
}

std::string math_declarations(const std::set<std::string>& functions, bool strict) {
  // glibc has vector variants of some; the attribute lets GCC call them. They are within 4 ulp, so not when
  // strict.
  std::map<std::string, ir::Function> known;
  for (const ir::Function& function : ir::functions()) known[function.c_name] = function;
  std::string text;
  bool uses_attribute = false;
  for (const std::string& f : functions) {
    const bool single = f.back() == 'f' && known.count(f) == 0;  // erff, not erf
    const std::string base = single ? f.substr(0, f.size() - 1) : f;
    const std::string type = single ? "float" : "double";
    const auto row = known.find(base);
    const bool two = base == "fmod" || (row != known.end() && row->second.operands == 2);
    const bool vector = !strict && row != known.end() && row->second.has_vectors;
    uses_attribute |= vector;
    text += fmt::format("extern \"C\" {}{} {}({}{}) noexcept;\n", vector ? "WEFT_VECTOR_MATH " : "", type, f,
                        type, two ? ", " + type : "");
  }
  if (uses_attribute) {
    text = R"text(#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WEFT_VECTOR_MATH __attribute__((simd("notinbranch")))  // glibc's libmvec
#else
#define WEFT_VECTOR_MATH
#endif
           )text" +
           text;
  }
  return text;
}

}  // namespace weft::emit
