#include "emit/vector_helpers.h"

namespace weft::emit {

const char* const look_up_text =
    R"(// to[i] = table[places[i]] of a table of `size` bytes. AVX-512 VBMI looks up 64 places at a time: it permutes each 128
// bytes of the table by the low 7 bits of a place, and the other bits choose among the results, half of them at a time.
#if defined(__AVX512VBMI__)
typedef uint8_t vector_of_bytes __attribute__((vector_size(64), aligned(1), may_alias));
static inline vector_of_bytes permuted(const uint8_t* of_128, vector_of_bytes at) {
  const vector_of_bytes first = *(const vector_of_bytes*)of_128, second = *(const vector_of_bytes*)(of_128 + 64);
#if defined(__clang__)
  return (vector_of_bytes)__builtin_ia32_vpermi2varqi512(first, at, second);
#else
  return __builtin_shuffle(first, second, at);
#endif
}
template <int64_t parts>
static inline vector_of_bytes found_in(const uint8_t* table, const uint8_t* last, vector_of_bytes at, vector_of_bytes part) {
  if constexpr (parts == 1) {
    return permuted(last, at);
  } else {
    constexpr int64_t half = parts > 16 ? 16 : parts > 8 ? 8 : parts > 4 ? 4 : parts > 2 ? 2 : 1;
    const vector_of_bytes low = found_in<half>(table, table + (half - 1) * 128, at, part);
    const vector_of_bytes high = found_in<parts - half>(table + half * 128, last, at, part);
    return (part & (uint8_t)half) != 0 ? high : low;
  }
}
#endif
template <int64_t size, class Place>
static inline void look_up(const uint8_t* table, const Place* places, uint8_t* to, int64_t count) {
  int64_t i = 0;
#if defined(__AVX512VBMI__)
  static_assert(size <= 32 * 128, "one of 32 parts is found by 5 bits");
  constexpr int64_t parts = (size + 127) / 128, before_last = (parts - 1) * 128;
  uint8_t last[128] = {};
  __builtin_memcpy(last, table + before_last, (size_t)(size - before_last));
  for (; i + 64 <= count; i += 64) {
    uint8_t low[64], high[64];
    for (int b = 0; b < 64; ++b) low[b] = (uint8_t)(places[i + b] & 127);
    for (int b = 0; b < 64; ++b) high[b] = (uint8_t)(places[i + b] >> 7);
    *(vector_of_bytes*)(to + i) = found_in<parts>(table, last, *(const vector_of_bytes*)low, *(const vector_of_bytes*)high);
  }
#endif
  for (; i < count; ++i) to[i] = table[places[i]];
}
)";

