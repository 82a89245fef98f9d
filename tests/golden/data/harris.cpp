// Pipeline 'harris', emitted by Weft. How it runs:
//   dx           computed in hc: sx, sxy read it at the same pixel, in one loop: no store, no load
//   sx           in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gx_columns   in rows of hc: computed 0 rows ahead of 'hc', which needs 1 of its rows at a time: no store, no load
//   gx           computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   dy           computed in hc: sy, sxy read it at the same pixel, in one loop: no store, no load
//   sy           in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gy_columns   in rows of hc: computed 0 rows ahead of 'hc', which needs 1 of its rows at a time: no store, no load
//   gy           computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   sxy          in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gxy_columns  in rows of hc: computed 0 rows ahead of 'hc', which needs 1 of its rows at a time: no store, no load
//   gxy          computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   hc           stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "harris.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that stay without vectors are right, too
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("GCC ivdep")  // the iterations of the loop below are independent
#pragma GCC optimize("no-tree-sink")  // or what only one side of a select needs becomes a branch again
#pragma GCC optimize("no-thread-jumps")  // or selects become branches whose sides are selects: 5 comparisons for a clamp
#elif defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT
#endif
#define WEFT_SCALAR __asm__ volatile("");  // keeps the loop that it is in from being vectorised
#define WEFT_NOINLINE __attribute__((noinline))
#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_OPAQUE(value) __asm__("" : "+r"(value));  // hides what it is: where a pointer points to, or a factor
#else
#define WEFT_OPAQUE(value)
#endif

