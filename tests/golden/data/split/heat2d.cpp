// Pipeline 'heat2d', emitted by Weft. How it runs:
//   heat2d  stored: it is an output; a step takes least if one kernel takes 32 in split tiles (by the model, 1: 4.78 ms, 4 split: 2.85, 8 split: 2.39, 16 split: 2.24, 32 split: 2.15)
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "heat2d.h"

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

namespace heat2d {

template <class T>
static inline void exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}
#ifndef WEFT_LEAST_PORTION
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
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
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
struct heat2d_frame {
  const float* in;
  float* heat2d;
  float* heat2d_1;
  int64_t in_w, in_h;
  int64_t in_pitch, heat2d_pitch, heat2d_1_pitch;
  int32_t steps;
  int32_t step;
};

// 'heat2d' before the first step: 'in'.
void heat2d_start(const heat2d_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict heat2d = frame.heat2d;
  float* __restrict heat2d_1 = frame.heat2d_1;
  const int64_t in_w = frame.in_w;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t heat2d_pitch = frame.heat2d_pitch;
  const int64_t heat2d_1_pitch = frame.heat2d_1_pitch;
  for (int64_t row = first; row < last; ++row) {
    const float* in_row = in + row * in_pitch;
    float* heat2d_row = heat2d + row * heat2d_pitch;
    float* heat2d_1_row = heat2d_1 + row * heat2d_1_pitch;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < in_w; ++i) {
      heat2d_row[i] = in_row[i];
      heat2d_1_row[i] = in_row[i];
    }
  }
}

// Up to 32 steps of 'heat2d' from the step `step` on, in the tiles that are upright.
void heat2d_split(const heat2d_frame& frame, int64_t first, int64_t last) {
  float* __restrict heat2d = frame.heat2d;
  float* __restrict heat2d_1 = frame.heat2d_1;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t heat2d_pitch = frame.heat2d_pitch;
  const int64_t heat2d_1_pitch = frame.heat2d_1_pitch;
  const int32_t steps = frame.steps;
  const int32_t step = frame.step;
  const int64_t y_tiles = max_i64((in_h + 154) / 124, 0);
  const int64_t taken = min_i64(32, (int64_t)steps / 2 * 2 - step);
  for (int64_t tile = first; tile < last; ++tile) {
    const int64_t y_tile = rem_i64(tile, y_tiles);
    const int64_t y_begin = y_tile * 124;
    const int64_t y_begin_lean = -1;
    const int64_t y_end = y_tile * 124 + 62;
    const int64_t y_end_lean = 1;
    for (int64_t done = 0; done < taken; done += 2) {
      {
        {
          const int64_t levels = taken - done - 1;
          for (int64_t y = max_i64(y_begin + y_begin_lean * levels, 1); y
              < min_i64(y_end + y_end_lean * levels, in_h - 1); ++y) {
            float* heat2d_1_row = heat2d_1 + y * heat2d_1_pitch;
            const float* heat2d_p1 = heat2d + (y + 1) * heat2d_pitch;
            const float* heat2d_0 = heat2d + y * heat2d_pitch;
            const float* heat2d_m1 = heat2d + (y - 1) * heat2d_pitch;
            {
              int64_t x = 1;
#if defined(__AVX512F__)
              if (x + in_vector<float> <= in_w - 1) for (;;) {
                row_vector<float> heat2d_0_before = vector_before<1>(heat2d_0 + x);
                for (; x + in_vector<float> <= in_w - 1; x += in_vector<float>) {
                  const row_vector<float> heat2d_0_here = vector_at(heat2d_0 + x);
                  store_vector(heat2d_1_row + x, 0.125f
                      * (vector_at(heat2d_p1 + x) - 2.0f * heat2d_0_here + vector_at(heat2d_m1 + x))
                      + 0.125f * (vector_at(heat2d_0 + x + 1) - 2.0f * heat2d_0_here
                      + shifted<1>(heat2d_0_before, heat2d_0_here)) + heat2d_0_here);
                  heat2d_0_before = heat2d_0_here;
                }
                if (in_w - 1 - x < few<float>) break;
                x = in_w - 1 - in_vector<float>;  // the last vector overlaps the one before
              }
#endif
              WEFT_INDEPENDENT
              for (; x < in_w - 1; ++x) {
                heat2d_1_row[x] = 0.125f * (heat2d_p1[x] - 2.0f * heat2d_0[x] + heat2d_m1[x])
                    + 0.125f * (heat2d_0[x + 1] - 2.0f * heat2d_0[x] + heat2d_0[x - 1]) + heat2d_0[x];
              }
            }
          }
        }
      }
      {
        {
          const int64_t levels = taken - done - 2;
          for (int64_t y = max_i64(y_begin + y_begin_lean * levels, 1); y
              < min_i64(y_end + y_end_lean * levels, in_h - 1); ++y) {
            float* heat2d_row = heat2d + y * heat2d_pitch;
            const float* heat2d_1_p1 = heat2d_1 + (y + 1) * heat2d_1_pitch;
            const float* heat2d_1_0 = heat2d_1 + y * heat2d_1_pitch;
            const float* heat2d_1_m1 = heat2d_1 + (y - 1) * heat2d_1_pitch;
            {
              int64_t x = 1;
#if defined(__AVX512F__)
              if (x + in_vector<float> <= in_w - 1) for (;;) {
                row_vector<float> heat2d_1_0_before = vector_before<1>(heat2d_1_0 + x);
                for (; x + in_vector<float> <= in_w - 1; x += in_vector<float>) {
                  const row_vector<float> heat2d_1_0_here = vector_at(heat2d_1_0 + x);
                  store_vector(heat2d_row + x, 0.125f
                      * (vector_at(heat2d_1_p1 + x) - 2.0f * heat2d_1_0_here + vector_at(heat2d_1_m1 + x))
                      + 0.125f * (vector_at(heat2d_1_0 + x + 1) - 2.0f * heat2d_1_0_here
                      + shifted<1>(heat2d_1_0_before, heat2d_1_0_here)) + heat2d_1_0_here);
                  heat2d_1_0_before = heat2d_1_0_here;
                }
                if (in_w - 1 - x < few<float>) break;
                x = in_w - 1 - in_vector<float>;  // the last vector overlaps the one before
              }
#endif
              WEFT_INDEPENDENT
              for (; x < in_w - 1; ++x) {
                heat2d_row[x] = 0.125f * (heat2d_1_p1[x] - 2.0f * heat2d_1_0[x] + heat2d_1_m1[x])
                    + 0.125f * (heat2d_1_0[x + 1] - 2.0f * heat2d_1_0[x] + heat2d_1_0[x - 1]) + heat2d_1_0[x];
              }
            }
          }
        }
      }
    }
  }
}

