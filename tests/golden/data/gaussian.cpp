// Pipeline 'gaussian', emitted by Weft. How it runs:
//   gaussian  stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "gaussian.h"

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

namespace gaussian {

// i itself inside [0, n), else the nearest index.
static inline int64_t clamp_index(int64_t i, int64_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
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
#if defined(__AVX512BW__)
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
struct gaussian_frame {
  const uint8_t* in;
  uint8_t* gaussian;
  int64_t in_w, in_h;
  int64_t in_pitch, gaussian_pitch;
};

// One pixel of gaussian, borders resolved.
WEFT_NOINLINE void gaussian_pixel(const gaussian_frame& frame, int64_t x, int64_t y) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict gaussian = frame.gaussian;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t gaussian_pitch = frame.gaussian_pitch;
  const int64_t x_m1 = clamp_index(x - 1, in_w);
  const int64_t y_m1 = clamp_index(y - 1, in_h);
  const int64_t x_p1 = clamp_index(x + 1, in_w);
  const int64_t y_p1 = clamp_index(y + 1, in_h);
  const int32_t v = in[y_m1 * in_pitch + x_m1] + 2 * in[y_m1 * in_pitch + x] + in[y_m1 * in_pitch + x_p1]
      + 2 * in[y * in_pitch + x_m1] + 4 * in[y * in_pitch + x] + 2 * in[y * in_pitch + x_p1]
      + in[y_p1 * in_pitch + x_m1] + 2 * in[y_p1 * in_pitch + x] + in[y_p1 * in_pitch + x_p1];
  gaussian[y * gaussian_pitch + x] = (uint8_t)((v + 7 + ((v >> 4) & 1)) >> 4);
}

// Rows [first, last) of 'gaussian' from 'in'. In vectors.
#if defined(__AVX512BW__)
WEFT_NOINLINE void gaussian_rows_in_vectors(const gaussian_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict gaussian = frame.gaussian;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t gaussian_pitch = frame.gaussian_pitch;
  for (int64_t y = first; y < last; ++y) {
    uint8_t* gaussian_row = gaussian + y * gaussian_pitch;
    const uint8_t* in_m1 = in + clamp_index(y - 1, in_h) * in_pitch;
    const uint8_t* in_0 = in + y * in_pitch;
    const uint8_t* in_p1 = in + clamp_index(y + 1, in_h) * in_pitch;
    {
      const auto column_from = [&](int64_t i) {
        return converted<int16_t>(vector_at<32>(in_m1 + i)) + 2 * converted<int16_t>(vector_at<32>(in_0 + i))
            + converted<int16_t>(vector_at<32>(in_p1 + i));
      };
      int64_t i = 0;
      row_vector<int16_t> column_before = vector_that_ends_with<int16_t>({(int16_t)(in_m1[0] + 2 * in_0[0]
          + in_p1[0])});
      row_vector<int16_t> column_here = column_from(i);
      const row_vector<int16_t> column_beyond = vector_that_begins_with<int16_t>({(int16_t)(in_m1[in_w - 1]
          + 2 * in_0[in_w - 1] + in_p1[in_w - 1])});
      const auto next_vector = [&](const row_vector<int16_t>& column_after) {
        const auto v = shifted<1>(column_before, column_here) + 2 * column_here
            + shifted<31>(column_here, column_after);
        store_vector(gaussian_row + i, converted<uint8_t>((v + 7 + ((v >> 4) & 1)) >> 4));
        column_before = column_here;
        column_here = column_after;
      };
      for (; i + 64 <= in_w; i += 32) next_vector(column_from(i + 32));
      if (const int64_t left_over = in_w - 32 - i; left_over > 0) {
        const row_vector<int16_t> column_last = column_from(in_w - 32);  // it overlaps the one here
        next_vector(column_last);
        i = in_w - 32;
        column_before = column_from(i - 32);
        column_here = column_last;
      }
      next_vector(column_beyond);
    }
  }
}
#endif

// Rows [first, last) of 'gaussian' from 'in'.
void gaussian_rows(const gaussian_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict gaussian = frame.gaussian;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t gaussian_pitch = frame.gaussian_pitch;
#if defined(__AVX512BW__)
  if (in_w >= 64) return gaussian_rows_in_vectors(frame, first, last);
#endif
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(1, in_w);
    const int64_t right = max_i64(left, in_w - 1);
    uint8_t* gaussian_row = gaussian + y * gaussian_pitch;
    for (int64_t x = 0; x < left; ++x) {
      gaussian_pixel(frame, x, y);
    }
    for (int64_t x0 = left; x0 < right; x0 += 1024) {
      const int64_t count = min_i64(1024, right - x0);
      const uint8_t* in_m1 = in + clamp_index(y - 1, in_h) * in_pitch;
      const uint8_t* in_0 = in + y * in_pitch;
      const uint8_t* in_p1 = in + clamp_index(y + 1, in_h) * in_pitch;
      alignas(64) int16_t column[1026];
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count + 2; ++i) {
        column[i] = (int16_t)(in_m1[x0 + i - 1] + 2 * in_0[x0 + i - 1] + in_p1[x0 + i - 1]);
      }
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        const int16_t v = (int16_t)(column[i] + 2 * column[i + 1] + column[i + 2]);
        gaussian_row[x0 + i] = (uint8_t)((int16_t)(v + 7 + ((v >> 4) & 1)) >> 4);
      }
    }
    for (int64_t x = right; x < in_w; ++x) {
      gaussian_pixel(frame, x, y);
    }
  }
}

}  // namespace

int run_gaussian(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* gaussian,
    int64_t gaussian_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  gaussian_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.gaussian = gaussian;
  frame.gaussian_pitch = gaussian_pitch;
  frame.in_w = in_w;
  frame.in_h = in_h;

  in_portions(host, in_h, in_w * 274, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    gaussian_rows(*static_cast<const gaussian_frame*>(data), first, last);
  }, &frame);
  return 0;
}

}  // namespace gaussian