const char* const pick_planes_text = R"(// Vectors that are permuted: those of AVX-512, or AVX2.
#if defined(__AVX512F__)
#define WEFT_PERMUTED 16
#elif defined(__AVX2__)
#define WEFT_PERMUTED 8
#endif
#ifdef WEFT_PERMUTED
typedef float permuted_floats __attribute__((vector_size(4 * WEFT_PERMUTED), aligned(4), may_alias));
typedef int32_t permuted_places __attribute__((vector_size(4 * WEFT_PERMUTED), aligned(4), may_alias));
static inline permuted_floats permuted_pair(permuted_floats first, permuted_floats second, permuted_places at) {
#if !defined(__clang__)
  return __builtin_shuffle(first, second, at);
#elif WEFT_PERMUTED == 16
  return (permuted_floats)__builtin_ia32_vpermi2varps512(first, at, second);
#else
  const permuted_floats low = __builtin_ia32_permvarsf256(first, at), high = __builtin_ia32_permvarsf256(second, at);
  return at < WEFT_PERMUTED ? low : high;
#endif
}
#endif
// Of a table of up to 16 planes the values of each place in the planes, one beside the other: upright[16 * j + z] =
// table[z * pitch + j], where vectors are permuted. It reads and writes some places beyond the last.
static inline void stand_up(const float* table, int64_t planes, int64_t pitch, int64_t count, float* upright) {
#ifdef WEFT_PERMUTED
  constexpr int n = WEFT_PERMUTED;
  permuted_places low = {}, high = {};
  for (int k = 0; k < n; ++k) low[k] = k / 2 + k % 2 * n, high[k] = low[k] + n / 2;
  for (int64_t j = 0; j < count; j += n) {
    for (int from = 0; from < 16; from += n) {
      permuted_floats rows[n], mixed[n];
      for (int z = 0; z < n; ++z) {
        rows[z] = from + z < planes ? *(const permuted_floats*)(table + (from + z) * pitch + j) : permuted_floats{};
      }
      for (int step = 1; step < n; step *= 2) {  // each row with the one that is half of them further on
        for (int z = 0; z < n / 2; ++z) {
          mixed[2 * z] = permuted_pair(rows[z], rows[z + n / 2], low);
          mixed[2 * z + 1] = permuted_pair(rows[z], rows[z + n / 2], high);
        }
        for (int z = 0; z < n; ++z) rows[z] = mixed[z];
      }
      for (int z = 0; z < n; ++z) *(permuted_floats*)(upright + (j + z) * 16 + from) = rows[z];
    }
  }
#else
  (void)table, (void)planes, (void)pitch, (void)count, (void)upright;
#endif
}
// to[k][i] = table[places[i] * pitch + ((start + i) >> shift) * lanes + lane + k]: places are planes. Each 8 pixels have one
// column, so vectors are permuted where that is possible.
template <int shift, int lanes, int picks>
static inline void pick_planes(const float* upright, const float* table, int64_t pitch, const int32_t* places,
                               int64_t start, int64_t lane, float* const (&&to)[picks], int64_t count) {
  const auto column = [=](int64_t i) { return (int32_t)((start + i) >> shift) * lanes + (int32_t)lane; };
#ifdef WEFT_PERMUTED
  const auto pick = [&](int64_t i) { for (int k = 0; k < picks; ++k) to[k][i] = table[places[i] * pitch + column(i) + k]; };
  constexpr int n = WEFT_PERMUTED;
  permuted_places of_columns = {};
  for (int k = 8; k < n; ++k) of_columns[k] = 16;
  int64_t i = 0;
  for (; i < count && (start + i) % 8 != 0; ++i) pick(i);
  for (; i + n <= count; i += n) {
    const permuted_places at = *(const permuted_places*)(places + i) + of_columns;
    const float* left = upright + column(i) * 16;
    const float* right = n == 16 ? upright + column(i + 8) * 16 : left + 8;  // of 8 pixels, the other planes
    for (int k = 0; k < picks; ++k) {
      *(permuted_floats*)(to[k] + i) = permuted_pair(*(const permuted_floats*)(left + 16 * k),
                                                     *(const permuted_floats*)(right + 16 * k), at);
    }
  }
  for (; i < count; ++i) pick(i);
#else
  (void)upright;
  for (int k = 0; k < picks; ++k) {
    float* const of_lane = to[k];
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) of_lane[i] = table[places[i] * (int32_t)pitch + column(i) + k];
  }
#endif
}
)";

const char* const row_vector_text = R"(#if defined(__AVX512F__)
// Neighbouring scalars of a row, as many as a register has: a line of the cache.
template <class T> constexpr int in_vector = 64 / (int)sizeof(T);
template <class T> constexpr int few = in_vector<T> / 4;  // take no longer one by one than as a vector
template <class T, int n> struct row_vector_of { typedef T type __attribute__((vector_size(n * sizeof(T)))); };
template <class T, int n = in_vector<T>> using row_vector = typename row_vector_of<T, n>::type;
template <class V> static inline auto first_scalar(V v) { return v[0]; }
template <class V> using scalar_of = decltype(first_scalar(V{}));
template <class V> constexpr int scalars_of = (int)(sizeof(V) / sizeof(scalar_of<V>));
template <int n = 0, class T> static inline auto vector_at(const T* from) {
  row_vector<T, n == 0 ? in_vector<T> : n> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class T, class V> static inline void store_vector(T* to, V v) { __builtin_memcpy(to, &v, sizeof v); }
// Stores at a multiple of 64 bytes, past the caches if asked: what is not read soon.
typedef long long cache_line __attribute__((vector_size(64)));
template <class T> static inline void store_vector(T* to, row_vector<T> v, bool past_caches) {
#if defined(__clang__)
  past_caches ? __builtin_nontemporal_store((cache_line)v, (cache_line*)to) : store_vector(to, v);
#else
  past_caches ? __builtin_ia32_movntdq512((cache_line*)to, (cache_line)v) : store_vector(to, v);
#endif
}
static inline bool is_line(const void* address) { return ((uintptr_t)address & 63) == 0; }
// The `count` scalars before an address, at the end of a vector.
template <int count, class T> static inline row_vector<T> vector_before(const T* address) {
  row_vector<T> v = {};
  for (int k = 1; k <= count; ++k) v[in_vector<T> - k] = address[-k];
  return v;
}
// What is beyond the ends of a row, in vectors before its first and behind its last.
template <class T, int n = in_vector<T>, int count> static inline row_vector<T, n> vector_that_ends_with(const T (&values)[count]) {
  row_vector<T, n> v = values[0] - row_vector<T, n>{};
  for (int k = 1; k < count; ++k) v[n - count + k] = values[k];
  return v;
}
template <class T, int n = in_vector<T>, int count> static inline row_vector<T, n> vector_that_begins_with(const T (&values)[count]) {
  row_vector<T, n> v = values[0] - row_vector<T, n>{};
  for (int k = 1; k < count; ++k) v[k] = values[k];
  return v;
}
template <bool value> struct is_true { static constexpr bool it = value; };
// Of two vectors that follow each other, the one that begins `count` scalars before the second.
template <int... k> struct numbers {};
template <int n, int... k> struct numbers_up_to : numbers_up_to<n - 1, n - 1, k...> {};
template <int... k> struct numbers_up_to<0, k...> { typedef numbers<k...> type; };
template <int bytes> struct place_of { typedef int32_t type; };
template <> struct place_of<1> { typedef int8_t type; };
template <> struct place_of<2> { typedef int16_t type; };
template <> struct place_of<8> { typedef int64_t type; };
template <int first, class V, int... k> static inline V joined(V a, V b, numbers<k...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (first + k)...);
#else
  return __builtin_shuffle(a, b, row_vector<typename place_of<sizeof(scalar_of<V>)>::type, scalars_of<V>>{(first + k)...});
#endif
}
template <int count, class V> static inline V shifted(V a, V b) {
  return joined<scalars_of<V> - count>(a, b, typename numbers_up_to<scalars_of<V>>::type());
}
// The vector that begins `count` scalars behind `here`, which is at the address.
template <int count, class Last, class T>
static inline row_vector<T> vector_after(Last, const T* address, row_vector<T> here, row_vector<T> beyond) {
  if constexpr (Last::it) return shifted<in_vector<T> - count>(here, beyond);
  return vector_at(address + count);
}
// Likewise, but of a count that only the row knows, from the first vector on.
template <class V> static inline V vector_between(V a, V b, int64_t count) {
  V both[2] = {a, b};
  __builtin_memcpy(&a, (const char*)both + count * (int64_t)sizeof(scalar_of<V>), sizeof a);
  return a;
}
#if defined(__clang__)
template <class V> static inline V roots_of(V v) { return __builtin_elementwise_sqrt(v); }
#else
static inline row_vector<float> roots_of(row_vector<float> v) { return __builtin_ia32_sqrtps512_mask(v, v, -1, 4); }
static inline row_vector<double> roots_of(row_vector<double> v) { return __builtin_ia32_sqrtpd512_mask(v, v, -1, 4); }
#endif
#endif
)";