// Up to 32 steps of 'heat2d' from the step `step` on, in the tiles that are inverted along y.
void heat2d_split_2(const heat2d_frame& frame, int64_t first, int64_t last) {
  float* __restrict heat2d = frame.heat2d;
  float* __restrict heat2d_1 = frame.heat2d_1;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t heat2d_pitch = frame.heat2d_pitch;
  const int64_t heat2d_1_pitch = frame.heat2d_1_pitch;
  const int32_t steps = frame.steps;
  const int32_t step = frame.step;
  const int64_t y_tiles = max_i64((in_h + 154) / 124, 0);
  const int64_t taken = min_i64(32, (int64_t)steps / 2 * 2 - step);
  for (int64_t tile = first; tile < last; ++tile) {
    const int64_t y_tile = rem_i64(tile, y_tiles);
    const int64_t y_begin = y_tile * 124 + 62;
    const int64_t y_begin_lean = 1;
    const int64_t y_end = y_tile * 124 + 124;
    const int64_t y_end_lean = -1;
    for (int64_t done = 0; done < taken; done += 2) {
      {
        {
          const int64_t levels = taken - done - 1;
          for (int64_t y = max_i64(y_begin + y_begin_lean * levels, 1); y
              < min_i64(y_end + y_end_lean * levels, in_h - 1); ++y) {
            float* heat2d_1_row = heat2d_1 + y * heat2d_1_pitch;
            const float* heat2d_p1 = heat2d + (y + 1) * heat2d_pitch;
            const float* heat2d_0 = heat2d + y * heat2d_pitch;
            const float* heat2d_m1 = heat2d + (y - 1) * heat2d_pitch;
            {
              int64_t x = 1;
#if defined(__AVX512F__)
              if (x + in_vector<float> <= in_w - 1) for (;;) {
                row_vector<float> heat2d_0_before = vector_before<1>(heat2d_0 + x);
                for (; x + in_vector<float> <= in_w - 1; x += in_vector<float>) {
                  const row_vector<float> heat2d_0_here = vector_at(heat2d_0 + x);
                  store_vector(heat2d_1_row + x, 0.125f
                      * (vector_at(heat2d_p1 + x) - 2.0f * heat2d_0_here + vector_at(heat2d_m1 + x))
                      + 0.125f * (vector_at(heat2d_0 + x + 1) - 2.0f * heat2d_0_here
                      + shifted<1>(heat2d_0_before, heat2d_0_here)) + heat2d_0_here);
                  heat2d_0_before = heat2d_0_here;
                }
                if (in_w - 1 - x < few<float>) break;
                x = in_w - 1 - in_vector<float>;  // the last vector overlaps the one before
              }
#endif
              WEFT_INDEPENDENT
              for (; x < in_w - 1; ++x) {
                heat2d_1_row[x] = 0.125f * (heat2d_p1[x] - 2.0f * heat2d_0[x] + heat2d_m1[x])
                    + 0.125f * (heat2d_0[x + 1] - 2.0f * heat2d_0[x] + heat2d_0[x - 1]) + heat2d_0[x];
              }
            }
          }
        }
      }
      {
        {
          const int64_t levels = taken - done - 2;
          for (int64_t y = max_i64(y_begin + y_begin_lean * levels, 1); y
              < min_i64(y_end + y_end_lean * levels, in_h - 1); ++y) {
            float* heat2d_row = heat2d + y * heat2d_pitch;
            const float* heat2d_1_p1 = heat2d_1 + (y + 1) * heat2d_1_pitch;
            const float* heat2d_1_0 = heat2d_1 + y * heat2d_1_pitch;
            const float* heat2d_1_m1 = heat2d_1 + (y - 1) * heat2d_1_pitch;
            {
              int64_t x = 1;
#if defined(__AVX512F__)
              if (x + in_vector<float> <= in_w - 1) for (;;) {
                row_vector<float> heat2d_1_0_before = vector_before<1>(heat2d_1_0 + x);
                for (; x + in_vector<float> <= in_w - 1; x += in_vector<float>) {
                  const row_vector<float> heat2d_1_0_here = vector_at(heat2d_1_0 + x);
                  store_vector(heat2d_row + x, 0.125f
                      * (vector_at(heat2d_1_p1 + x) - 2.0f * heat2d_1_0_here + vector_at(heat2d_1_m1 + x))
                      + 0.125f * (vector_at(heat2d_1_0 + x + 1) - 2.0f * heat2d_1_0_here
                      + shifted<1>(heat2d_1_0_before, heat2d_1_0_here)) + heat2d_1_0_here);
                  heat2d_1_0_before = heat2d_1_0_here;
                }
                if (in_w - 1 - x < few<float>) break;
                x = in_w - 1 - in_vector<float>;  // the last vector overlaps the one before
              }
#endif
              WEFT_INDEPENDENT
              for (; x < in_w - 1; ++x) {
                heat2d_row[x] = 0.125f * (heat2d_1_p1[x] - 2.0f * heat2d_1_0[x] + heat2d_1_m1[x])
                    + 0.125f * (heat2d_1_0[x + 1] - 2.0f * heat2d_1_0[x] + heat2d_1_0[x - 1]) + heat2d_1_0[x];
              }
            }
          }
        }
      }
    }
  }
}

