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
template <class T> struct row_vector_of;
template <> struct row_vector_of<float> {
  typedef float type __attribute__((vector_size(64)));
  typedef int32_t places __attribute__((vector_size(64)));
};
template <> struct row_vector_of<double> {
  typedef double type __attribute__((vector_size(64)));
  typedef int64_t places __attribute__((vector_size(64)));
};
template <class T> using row_vector = typename row_vector_of<T>::type;
template <class T> constexpr int in_vector = 64 / (int)sizeof(T);
template <class T> constexpr int few = in_vector<T> / 4;  // take no longer one by one than as a vector
template <class T> static inline row_vector<T> vector_at(const T* from) {
  row_vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class T> static inline void store_vector(T* to, row_vector<T> v) { __builtin_memcpy(to, &v, sizeof v); }
// Stores at a multiple of 64 bytes, past the caches if asked: what is not read soon.
#if defined(__clang__)
template <class T> static inline void store_past_caches(T* to, row_vector<T> v) { __builtin_nontemporal_store(v, (row_vector<T>*)to); }
#else
static inline void store_past_caches(float* to, row_vector<float> v) { __builtin_ia32_movntps512(to, v); }
static inline void store_past_caches(double* to, row_vector<double> v) { __builtin_ia32_movntpd512(to, v); }
#endif
template <class T> static inline void store_vector(T* to, row_vector<T> v, bool past_caches) {
  past_caches ? store_past_caches(to, v) : store_vector(to, v);
}
static inline bool is_line(const void* address) { return ((uintptr_t)address & 63) == 0; }
// The `count` scalars before an address, at the end of a vector.
template <int count, class T> static inline row_vector<T> vector_before(const T* address) {
  row_vector<T> v = {};
  for (int k = 1; k <= count; ++k) v[in_vector<T> - k] = address[-k];
  return v;
}
// What is beyond the ends of a row, in vectors before its first and behind its last.
template <class T, int count> static inline row_vector<T> vector_that_ends_with(const T (&values)[count]) {
  row_vector<T> v = values[0] - row_vector<T>{};
  for (int k = 1; k < count; ++k) v[in_vector<T> - count + k] = values[k];
  return v;
}
template <class T, int count> static inline row_vector<T> vector_that_begins_with(const T (&values)[count]) {
  row_vector<T> v = values[0] - row_vector<T>{};
  for (int k = 1; k < count; ++k) v[k] = values[k];
  return v;
}
template <bool value> struct is_true { static constexpr bool it = value; };
// Of two vectors that follow each other, the one that begins `count` scalars before the second.
template <int... k> struct numbers {};
template <int n, int... k> struct numbers_up_to : numbers_up_to<n - 1, n - 1, k...> {};
template <int... k> struct numbers_up_to<0, k...> { typedef numbers<k...> type; };
template <class T, int first, int... k>
static inline row_vector<T> joined(row_vector<T> a, row_vector<T> b, numbers<k...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (first + k)...);
#else
  return __builtin_shuffle(a, b, typename row_vector_of<T>::places{(first + k)...});
#endif
}
template <int count> static inline row_vector<float> shifted(row_vector<float> a, row_vector<float> b) {
  return joined<float, 16 - count>(a, b, numbers_up_to<16>::type());
}
template <int count> static inline row_vector<double> shifted(row_vector<double> a, row_vector<double> b) {
  return joined<double, 8 - count>(a, b, numbers_up_to<8>::type());
}
// The vector that begins `count` scalars behind `here`, which is at the address.
template <int count, class Last, class T>
static inline row_vector<T> vector_after(Last, const T* address, row_vector<T> here, row_vector<T> beyond) {
  if constexpr (Last::it) return joined<T, count>(here, beyond, typename numbers_up_to<in_vector<T>>::type());
  return vector_at(address + count);
}
#if defined(__clang__)
template <class V> static inline V roots_of(V v) { return __builtin_elementwise_sqrt(v); }
#else
static inline row_vector<float> roots_of(row_vector<float> v) { return __builtin_ia32_sqrtps512_mask(v, v, -1, 4); }
static inline row_vector<double> roots_of(row_vector<double> v) { return __builtin_ia32_sqrtpd512_mask(v, v, -1, 4); }
#endif
#endif
)";

}  // namespace weft::emit