const char* const steps_in_lanes_text = R"text(#if defined(__AVX512F__)
#if defined(__clang__)
#define WEFT_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define WEFT_UNROLLED _Pragma("GCC unroll 16")
#endif
// Scalars of two vectors, in turns: of their halves from the scalar `from` on.
template <int from, class V, int... k> static inline V in_turns(V a, V b, numbers<k...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (from + k / 2 + k % 2 * scalars_of<V>)...);
#else
  return __builtin_shuffle(a, b, row_vector<typename place_of<sizeof(scalar_of<V>)>::type, scalars_of<V>>{(from + k / 2 + k % 2 * scalars_of<V>)...});
#endif
}
// Rows become columns, as many as they have scalars.
template <class V, int n> static inline void turn_round(V (&rows)[n]) {
  typedef typename numbers_up_to<n>::type all;
  WEFT_UNROLLED
  for (int round = 0; 1 << round < n; ++round) {
    V mixed[n];
    WEFT_UNROLLED
    for (int k = 0; k < n / 2; ++k) {
      mixed[2 * k] = in_turns<0>(rows[k], rows[k + n / 2], all());
      mixed[2 * k + 1] = in_turns<n / 2>(rows[k], rows[k + n / 2], all());
    }
    WEFT_UNROLLED
    for (int k = 0; k < n; ++k) rows[k] = mixed[k];
  }
}
// Columns that come one after another, some steps later. Of each step, the `beside` columns before the next are kept.
template <int steps, int beside, class V, int n, class Update>
static inline void take_steps(V (*before)[beside], V (&columns)[n], const Update& update) {
  V taps[steps][beside + 1];
  WEFT_UNROLLED
  for (int step = 0; step < steps; ++step)
    WEFT_UNROLLED
    for (int k = 0; k < beside; ++k) taps[step][k] = before[step][k];
  for (int i = 0; i < n; ++i) {
    V column = columns[i];
    WEFT_UNROLLED
    for (int step = 0; step < steps; ++step) {
      taps[step][beside] = column;
      column = update(taps[step]);
      WEFT_UNROLLED
      for (int k = 0; k < beside; ++k) taps[step][k] = taps[step][k + 1];
    }
    columns[i] = column;
  }
  WEFT_UNROLLED
  for (int step = 0; step < steps; ++step)
    WEFT_UNROLLED
    for (int k = 0; k < beside; ++k) before[step][k] = taps[step][k];
}
// Several steps of a line. Lane l of a vector goes along the columns from l * columns on, and those beside them that they need:
// an update of a column is made from `left` columns before it to `right` behind it.
template <int steps, int64_t columns, int left, int right, class T, class Update>
static inline void steps_in_lanes(const T* from, T* to, bool past_caches, const Update& update) {
  constexpr int n = in_vector<T>, beside = left + right;
  constexpr int at_once = steps % 4 == 0 && beside <= 4 ? 4 : steps % 2 == 0 ? 2 : 1;  // in registers
  constexpr int64_t ahead = (steps * left + n - 1) / n * n, delay = steps * right;
  static_assert(columns % n == 0 && delay % n == 0, "whole vectors");
  row_vector<T> before[steps][beside] = {}, block[n];
  for (int64_t i = -ahead; i < columns + delay; i += n) {
    WEFT_UNROLLED
    for (int lane = 0; lane < n; ++lane) {
      block[lane] = vector_at(from + lane * columns + i);
      __builtin_prefetch(from + lane * columns + i + 3 * n);
    }
    turn_round(block);
    for (int step = 0; step < steps; step += at_once) take_steps<at_once>(before + step, block, update);
    if (i < delay) continue;
    turn_round(block);
    WEFT_UNROLLED
    for (int lane = 0; lane < n; ++lane) store_vector(to + lane * columns + i - delay, block[lane], past_caches);
  }
}
#endif
)text";