// Rows [first, last) of 'heat2d' from 'u'.
void heat2d_rows(const heat2d_frame& frame, int64_t first, int64_t last) {
  float* __restrict heat2d = frame.heat2d;
  const float* __restrict heat2d_1 = frame.heat2d_1;
  const int64_t in_w = frame.in_w;
  const int64_t heat2d_pitch = frame.heat2d_pitch;
  const int64_t heat2d_1_pitch = frame.heat2d_1_pitch;
  for (int64_t row = first; row < last; ++row) {
    const int64_t y = row + 1;
    float* heat2d_row = heat2d + y * heat2d_pitch;
    const float* heat2d_1_p1 = heat2d_1 + (y + 1) * heat2d_1_pitch;
    const float* heat2d_1_0 = heat2d_1 + y * heat2d_1_pitch;
    const float* heat2d_1_m1 = heat2d_1 + (y - 1) * heat2d_1_pitch;
    {
      int64_t x = 1;
#if defined(__AVX512F__)
      if (x + in_vector<float> <= in_w - 1) for (;;) {
        row_vector<float> heat2d_1_0_before = vector_before<1>(heat2d_1_0 + x);
        for (; x + in_vector<float> <= in_w - 1; x += in_vector<float>) {
          const row_vector<float> heat2d_1_0_here = vector_at(heat2d_1_0 + x);
          store_vector(heat2d_row + x, 0.125f
              * (vector_at(heat2d_1_p1 + x) - 2.0f * heat2d_1_0_here + vector_at(heat2d_1_m1 + x))
              + 0.125f * (vector_at(heat2d_1_0 + x + 1) - 2.0f * heat2d_1_0_here
              + shifted<1>(heat2d_1_0_before, heat2d_1_0_here)) + heat2d_1_0_here);
          heat2d_1_0_before = heat2d_1_0_here;
        }
        if (in_w - 1 - x < few<float>) break;
        x = in_w - 1 - in_vector<float>;  // the last vector overlaps the one before
      }
#endif
      WEFT_INDEPENDENT
      for (; x < in_w - 1; ++x) {
        heat2d_row[x] = 0.125f * (heat2d_1_p1[x] - 2.0f * heat2d_1_0[x] + heat2d_1_m1[x])
            + 0.125f * (heat2d_1_0[x + 1] - 2.0f * heat2d_1_0[x] + heat2d_1_0[x - 1]) + heat2d_1_0[x];
      }
    }
  }
}

}  // namespace