namespace harris {

// i itself inside [0, n), else the nearest index.
static inline int64_t clamp_index(int64_t i, int64_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}
// x / 0 is 0, and the least value / -1 wraps.
static inline int64_t div_i64(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }
#ifndef WEFT_CACHE_BYTES
#define WEFT_CACHE_BYTES (16 << 20)  // half of the last level: the other half goes to what is read
#endif
// Whether these are too many bytes for the caches.
static inline bool exceeds_caches(int64_t bytes) { return bytes > WEFT_CACHE_BYTES; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// Asks memory for what is read soon, as far as the second level of caches: the first has no room to wait in.
static inline void prefetch(const void* from, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(static_cast<const char*>(from) + b, 0, 2);
}
// x % 0 is 0.
static inline int64_t rem_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
#if defined(__AVX512F__)
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
// Orders what was stored past the caches before all that follows, such as that the work is done.
static inline void settle_stores() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
// Stores what is not read soon: whole lines past the caches, so that memory is not read first.
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

// While one lives, results too small for a normal float become 0: processors take a hundred cycles over each.
struct flush_subnormals {
#if defined(__SSE__)
  const unsigned saved = __builtin_ia32_stmxcsr();
  flush_subnormals() { __builtin_ia32_ldmxcsr(saved | 0x8000u); }
  ~flush_subnormals() { __builtin_ia32_ldmxcsr(saved); }
#else
  flush_subnormals() {}
#endif
};

namespace {

void* host_allocate(void*, size_t bytes, bool clear) {
  void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory && clear) std::memset(memory, 0, bytes);
  return memory;
}

void host_release(void*, void* memory) { std::free(memory); }

// Threads share a loop: whoever has no part of it takes the next. Each starts another one before its first, unless
// none is left: so little work starts few threads.
struct shared_loop {
  void (*body)(const void*, int64_t, int64_t);
  const void* frame;
  int64_t count, parts;
  std::atomic<int64_t> next{0};

  void run(int64_t threads) {
    int64_t part = next++;
    std::thread other;
    if (threads > 1 && part + 1 < parts) other = std::thread([this, threads] { run(threads - 1); });
    for (; part < parts; part = next++) body(frame, count * part / parts, count * (part + 1) / parts);
    if (other.joinable()) other.join();
  }
};

void host_parallel_for(void*, int64_t count, void (*body)(const void*, int64_t, int64_t), const void* frame) {
  const int64_t cores = std::thread::hardware_concurrency(), most = cores < 1 ? 1 : 4 * cores;
  shared_loop loop = {body, frame, count, count < most ? count : most};
  loop.run(cores);
}

// Starting a thread takes several times as long as waking one.
const weft_host standard_host = {nullptr, host_allocate, host_release, host_parallel_for, 20000};

// What every kernel reads: images, their pitches in scalars, sizes and parameters.
struct harris_frame {
  const float* in;
  float* hc;
  int64_t in_w, in_h;
  int64_t in_pitch, hc_pitch;
  float k;
};

// Strips [first, last) of 'hc', each 320 columns that are computed 2 rows at a time.
// Rows of 'sx', 'gx_columns', 'sy', 'gy_columns', 'sxy', 'gxy_columns' are kept while they are read.
// Rows of 'in' are read where they lie, but for strips at the ends of the image.
void hc_strips(const harris_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict hc = frame.hc;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t hc_pitch = frame.hc_pitch;
  const float k = frame.k;
  alignas(64) float in_rows[1296];
  alignas(64) float sx_rows[1344];
  alignas(64) float sy_rows[1344];
  alignas(64) float sxy_rows[1344];
  alignas(64) float gx_columns_rows[672];
  alignas(64) float gy_columns_rows[672];
  alignas(64) float gxy_columns_rows[672];
  alignas(64) float hc_line[320];
  alignas(64) float hc_line_p1[320];
  const bool past_caches_ = exceeds_caches(hc_pitch * in_h * 4);
  const int64_t columns = (in_w + 319) / 320;
  const int64_t rows = min_i64(max_i64(in_h * columns / 64 & -16, 16), 256);
  for (int64_t strip = first; strip < last; ++strip) {
    const int64_t x0 = rem_i64(strip, columns) * 320;
    const int64_t x1 = min_i64(x0 + 320, in_w);
    const int64_t y0 = div_i64(strip, columns) * rows;
    const int64_t y1 = min_i64(y0 + rows, in_h);
    const bool in_copied = x0 - 2 < 0 || in_w < x1 + 2;
    const float* in_from = in_copied ? in_rows : in + x0 - 2;
    const int64_t in_step = in_copied ? 324 : in_pitch;
    const int64_t in_mask = in_copied ? 3 : -1;
    for (int64_t batch = y0 - 4; batch < y1; batch += 2) {
      for (int64_t row = batch + 2; row < min_i64(batch + 4, y1 + 2); ++row) {
        const int64_t left = max_i64(x0 - 2, 0);
        const int64_t right = min_i64(x1 + 2, in_w);
        if (in_copied) {
          float* in_row = in_rows + (row & 3) * 324;
          const float* in_row_2 = in + clamp_index(row, in_h) * in_pitch;
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < right - left; ++i) {
            in_row[i + (left - x0) + 2] = in_row_2[i + left];
          }
          for (int64_t x = max_i64(x0 - 2, -1); x < left; ++x) {
            in_row[x - x0 + 2] = in_row_2[clamp_index(x, in_w)];
          }
          for (int64_t x = right; x < min_i64(x1 + 2, in_w + 1); ++x) {
            in_row[x - x0 + 2] = in_row_2[clamp_index(x, in_w)];
          }
        }
      }
      if (max_i64(y0 - 1, 0) <= batch + 1 && batch + 3 <= min_i64(y1 + 1, in_h)) {
        const int64_t row = batch + 1;
        const int64_t left = max_i64(x0 - 1, 0);
        const int64_t right = min_i64(x1 + 1, in_w);
        float* sx_row = sx_rows + (row & 3) * 336;
        WEFT_OPAQUE(sx_row)
        float* sy_row = sy_rows + (row & 3) * 336;
        WEFT_OPAQUE(sy_row)
        float* sxy_row = sxy_rows + (row & 3) * 336;
        WEFT_OPAQUE(sxy_row)
        float* sx_row_p1 = sx_rows + ((row + 1) & 3) * 336;
        WEFT_OPAQUE(sx_row_p1)
        float* sy_row_p1 = sy_rows + ((row + 1) & 3) * 336;
        WEFT_OPAQUE(sy_row_p1)
        float* sxy_row_p1 = sxy_rows + ((row + 1) & 3) * 336;
        WEFT_OPAQUE(sxy_row_p1)
        const float* in_m1 = in_from + ((in_copied ? row - 1 : clamp_index(row - 1, in_h)) & in_mask)
            * in_step + (left - x0) + 2;
        WEFT_OPAQUE(in_m1)
        const float* in_0 = in_from + ((in_copied ? row : clamp_index(row, in_h)) & in_mask) * in_step
            + (left - x0) + 2;
        WEFT_OPAQUE(in_0)
        const float* in_p1 = in_from + ((in_copied ? row + 1 : clamp_index(row + 1, in_h)) & in_mask)
            * in_step + (left - x0) + 2;
        WEFT_OPAQUE(in_p1)
        const float* in_p2 = in_from + ((in_copied ? row + 2 : clamp_index(row + 2, in_h)) & in_mask)
            * in_step + (left - x0) + 2;
        WEFT_OPAQUE(in_p2)
        for (int64_t portion = 0; portion < right - left; portion += 128) {
          prefetch(in + clamp_index(row + 3, in_h) * in_pitch + max_i64(left - 1, 0) + portion, 512);
          prefetch(in + clamp_index(row + 4, in_h) * in_pitch + max_i64(left - 1, 0) + portion, 512);
          {
            int64_t i = portion;
#if defined(__AVX512F__)
            if (i + in_vector<float> <= min_i64(portion + 128, right - left)) {
              row_vector<float> in_m1_before = vector_before<1>(in_m1 + i);
              row_vector<float> in_0_before = vector_before<1>(in_0 + i);
              row_vector<float> in_p1_before = vector_before<1>(in_p1 + i);
              row_vector<float> in_p2_before = vector_before<1>(in_p2 + i);
              for (; i + in_vector<float> <= min_i64(portion + 128, right - left); i += in_vector<float>) {
                const row_vector<float> in_m1_here = vector_at(in_m1 + i);
                const row_vector<float> in_0_here = vector_at(in_0 + i);
                const row_vector<float> in_p1_here = vector_at(in_p1 + i);
                const row_vector<float> in_p2_here = vector_at(in_p2 + i);
                const auto v = shifted<1>(in_m1_before, in_m1_here);
                const auto v_2 = vector_at(in_m1 + i + 1);
                const auto v_3 = shifted<1>(in_0_before, in_0_here);
                const auto v_4 = vector_at(in_0 + i + 1);
                const auto v_5 = shifted<1>(in_p1_before, in_p1_here);
                const auto v_6 = vector_at(in_p1 + i + 1);
                const auto dx = -0.16666667f * v + 0.16666667f * v_2 - 0.16666667f * v_3 + 0.16666667f * v_4
                    - 0.16666667f * v_5 + 0.16666667f * v_6;
                const auto dy = -0.16666667f * v - 0.16666667f * in_m1_here - 0.16666667f * v_2
                    + 0.16666667f * v_5 + 0.16666667f * in_p1_here + 0.16666667f * v_6;
                store_vector(sx_row + i + (left - x0) + 1, dx * dx);
                store_vector(sy_row + i + (left - x0) + 1, dy * dy);
                store_vector(sxy_row + i + (left - x0) + 1, dx * dy);
                const auto v_7 = shifted<1>(in_p2_before, in_p2_here);
                const auto v_8 = vector_at(in_p2 + i + 1);
                const auto dx_2 = -0.16666667f * v_3 + 0.16666667f * v_4 - 0.16666667f * v_5
                    + 0.16666667f * v_6 - 0.16666667f * v_7 + 0.16666667f * v_8;
                const auto dy_2 = -0.16666667f * v_3 - 0.16666667f * in_0_here - 0.16666667f * v_4
                    + 0.16666667f * v_7 + 0.16666667f * in_p2_here + 0.16666667f * v_8;
                store_vector(sx_row_p1 + i + (left - x0) + 1, dx_2 * dx_2);
                store_vector(sy_row_p1 + i + (left - x0) + 1, dy_2 * dy_2);
                store_vector(sxy_row_p1 + i + (left - x0) + 1, dx_2 * dy_2);
                in_m1_before = in_m1_here;
                in_0_before = in_0_here;
                in_p1_before = in_p1_here;
                in_p2_before = in_p2_here;
              }
            }
#endif
            WEFT_INDEPENDENT
            for (; i < min_i64(portion + 128, right - left); ++i) {
              const float v = in_m1[i - 1];
              const float v_2 = in_m1[i + 1];
              const float v_3 = in_0[i - 1];
              const float v_4 = in_0[i + 1];
              const float v_5 = in_p1[i - 1];
              const float v_6 = in_p1[i + 1];
              const float dx = -0.16666667f * v + 0.16666667f * v_2 - 0.16666667f * v_3 + 0.16666667f * v_4
                  - 0.16666667f * v_5 + 0.16666667f * v_6;
              const float dy = -0.16666667f * v - 0.16666667f * in_m1[i] - 0.16666667f * v_2
                  + 0.16666667f * v_5 + 0.16666667f * in_p1[i] + 0.16666667f * v_6;
              sx_row[i + (left - x0) + 1] = dx * dx;
              sy_row[i + (left - x0) + 1] = dy * dy;
              sxy_row[i + (left - x0) + 1] = dx * dy;
              const float v_7 = in_p2[i - 1];
              const float v_8 = in_p2[i + 1];
              const float dx_2 = -0.16666667f * v_3 + 0.16666667f * v_4 - 0.16666667f * v_5
                  + 0.16666667f * v_6 - 0.16666667f * v_7 + 0.16666667f * v_8;
              const float dy_2 = -0.16666667f * v_3 - 0.16666667f * in_0[i] - 0.16666667f * v_4
                  + 0.16666667f * v_7 + 0.16666667f * in_p2[i] + 0.16666667f * v_8;
              sx_row_p1[i + (left - x0) + 1] = dx_2 * dx_2;
              sy_row_p1[i + (left - x0) + 1] = dy_2 * dy_2;
              sxy_row_p1[i + (left - x0) + 1] = dx_2 * dy_2;
            }
          }
        }
      } else {
        for (int64_t row = max_i64(max_i64(batch + 1, y0 - 1), 0); row
            < min_i64(min_i64(batch + 3, y1 + 1), in_h); ++row) {
          const int64_t left = max_i64(x0 - 1, 0);
          const int64_t right = min_i64(x1 + 1, in_w);
          float* sx_row = sx_rows + (row & 3) * 336;
          float* sy_row = sy_rows + (row & 3) * 336;
          float* sxy_row = sxy_rows + (row & 3) * 336;
          const float* in_m1 = in_from + ((in_copied ? row - 1 : clamp_index(row - 1, in_h)) & in_mask)
              * in_step + (left - x0) + 2;
          const float* in_0 = in_from + ((in_copied ? row : clamp_index(row, in_h)) & in_mask) * in_step
              + (left - x0) + 2;
          const float* in_p1 = in_from + ((in_copied ? row + 1 : clamp_index(row + 1, in_h)) & in_mask)
              * in_step + (left - x0) + 2;
          for (int64_t portion = 0; portion < right - left; portion += 256) {
            prefetch(in + clamp_index(row + 3, in_h) * in_pitch + max_i64(left - 1, 0) + portion, 1024);
            {
              int64_t i = portion;
#if defined(__AVX512F__)
              if (i + in_vector<float> <= min_i64(portion + 256, right - left)) {
                row_vector<float> in_m1_before = vector_before<1>(in_m1 + i);
                row_vector<float> in_0_before = vector_before<1>(in_0 + i);
                row_vector<float> in_p1_before = vector_before<1>(in_p1 + i);
                for (; i + in_vector<float> <= min_i64(portion + 256, right - left); i += in_vector<float>) {
                  const row_vector<float> in_m1_here = vector_at(in_m1 + i);
                  const row_vector<float> in_0_here = vector_at(in_0 + i);
                  const row_vector<float> in_p1_here = vector_at(in_p1 + i);
                  const auto dx = -0.16666667f * shifted<1>(in_m1_before, in_m1_here)
                      + 0.16666667f * vector_at(in_m1 + i + 1)
                      - 0.16666667f * shifted<1>(in_0_before, in_0_here)
                      + 0.16666667f * vector_at(in_0 + i + 1)
                      - 0.16666667f * shifted<1>(in_p1_before, in_p1_here)
                      + 0.16666667f * vector_at(in_p1 + i + 1);
                  store_vector(sx_row + i + (left - x0) + 1, dx * dx);
                  const auto dy = -0.16666667f * shifted<1>(in_m1_before, in_m1_here)
                      - 0.16666667f * in_m1_here - 0.16666667f * vector_at(in_m1 + i + 1)
                      + 0.16666667f * shifted<1>(in_p1_before, in_p1_here) + 0.16666667f * in_p1_here
                      + 0.16666667f * vector_at(in_p1 + i + 1);
                  store_vector(sy_row + i + (left - x0) + 1, dy * dy);
                  store_vector(sxy_row + i + (left - x0) + 1, dx * dy);
                  in_m1_before = in_m1_here;
                  in_0_before = in_0_here;
                  in_p1_before = in_p1_here;
                }
              }
#endif
              WEFT_INDEPENDENT
              for (; i < min_i64(portion + 256, right - left); ++i) {
                const float dx = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_m1[i + 1]
                    - 0.16666667f * in_0[i - 1] + 0.16666667f * in_0[i + 1] - 0.16666667f * in_p1[i - 1]
                    + 0.16666667f * in_p1[i + 1];
                sx_row[i + (left - x0) + 1] = dx * dx;
                const float dy = -0.16666667f * in_m1[i - 1] - 0.16666667f * in_m1[i]
                    - 0.16666667f * in_m1[i + 1] + 0.16666667f * in_p1[i - 1] + 0.16666667f * in_p1[i]
                    + 0.16666667f * in_p1[i + 1];
                sy_row[i + (left - x0) + 1] = dy * dy;
                sxy_row[i + (left - x0) + 1] = dx * dy;
              }
            }
          }
        }
      }
#if defined(__AVX512F__)
      const bool in_vectors = y0 <= batch && batch + 2 <= y1 && x0 + 32 <= x1
          && (0 <= x0 - 1 && x1 + 1 <= in_w);
      if (!in_vectors)
#endif
      {
        if (y0 <= batch && batch + 2 <= y1) {
          const int64_t row = batch;
          const int64_t left = max_i64(x0 - 1, 0);
          const int64_t right = min_i64(x1 + 1, in_w);
          float* gx_columns_row = gx_columns_rows + (row & 1) * 336;
          WEFT_OPAQUE(gx_columns_row)
          float* gy_columns_row = gy_columns_rows + (row & 1) * 336;
          WEFT_OPAQUE(gy_columns_row)
          float* gxy_columns_row = gxy_columns_rows + (row & 1) * 336;
          WEFT_OPAQUE(gxy_columns_row)
          float* gx_columns_row_p1 = gx_columns_rows + ((row + 1) & 1) * 336;
          WEFT_OPAQUE(gx_columns_row_p1)
          float* gy_columns_row_p1 = gy_columns_rows + ((row + 1) & 1) * 336;
          WEFT_OPAQUE(gy_columns_row_p1)
          float* gxy_columns_row_p1 = gxy_columns_rows + ((row + 1) & 1) * 336;
          WEFT_OPAQUE(gxy_columns_row_p1)
          const float* sx_m1 = sx_rows + (clamp_index(row - 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_m1)
          const float* sx_0 = sx_rows + (clamp_index(row, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_0)
          const float* sx_p1 = sx_rows + (clamp_index(row + 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_p1)
          const float* sy_m1 = sy_rows + (clamp_index(row - 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_m1)
          const float* sy_0 = sy_rows + (clamp_index(row, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_0)
          const float* sy_p1 = sy_rows + (clamp_index(row + 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_p1)
          const float* sxy_m1 = sxy_rows + (clamp_index(row - 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_m1)
          const float* sxy_0 = sxy_rows + (clamp_index(row, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_0)
          const float* sxy_p1 = sxy_rows + (clamp_index(row + 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_p1)
          const float* sx_p2 = sx_rows + (clamp_index(row + 2, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_p2)
          const float* sy_p2 = sy_rows + (clamp_index(row + 2, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_p2)
          const float* sxy_p2 = sxy_rows + (clamp_index(row + 2, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_p2)
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < right - left; ++i) {
            const float v = sx_0[i];
            const float v_2 = sx_p1[i];
            gx_columns_row[i + (left - x0) + 1] = 0.125f * sx_m1[i] + 0.25f * v + 0.125f * v_2;
            const float v_3 = sy_0[i];
            const float v_4 = sy_p1[i];
            gy_columns_row[i + (left - x0) + 1] = 0.125f * sy_m1[i] + 0.25f * v_3 + 0.125f * v_4;
            const float v_5 = sxy_0[i];
            const float v_6 = sxy_p1[i];
            gxy_columns_row[i + (left - x0) + 1] = 0.125f * sxy_m1[i] + 0.25f * v_5 + 0.125f * v_6;
            gx_columns_row_p1[i + (left - x0) + 1] = 0.125f * v + 0.25f * v_2 + 0.125f * sx_p2[i];
            gy_columns_row_p1[i + (left - x0) + 1] = 0.125f * v_3 + 0.25f * v_4 + 0.125f * sy_p2[i];
            gxy_columns_row_p1[i + (left - x0) + 1] = 0.125f * v_5 + 0.25f * v_6 + 0.125f * sxy_p2[i];
          }
          for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
            gx_columns_row[x - x0 + 1] = gx_columns_row[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
            gx_columns_row[x - x0 + 1] = gx_columns_row[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
            gy_columns_row[x - x0 + 1] = gy_columns_row[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
            gy_columns_row[x - x0 + 1] = gy_columns_row[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
            gxy_columns_row[x - x0 + 1] = gxy_columns_row[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
            gxy_columns_row[x - x0 + 1] = gxy_columns_row[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
            gx_columns_row_p1[x - x0 + 1] = gx_columns_row_p1[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
            gx_columns_row_p1[x - x0 + 1] = gx_columns_row_p1[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
            gy_columns_row_p1[x - x0 + 1] = gy_columns_row_p1[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
            gy_columns_row_p1[x - x0 + 1] = gy_columns_row_p1[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
            gxy_columns_row_p1[x - x0 + 1] = gxy_columns_row_p1[clamp_index(x, in_w) - x0 + 1];
          }
          for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
            gxy_columns_row_p1[x - x0 + 1] = gxy_columns_row_p1[clamp_index(x, in_w) - x0 + 1];
          }
        } else {
          for (int64_t row = max_i64(batch, y0); row < min_i64(batch + 2, y1); ++row) {
            const int64_t left = max_i64(x0 - 1, 0);
            const int64_t right = min_i64(x1 + 1, in_w);
            float* gx_columns_row = gx_columns_rows + (row & 1) * 336;
            float* gy_columns_row = gy_columns_rows + (row & 1) * 336;
            float* gxy_columns_row = gxy_columns_rows + (row & 1) * 336;
            const float* sx_m1 = sx_rows + (clamp_index(row - 1, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sx_0 = sx_rows + (clamp_index(row, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sx_p1 = sx_rows + (clamp_index(row + 1, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sy_m1 = sy_rows + (clamp_index(row - 1, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sy_0 = sy_rows + (clamp_index(row, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sy_p1 = sy_rows + (clamp_index(row + 1, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sxy_m1 = sxy_rows + (clamp_index(row - 1, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sxy_0 = sxy_rows + (clamp_index(row, in_h) & 3) * 336 + (left - x0) + 1;
            const float* sxy_p1 = sxy_rows + (clamp_index(row + 1, in_h) & 3) * 336 + (left - x0) + 1;
            WEFT_INDEPENDENT
            for (int64_t i = 0; i < right - left; ++i) {
              gx_columns_row[i + (left - x0) + 1] = 0.125f * sx_m1[i] + 0.25f * sx_0[i] + 0.125f * sx_p1[i];
              gy_columns_row[i + (left - x0) + 1] = 0.125f * sy_m1[i] + 0.25f * sy_0[i] + 0.125f * sy_p1[i];
              gxy_columns_row[i + (left - x0) + 1] = 0.125f * sxy_m1[i] + 0.25f * sxy_0[i]
                  + 0.125f * sxy_p1[i];
            }
            for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
              gx_columns_row[x - x0 + 1] = gx_columns_row[clamp_index(x, in_w) - x0 + 1];
            }
            for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
              gx_columns_row[x - x0 + 1] = gx_columns_row[clamp_index(x, in_w) - x0 + 1];
            }
            for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
              gy_columns_row[x - x0 + 1] = gy_columns_row[clamp_index(x, in_w) - x0 + 1];
            }
            for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
              gy_columns_row[x - x0 + 1] = gy_columns_row[clamp_index(x, in_w) - x0 + 1];
            }
            for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
              gxy_columns_row[x - x0 + 1] = gxy_columns_row[clamp_index(x, in_w) - x0 + 1];
            }
            for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
              gxy_columns_row[x - x0 + 1] = gxy_columns_row[clamp_index(x, in_w) - x0 + 1];
            }
          }
        }
      }
      if (y0 <= batch && batch + 2 <= y1) {
        const int64_t y = batch;
#if defined(__AVX512F__)
        if (in_vectors) {
          const int64_t left = x0;
          const int64_t right = x1;
          float* hc_row = past_caches_ ? hc_line : hc + y * hc_pitch + left;
          WEFT_OPAQUE(hc_row)
          float* hc_row_p1 = past_caches_ ? hc_line_p1 : hc + (y + 1) * hc_pitch + left;
          WEFT_OPAQUE(hc_row_p1)
          const float* sx_m1 = sx_rows + (clamp_index(y - 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_m1)
          const float* sx_0 = sx_rows + (clamp_index(y, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_0)
          const float* sx_p1 = sx_rows + (clamp_index(y + 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_p1)
          const float* sy_m1 = sy_rows + (clamp_index(y - 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_m1)
          const float* sy_0 = sy_rows + (clamp_index(y, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_0)
          const float* sy_p1 = sy_rows + (clamp_index(y + 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_p1)
          const float* sxy_m1 = sxy_rows + (clamp_index(y - 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_m1)
          const float* sxy_0 = sxy_rows + (clamp_index(y, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_0)
          const float* sxy_p1 = sxy_rows + (clamp_index(y + 1, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_p1)
          const float* sx_p2 = sx_rows + (clamp_index(y + 2, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sx_p2)
          const float* sy_p2 = sy_rows + (clamp_index(y + 2, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sy_p2)
          const float* sxy_p2 = sxy_rows + (clamp_index(y + 2, in_h) & 3) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(sxy_p2)
          {
            const auto gx_columns_shared_from = [&](int64_t i) {
              const auto v = vector_at(sx_0 + i);
              const auto v_2 = vector_at(sx_p1 + i);
              return 0.125f * vector_at(sx_m1 + i) + 0.25f * v + 0.125f * v_2;
            };
            const auto gy_columns_shared_from = [&](int64_t i) {
              const auto v_3 = vector_at(sy_0 + i);
              const auto v_4 = vector_at(sy_p1 + i);
              return 0.125f * vector_at(sy_m1 + i) + 0.25f * v_3 + 0.125f * v_4;
            };
            const auto gxy_columns_shared_from = [&](int64_t i) {
              const auto v_5 = vector_at(sxy_0 + i);
              const auto v_6 = vector_at(sxy_p1 + i);
              return 0.125f * vector_at(sxy_m1 + i) + 0.25f * v_5 + 0.125f * v_6;
            };
            const auto gx_columns_shared_p1_from = [&](int64_t i) {
              const auto v = vector_at(sx_0 + i);
              const auto v_2 = vector_at(sx_p1 + i);
              return 0.125f * v + 0.25f * v_2 + 0.125f * vector_at(sx_p2 + i);
            };
            const auto gy_columns_shared_p1_from = [&](int64_t i) {
              const auto v_3 = vector_at(sy_0 + i);
              const auto v_4 = vector_at(sy_p1 + i);
              return 0.125f * v_3 + 0.25f * v_4 + 0.125f * vector_at(sy_p2 + i);
            };
            const auto gxy_columns_shared_p1_from = [&](int64_t i) {
              const auto v_5 = vector_at(sxy_0 + i);
              const auto v_6 = vector_at(sxy_p1 + i);
              return 0.125f * v_5 + 0.25f * v_6 + 0.125f * vector_at(sxy_p2 + i);
            };
            int64_t i = 0;
            row_vector<float> gx_columns_shared_before = vector_that_ends_with<float>({0.125f * sx_m1[-1]
                + 0.25f * sx_0[-1] + 0.125f * sx_p1[-1]});
            row_vector<float> gx_columns_shared_here = gx_columns_shared_from(i);
            const row_vector<float> gx_columns_shared_beyond = vector_that_begins_with<float>({0.125f
                * sx_m1[right - left] + 0.25f * sx_0[right - left] + 0.125f * sx_p1[right - left]});
            row_vector<float> gy_columns_shared_before = vector_that_ends_with<float>({0.125f * sy_m1[-1]
                + 0.25f * sy_0[-1] + 0.125f * sy_p1[-1]});
            row_vector<float> gy_columns_shared_here = gy_columns_shared_from(i);
            const row_vector<float> gy_columns_shared_beyond = vector_that_begins_with<float>({0.125f
                * sy_m1[right - left] + 0.25f * sy_0[right - left] + 0.125f * sy_p1[right - left]});
            row_vector<float> gxy_columns_shared_before = vector_that_ends_with<float>({0.125f * sxy_m1[-1]
                + 0.25f * sxy_0[-1] + 0.125f * sxy_p1[-1]});
            row_vector<float> gxy_columns_shared_here = gxy_columns_shared_from(i);
            const row_vector<float> gxy_columns_shared_beyond = vector_that_begins_with<float>({0.125f
                * sxy_m1[right - left] + 0.25f * sxy_0[right - left] + 0.125f * sxy_p1[right - left]});
            row_vector<float> gx_columns_shared_p1_before = vector_that_ends_with<float>({0.125f * sx_0[-1]
                + 0.25f * sx_p1[-1] + 0.125f * sx_p2[-1]});
            row_vector<float> gx_columns_shared_p1_here = gx_columns_shared_p1_from(i);
            const row_vector<float> gx_columns_shared_p1_beyond = vector_that_begins_with<float>({0.125f
                * sx_0[right - left] + 0.25f * sx_p1[right - left] + 0.125f * sx_p2[right - left]});
            row_vector<float> gy_columns_shared_p1_before = vector_that_ends_with<float>({0.125f * sy_0[-1]
                + 0.25f * sy_p1[-1] + 0.125f * sy_p2[-1]});
            row_vector<float> gy_columns_shared_p1_here = gy_columns_shared_p1_from(i);
            const row_vector<float> gy_columns_shared_p1_beyond = vector_that_begins_with<float>({0.125f
                * sy_0[right - left] + 0.25f * sy_p1[right - left] + 0.125f * sy_p2[right - left]});
            row_vector<float> gxy_columns_shared_p1_before = vector_that_ends_with<float>({0.125f * sxy_0[-1]
                + 0.25f * sxy_p1[-1] + 0.125f * sxy_p2[-1]});
            row_vector<float> gxy_columns_shared_p1_here = gxy_columns_shared_p1_from(i);
            const row_vector<float> gxy_columns_shared_p1_beyond = vector_that_begins_with<float>({0.125f
                * sxy_0[right - left] + 0.25f * sxy_p1[right - left] + 0.125f * sxy_p2[right - left]});
            const auto next_vector = [&](const row_vector<float>& gx_columns_shared_after,
                const row_vector<float>& gy_columns_shared_after,
                const row_vector<float>& gxy_columns_shared_after,
                const row_vector<float>& gx_columns_shared_p1_after,
                const row_vector<float>& gy_columns_shared_p1_after,
                const row_vector<float>& gxy_columns_shared_p1_after) {
              const auto gx = 0.5f * shifted<1>(gx_columns_shared_before, gx_columns_shared_here)
                  + gx_columns_shared_here + 0.5f
                  * shifted<15>(gx_columns_shared_here, gx_columns_shared_after);
              const auto gy = 0.5f * shifted<1>(gy_columns_shared_before, gy_columns_shared_here)
                  + gy_columns_shared_here + 0.5f
                  * shifted<15>(gy_columns_shared_here, gy_columns_shared_after);
              const auto gxy = 0.5f * shifted<1>(gxy_columns_shared_before, gxy_columns_shared_here)
                  + gxy_columns_shared_here + 0.5f
                  * shifted<15>(gxy_columns_shared_here, gxy_columns_shared_after);
              store_vector(hc_row + i, gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy));
              const auto gx_2 = 0.5f * shifted<1>(gx_columns_shared_p1_before, gx_columns_shared_p1_here)
                  + gx_columns_shared_p1_here + 0.5f
                  * shifted<15>(gx_columns_shared_p1_here, gx_columns_shared_p1_after);
              const auto gy_2 = 0.5f * shifted<1>(gy_columns_shared_p1_before, gy_columns_shared_p1_here)
                  + gy_columns_shared_p1_here + 0.5f
                  * shifted<15>(gy_columns_shared_p1_here, gy_columns_shared_p1_after);
              const auto gxy_2 = 0.5f * shifted<1>(gxy_columns_shared_p1_before, gxy_columns_shared_p1_here)
                  + gxy_columns_shared_p1_here + 0.5f
                  * shifted<15>(gxy_columns_shared_p1_here, gxy_columns_shared_p1_after);
              store_vector(hc_row_p1 + i, gx_2 * gy_2 - gxy_2 * gxy_2 - k * (gx_2 + gy_2) * (gx_2 + gy_2));
              gx_columns_shared_before = gx_columns_shared_here;
              gx_columns_shared_here = gx_columns_shared_after;
              gy_columns_shared_before = gy_columns_shared_here;
              gy_columns_shared_here = gy_columns_shared_after;
              gxy_columns_shared_before = gxy_columns_shared_here;
              gxy_columns_shared_here = gxy_columns_shared_after;
              gx_columns_shared_p1_before = gx_columns_shared_p1_here;
              gx_columns_shared_p1_here = gx_columns_shared_p1_after;
              gy_columns_shared_p1_before = gy_columns_shared_p1_here;
              gy_columns_shared_p1_here = gy_columns_shared_p1_after;
              gxy_columns_shared_p1_before = gxy_columns_shared_p1_here;
              gxy_columns_shared_p1_here = gxy_columns_shared_p1_after;
            };
            for (; i + 32 <= right - left; i += 16) next_vector(gx_columns_shared_from(i + 16),
                gy_columns_shared_from(i + 16), gxy_columns_shared_from(i + 16),
                gx_columns_shared_p1_from(i + 16), gy_columns_shared_p1_from(i + 16),
                gxy_columns_shared_p1_from(i + 16));
            if (const int64_t left_over = right - left - 16 - i; left_over > 0) {
              const row_vector<float> gx_columns_shared_last = gx_columns_shared_from(right - left
                  - 16);  // it overlaps the one here
              const row_vector<float> gy_columns_shared_last = gy_columns_shared_from(right - left
                  - 16);  // it overlaps the one here
              const row_vector<float> gxy_columns_shared_last = gxy_columns_shared_from(right - left
                  - 16);  // it overlaps the one here
              const row_vector<float> gx_columns_shared_p1_last = gx_columns_shared_p1_from(right - left
                  - 16);  // it overlaps the one here
              const row_vector<float> gy_columns_shared_p1_last = gy_columns_shared_p1_from(right - left
                  - 16);  // it overlaps the one here
              const row_vector<float> gxy_columns_shared_p1_last = gxy_columns_shared_p1_from(right - left
                  - 16);  // it overlaps the one here
              next_vector(gx_columns_shared_last, gy_columns_shared_last, gxy_columns_shared_last,
                  gx_columns_shared_p1_last, gy_columns_shared_p1_last, gxy_columns_shared_p1_last);
              i = right - left - 16;
              gx_columns_shared_before = gx_columns_shared_from(i - 16);
              gx_columns_shared_here = gx_columns_shared_last;
              gy_columns_shared_before = gy_columns_shared_from(i - 16);
              gy_columns_shared_here = gy_columns_shared_last;
              gxy_columns_shared_before = gxy_columns_shared_from(i - 16);
              gxy_columns_shared_here = gxy_columns_shared_last;
              gx_columns_shared_p1_before = gx_columns_shared_p1_from(i - 16);
              gx_columns_shared_p1_here = gx_columns_shared_p1_last;
              gy_columns_shared_p1_before = gy_columns_shared_p1_from(i - 16);
              gy_columns_shared_p1_here = gy_columns_shared_p1_last;
              gxy_columns_shared_p1_before = gxy_columns_shared_p1_from(i - 16);
              gxy_columns_shared_p1_here = gxy_columns_shared_p1_last;
            }
            next_vector(gx_columns_shared_beyond, gy_columns_shared_beyond, gxy_columns_shared_beyond,
                gx_columns_shared_p1_beyond, gy_columns_shared_p1_beyond, gxy_columns_shared_p1_beyond);
          }
          if (past_caches_) {
            store_past_caches(hc + y * hc_pitch + left, hc_line, (right - left) * 4);
            store_past_caches(hc + (y + 1) * hc_pitch + left, hc_line_p1, (right - left) * 4);
          }
        } else
#endif
        {
          const int64_t left = x0;
          const int64_t right = x1;
          float* hc_row = past_caches_ ? hc_line : hc + y * hc_pitch + left;
          WEFT_OPAQUE(hc_row)
          float* hc_row_p1 = past_caches_ ? hc_line_p1 : hc + (y + 1) * hc_pitch + left;
          WEFT_OPAQUE(hc_row_p1)
          const float* gx_columns_0 = gx_columns_rows + (y & 1) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(gx_columns_0)
          const float* gy_columns_0 = gy_columns_rows + (y & 1) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(gy_columns_0)
          const float* gxy_columns_0 = gxy_columns_rows + (y & 1) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(gxy_columns_0)
          const float* gx_columns_p1 = gx_columns_rows + ((y + 1) & 1) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(gx_columns_p1)
          const float* gy_columns_p1 = gy_columns_rows + ((y + 1) & 1) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(gy_columns_p1)
          const float* gxy_columns_p1 = gxy_columns_rows + ((y + 1) & 1) * 336 + (left - x0) + 1;
          WEFT_OPAQUE(gxy_columns_p1)
          {
            int64_t i = 0;
#if defined(__AVX512F__)
            if (i + in_vector<float> <= right - left) for (;;) {
              row_vector<float> gx_columns_0_before = vector_before<1>(gx_columns_0 + i);
              row_vector<float> gy_columns_0_before = vector_before<1>(gy_columns_0 + i);
              row_vector<float> gxy_columns_0_before = vector_before<1>(gxy_columns_0 + i);
              row_vector<float> gx_columns_p1_before = vector_before<1>(gx_columns_p1 + i);
              row_vector<float> gy_columns_p1_before = vector_before<1>(gy_columns_p1 + i);
              row_vector<float> gxy_columns_p1_before = vector_before<1>(gxy_columns_p1 + i);
              for (; i + in_vector<float> <= right - left; i += in_vector<float>) {
                const row_vector<float> gx_columns_0_here = vector_at(gx_columns_0 + i);
                const row_vector<float> gy_columns_0_here = vector_at(gy_columns_0 + i);
                const row_vector<float> gxy_columns_0_here = vector_at(gxy_columns_0 + i);
                const row_vector<float> gx_columns_p1_here = vector_at(gx_columns_p1 + i);
                const row_vector<float> gy_columns_p1_here = vector_at(gy_columns_p1 + i);
                const row_vector<float> gxy_columns_p1_here = vector_at(gxy_columns_p1 + i);
                const auto gx = 0.5f * shifted<1>(gx_columns_0_before, gx_columns_0_here) + gx_columns_0_here
                    + 0.5f * vector_at(gx_columns_0 + i + 1);
                const auto gy = 0.5f * shifted<1>(gy_columns_0_before, gy_columns_0_here) + gy_columns_0_here
                    + 0.5f * vector_at(gy_columns_0 + i + 1);
                const auto gxy = 0.5f * shifted<1>(gxy_columns_0_before, gxy_columns_0_here)
                    + gxy_columns_0_here + 0.5f * vector_at(gxy_columns_0 + i + 1);
                store_vector(hc_row + i, gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy));
                const auto gx_2 = 0.5f * shifted<1>(gx_columns_p1_before, gx_columns_p1_here)
                    + gx_columns_p1_here + 0.5f * vector_at(gx_columns_p1 + i + 1);
                const auto gy_2 = 0.5f * shifted<1>(gy_columns_p1_before, gy_columns_p1_here)
                    + gy_columns_p1_here + 0.5f * vector_at(gy_columns_p1 + i + 1);
                const auto gxy_2 = 0.5f * shifted<1>(gxy_columns_p1_before, gxy_columns_p1_here)
                    + gxy_columns_p1_here + 0.5f * vector_at(gxy_columns_p1 + i + 1);
                store_vector(hc_row_p1 + i, gx_2 * gy_2 - gxy_2 * gxy_2 - k * (gx_2 + gy_2) * (gx_2 + gy_2));
                gx_columns_0_before = gx_columns_0_here;
                gy_columns_0_before = gy_columns_0_here;
                gxy_columns_0_before = gxy_columns_0_here;
                gx_columns_p1_before = gx_columns_p1_here;
                gy_columns_p1_before = gy_columns_p1_here;
                gxy_columns_p1_before = gxy_columns_p1_here;
              }
              if (right - left - i < few<float>) break;
              i = right - left - in_vector<float>;  // the last vector overlaps the one before
            }
#endif
            WEFT_INDEPENDENT
            for (; i < right - left; ++i) {
              const float gx = 0.5f * gx_columns_0[i - 1] + gx_columns_0[i] + 0.5f * gx_columns_0[i + 1];
              const float gy = 0.5f * gy_columns_0[i - 1] + gy_columns_0[i] + 0.5f * gy_columns_0[i + 1];
              const float gxy = 0.5f * gxy_columns_0[i - 1] + gxy_columns_0[i] + 0.5f * gxy_columns_0[i + 1];
              hc_row[i] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
              const float gx_2 = 0.5f * gx_columns_p1[i - 1] + gx_columns_p1[i] + 0.5f * gx_columns_p1[i + 1];
              const float gy_2 = 0.5f * gy_columns_p1[i - 1] + gy_columns_p1[i] + 0.5f * gy_columns_p1[i + 1];
              const float gxy_2 = 0.5f * gxy_columns_p1[i - 1] + gxy_columns_p1[i]
                  + 0.5f * gxy_columns_p1[i + 1];
              hc_row_p1[i] = gx_2 * gy_2 - gxy_2 * gxy_2 - k * (gx_2 + gy_2) * (gx_2 + gy_2);
            }
          }
          if (past_caches_) {
            store_past_caches(hc + y * hc_pitch + left, hc_line, (right - left) * 4);
            store_past_caches(hc + (y + 1) * hc_pitch + left, hc_line_p1, (right - left) * 4);
          }
        }
      } else {
        for (int64_t y = max_i64(batch, y0); y < min_i64(batch + 2, y1); ++y) {
          const int64_t left = x0;
          const int64_t right = x1;
          float* hc_row = past_caches_ ? hc_line : hc + y * hc_pitch + left;
          const float* gx_columns_0 = gx_columns_rows + (y & 1) * 336 + (left - x0) + 1;
          const float* gy_columns_0 = gy_columns_rows + (y & 1) * 336 + (left - x0) + 1;
          const float* gxy_columns_0 = gxy_columns_rows + (y & 1) * 336 + (left - x0) + 1;
          {
            int64_t i = 0;
#if defined(__AVX512F__)
            if (i + in_vector<float> <= right - left) for (;;) {
              row_vector<float> gx_columns_0_before = vector_before<1>(gx_columns_0 + i);
              row_vector<float> gy_columns_0_before = vector_before<1>(gy_columns_0 + i);
              row_vector<float> gxy_columns_0_before = vector_before<1>(gxy_columns_0 + i);
              for (; i + in_vector<float> <= right - left; i += in_vector<float>) {
                const row_vector<float> gx_columns_0_here = vector_at(gx_columns_0 + i);
                const row_vector<float> gy_columns_0_here = vector_at(gy_columns_0 + i);
                const row_vector<float> gxy_columns_0_here = vector_at(gxy_columns_0 + i);
                const auto gx = 0.5f * shifted<1>(gx_columns_0_before, gx_columns_0_here) + gx_columns_0_here
                    + 0.5f * vector_at(gx_columns_0 + i + 1);
                const auto gy = 0.5f * shifted<1>(gy_columns_0_before, gy_columns_0_here) + gy_columns_0_here
                    + 0.5f * vector_at(gy_columns_0 + i + 1);
                const auto gxy = 0.5f * shifted<1>(gxy_columns_0_before, gxy_columns_0_here)
                    + gxy_columns_0_here + 0.5f * vector_at(gxy_columns_0 + i + 1);
                store_vector(hc_row + i, gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy));
                gx_columns_0_before = gx_columns_0_here;
                gy_columns_0_before = gy_columns_0_here;
                gxy_columns_0_before = gxy_columns_0_here;
              }
              if (right - left - i < few<float>) break;
              i = right - left - in_vector<float>;  // the last vector overlaps the one before
            }
#endif
            WEFT_INDEPENDENT
            for (; i < right - left; ++i) {
              const float gx = 0.5f * gx_columns_0[i - 1] + gx_columns_0[i] + 0.5f * gx_columns_0[i + 1];
              const float gy = 0.5f * gy_columns_0[i - 1] + gy_columns_0[i] + 0.5f * gy_columns_0[i + 1];
              const float gxy = 0.5f * gxy_columns_0[i - 1] + gxy_columns_0[i] + 0.5f * gxy_columns_0[i + 1];
              hc_row[i] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
            }
          }
          if (past_caches_) {
            store_past_caches(hc + y * hc_pitch + left, hc_line, (right - left) * 4);
          }
        }
      }
    }
  }
}

}  // namespace

int run_harris(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k, float* hc,
    int64_t hc_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  harris_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.hc = hc;
  frame.hc_pitch = hc_pitch;
  frame.in_w = in_w;
  frame.in_h = in_h;
  frame.k = k;

  host->parallel_for(host->context, div_i64(in_h
      + min_i64(max_i64(in_h * ((in_w + 319) / 320) / 64 & -16, 16), 256) - 1,
      min_i64(max_i64(in_h * ((in_w + 319) / 320) / 64 & -16, 16), 256)) * ((in_w + 319) / 320),
      [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    hc_strips(*static_cast<const harris_frame*>(data), first, last);
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace harris