const char* const integer_vectors_text = R"(#if defined(__AVX512BW__)
template <class V> static inline V smaller_of(V a, V b) { return a < b ? a : b; }
template <class V> static inline V larger_of(V a, V b) { return a > b ? a : b; }
// Vectors of as many wider or narrower integers.
#if !defined(__clang__)
typedef char bytes_of_32 __attribute__((vector_size(32)));  // as GCC 12 takes them: by itself it makes several instructions
typedef char bytes_of_16 __attribute__((vector_size(16)));
typedef int16_t shorts_of_32 __attribute__((vector_size(64)));
typedef int16_t shorts_of_16 __attribute__((vector_size(32)));
typedef int32_t ints_of_16 __attribute__((vector_size(64)));
#endif
template <class T, class V> static inline row_vector<T, scalars_of<V>> converted(V v) {
  constexpr int n = scalars_of<V>, from = sizeof(scalar_of<V>), to = sizeof(T);
  constexpr bool is_signed = (scalar_of<V>)-1 < 0;
  typedef row_vector<T, n> result;
  (void)is_signed;
#if !defined(__clang__)
  if constexpr (n == 32 && from == 1 && to == 2) {
    return (result)(is_signed ? __builtin_ia32_pmovsxbw512_mask((bytes_of_32)v, shorts_of_32{}, -1)
                              : __builtin_ia32_pmovzxbw512_mask((bytes_of_32)v, shorts_of_32{}, -1));
  } else if constexpr (n == 32 && from == 2 && to == 1) {
    return (result)__builtin_ia32_pmovwb512_mask((shorts_of_32)v, bytes_of_32{}, -1);
  } else if constexpr (n == 16 && from == 1 && to == 4) {
    return (result)(is_signed ? __builtin_ia32_pmovsxbd512_mask((bytes_of_16)v, ints_of_16{}, -1)
                              : __builtin_ia32_pmovzxbd512_mask((bytes_of_16)v, ints_of_16{}, -1));
  } else if constexpr (n == 16 && from == 2 && to == 4) {
    return (result)(is_signed ? __builtin_ia32_pmovsxwd512_mask((shorts_of_16)v, ints_of_16{}, -1)
                              : __builtin_ia32_pmovzxwd512_mask((shorts_of_16)v, ints_of_16{}, -1));
  } else if constexpr (n == 16 && from == 4 && to == 1) {
    return (result)__builtin_ia32_pmovdb512_mask((ints_of_16)v, bytes_of_16{}, -1);
  } else if constexpr (n == 16 && from == 4 && to == 2) {
    return (result)__builtin_ia32_pmovdw512_mask((ints_of_16)v, shorts_of_16{}, -1);
  } else
#endif
  return __builtin_convertvector(v, result);
}
// What is beyond the range of the type becomes its end.
template <class T, class V> static inline row_vector<T, scalars_of<V>> saturated(V v) {
  typedef scalar_of<V> from;
  constexpr bool is_signed = (T)-1 < 0, was_signed = (from)-1 < 0;
  constexpr int bits = 8 * (int)sizeof(T) - is_signed, bits_before = 8 * (int)sizeof(from) - was_signed;
  constexpr uint64_t most = ((uint64_t)1 << bits) - 1;
  if constexpr (bits < bits_before) v = smaller_of(v, (from)most - V{});
  if constexpr (was_signed && !is_signed) v = larger_of(v, V{});
  if constexpr (was_signed && is_signed && bits < bits_before) v = larger_of(v, (from)(-1 - (from)most) - V{});
  return converted<T>(v);
}
#endif
)";

}  // namespace weft::emit