int run_heat2d(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, int32_t steps, float* heat2d,
    int64_t heat2d_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  heat2d_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.heat2d = heat2d;
  frame.heat2d_pitch = heat2d_pitch;
  frame.heat2d_1 = nullptr;
  frame.heat2d_1_pitch = (in_w + 31) / 16 * 16;
  frame.in_w = in_w;
  frame.in_h = in_h;
  frame.steps = steps;

  frame.heat2d_1 = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.heat2d_1_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.heat2d_1) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    heat2d_start(*static_cast<const heat2d_frame*>(data), first, last);
  }, &frame);

  for (int64_t turn = 0 < max_i64(steps - (int64_t)steps / 2 * 2, 0)
      ? (2 - max_i64(steps - (int64_t)steps / 2 * 2, 0) % 2) % 2 : 0; turn > 0; --turn) {
    exchange(frame.heat2d_1, frame.heat2d);
    exchange(frame.heat2d_1_pitch, frame.heat2d_pitch);
  }
  for (frame.step = 0; frame.step < ((int64_t)steps / 2 * 2 + 31) / 32 * 32; frame.step += 32) {
    host->parallel_for(host->context, max_i64((in_h + 154) / 124, 0),
        [](const void* data, int64_t first, int64_t last) {
      const flush_subnormals mode;
      heat2d_split(*static_cast<const heat2d_frame*>(data), first, last);
    }, &frame);
    host->parallel_for(host->context, max_i64((in_h + 154) / 124, 0),
        [](const void* data, int64_t first, int64_t last) {
      const flush_subnormals mode;
      heat2d_split_2(*static_cast<const heat2d_frame*>(data), first, last);
    }, &frame);
  }
  for (frame.step = (int32_t)((int64_t)steps / 2 * 2); (int64_t)frame.step < (int64_t)steps; ++frame.step) {
    exchange(frame.heat2d_1, frame.heat2d);
    exchange(frame.heat2d_1_pitch, frame.heat2d_pitch);
    in_portions(host, in_h - 2, (in_w - 2) * 164, [](const void* data, int64_t first, int64_t last) {
      const flush_subnormals mode;
      heat2d_rows(*static_cast<const heat2d_frame*>(data), first, last);
    }, &frame);
  }
  host->release(host->context, frame.heat2d_1);
  frame.heat2d_1 = nullptr;
  return 0;

out_of_memory:
  if (frame.heat2d_1) host->release(host->context, frame.heat2d_1);
  return 1;
}

}  // namespace heat2d
