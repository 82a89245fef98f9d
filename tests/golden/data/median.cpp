// Pipeline 'median', emitted by Weft. How it runs:
//   median  stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "median.h"

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

namespace median {

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
template <class T>
static inline void order_pair(T& a, T& b) {
  const T low = b < a ? b : a, high = a < b ? b : a;
  a = low;
  b = high;
}
// Asks memory for what is read soon, as far as the second level of caches: the first has no room to wait in.
static inline void prefetch(const void* from, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(static_cast<const char*>(from) + b, 0, 2);
}
// x % 0 is 0.
static inline int64_t rem_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
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
struct median_frame {
  const uint8_t* in;
  uint8_t* median;
  int64_t in_w, in_h;
  int64_t in_pitch, median_pitch_;
};

// A network of exchanges that bring the median to one place, which the caller knows.
template <class T>
static inline __attribute__((always_inline)) void order_window(T* v) {
  order_pair(v[0], v[5]); order_pair(v[15], v[20]); order_pair(v[10], v[15]); order_pair(v[20], v[15]);
  order_pair(v[0], v[10]); order_pair(v[15], v[10]); order_pair(v[5], v[20]); order_pair(v[5], v[15]);
  order_pair(v[20], v[10]); order_pair(v[1], v[6]); order_pair(v[16], v[21]); order_pair(v[11], v[16]);
  order_pair(v[21], v[16]); order_pair(v[1], v[11]); order_pair(v[16], v[11]); order_pair(v[6], v[21]);
  order_pair(v[6], v[16]); order_pair(v[21], v[11]); order_pair(v[2], v[7]); order_pair(v[17], v[22]);
  order_pair(v[12], v[17]); order_pair(v[22], v[17]); order_pair(v[2], v[12]); order_pair(v[17], v[12]);
  order_pair(v[7], v[22]); order_pair(v[7], v[17]); order_pair(v[22], v[12]); order_pair(v[3], v[8]);
  order_pair(v[18], v[23]); order_pair(v[13], v[18]); order_pair(v[23], v[18]); order_pair(v[3], v[13]);
  order_pair(v[18], v[13]); order_pair(v[8], v[23]); order_pair(v[8], v[18]); order_pair(v[23], v[13]);
  order_pair(v[4], v[9]); order_pair(v[19], v[24]); order_pair(v[14], v[19]); order_pair(v[24], v[19]);
  order_pair(v[4], v[14]); order_pair(v[19], v[14]); order_pair(v[9], v[24]); order_pair(v[9], v[19]);
  order_pair(v[24], v[14]); order_pair(v[1], v[2]); order_pair(v[11], v[12]); order_pair(v[11], v[2]);
  order_pair(v[16], v[17]); order_pair(v[16], v[11]); order_pair(v[17], v[2]); order_pair(v[6], v[7]);
  order_pair(v[21], v[22]); order_pair(v[21], v[7]); order_pair(v[6], v[16]); order_pair(v[21], v[11]);
  order_pair(v[7], v[17]); order_pair(v[22], v[2]); order_pair(v[3], v[4]); order_pair(v[13], v[14]);
  order_pair(v[13], v[4]); order_pair(v[18], v[19]); order_pair(v[18], v[13]); order_pair(v[19], v[4]);
  order_pair(v[8], v[9]); order_pair(v[23], v[24]); order_pair(v[23], v[9]); order_pair(v[8], v[18]);
  order_pair(v[23], v[13]); order_pair(v[9], v[19]); order_pair(v[24], v[4]); order_pair(v[1], v[3]);
  order_pair(v[2], v[4]); order_pair(v[2], v[3]); order_pair(v[11], v[13]); order_pair(v[11], v[2]);
  order_pair(v[13], v[3]); order_pair(v[16], v[18]); order_pair(v[17], v[19]); order_pair(v[17], v[18]);
  order_pair(v[17], v[2]); order_pair(v[18], v[13]); order_pair(v[6], v[8]); order_pair(v[12], v[14]);
  order_pair(v[12], v[8]); order_pair(v[7], v[9]); order_pair(v[7], v[12]); order_pair(v[9], v[8]);
  order_pair(v[21], v[23]); order_pair(v[22], v[24]); order_pair(v[22], v[23]); order_pair(v[22], v[12]);
  order_pair(v[23], v[9]); order_pair(v[22], v[2]); order_pair(v[12], v[18]); order_pair(v[23], v[13]);
  order_pair(v[0], v[23]); order_pair(v[5], v[18]); order_pair(v[15], v[12]); order_pair(v[20], v[2]);
  order_pair(v[10], v[22]); order_pair(v[13], v[23]); order_pair(v[18], v[12]); order_pair(v[2], v[22]);
  order_pair(v[13], v[18]); order_pair(v[13], v[2]);
}

// A network of exchanges that bring the median to one place, which the caller knows.
template <class T>
static inline __attribute__((always_inline)) void order_window_2(T* v) {
  order_pair(v[0], v[1]); order_pair(v[3], v[4]); order_pair(v[2], v[3]); order_pair(v[4], v[3]);
  order_pair(v[0], v[2]); order_pair(v[3], v[2]); order_pair(v[1], v[4]); order_pair(v[1], v[3]);
  order_pair(v[4], v[2]); order_pair(v[5], v[6]); order_pair(v[8], v[9]); order_pair(v[7], v[8]);
  order_pair(v[9], v[8]); order_pair(v[5], v[7]); order_pair(v[8], v[7]); order_pair(v[6], v[9]);
  order_pair(v[6], v[8]); order_pair(v[9], v[7]); order_pair(v[10], v[11]); order_pair(v[13], v[14]);
  order_pair(v[12], v[13]); order_pair(v[14], v[13]); order_pair(v[10], v[12]); order_pair(v[13], v[12]);
  order_pair(v[11], v[14]); order_pair(v[11], v[13]); order_pair(v[14], v[12]); order_pair(v[15], v[16]);
  order_pair(v[18], v[19]); order_pair(v[17], v[18]); order_pair(v[19], v[18]); order_pair(v[15], v[17]);
  order_pair(v[18], v[17]); order_pair(v[16], v[19]); order_pair(v[16], v[18]); order_pair(v[19], v[17]);
  order_pair(v[20], v[21]); order_pair(v[23], v[24]); order_pair(v[22], v[23]); order_pair(v[24], v[23]);
  order_pair(v[20], v[22]); order_pair(v[23], v[22]); order_pair(v[21], v[24]); order_pair(v[21], v[23]);
  order_pair(v[24], v[22]); order_pair(v[5], v[10]); order_pair(v[7], v[12]); order_pair(v[7], v[10]);
  order_pair(v[8], v[13]); order_pair(v[8], v[7]); order_pair(v[13], v[10]); order_pair(v[6], v[11]);
  order_pair(v[9], v[14]); order_pair(v[9], v[11]); order_pair(v[6], v[8]); order_pair(v[9], v[7]);
  order_pair(v[11], v[13]); order_pair(v[14], v[10]); order_pair(v[15], v[20]); order_pair(v[17], v[22]);
  order_pair(v[17], v[20]); order_pair(v[18], v[23]); order_pair(v[18], v[17]); order_pair(v[23], v[20]);
  order_pair(v[16], v[21]); order_pair(v[19], v[24]); order_pair(v[19], v[21]); order_pair(v[16], v[18]);
  order_pair(v[19], v[17]); order_pair(v[21], v[23]); order_pair(v[24], v[20]); order_pair(v[5], v[15]);
  order_pair(v[10], v[20]); order_pair(v[10], v[15]); order_pair(v[7], v[17]); order_pair(v[7], v[10]);
  order_pair(v[17], v[15]); order_pair(v[8], v[18]); order_pair(v[13], v[23]); order_pair(v[13], v[18]);
  order_pair(v[13], v[10]); order_pair(v[18], v[17]); order_pair(v[6], v[16]); order_pair(v[12], v[22]);
  order_pair(v[12], v[16]); order_pair(v[11], v[21]); order_pair(v[11], v[12]); order_pair(v[21], v[16]);
  order_pair(v[9], v[19]); order_pair(v[14], v[24]); order_pair(v[14], v[19]); order_pair(v[14], v[12]);
  order_pair(v[19], v[21]); order_pair(v[14], v[10]); order_pair(v[12], v[18]); order_pair(v[19], v[17]);
  order_pair(v[0], v[19]); order_pair(v[1], v[18]); order_pair(v[3], v[12]); order_pair(v[4], v[10]);
  order_pair(v[2], v[14]); order_pair(v[17], v[19]); order_pair(v[18], v[12]); order_pair(v[10], v[14]);
  order_pair(v[17], v[18]); order_pair(v[17], v[10]);
}

// A network of exchanges that bring the median to one place, which the caller knows.
template <class T>
static inline __attribute__((always_inline)) void order_window_3(T* v) {
  order_pair(v[0], v[1]); order_pair(v[3], v[4]); order_pair(v[2], v[3]); order_pair(v[4], v[3]);
  order_pair(v[0], v[2]); order_pair(v[3], v[2]); order_pair(v[1], v[4]); order_pair(v[1], v[3]);
  order_pair(v[4], v[2]); order_pair(v[5], v[6]); order_pair(v[8], v[9]); order_pair(v[7], v[8]);
  order_pair(v[9], v[8]); order_pair(v[5], v[7]); order_pair(v[8], v[7]); order_pair(v[6], v[9]);
  order_pair(v[6], v[8]); order_pair(v[9], v[7]); order_pair(v[10], v[11]); order_pair(v[13], v[14]);
  order_pair(v[12], v[13]); order_pair(v[14], v[13]); order_pair(v[10], v[12]); order_pair(v[13], v[12]);
  order_pair(v[11], v[14]); order_pair(v[11], v[13]); order_pair(v[14], v[12]); order_pair(v[15], v[16]);
  order_pair(v[18], v[19]); order_pair(v[17], v[18]); order_pair(v[19], v[18]); order_pair(v[15], v[17]);
  order_pair(v[18], v[17]); order_pair(v[16], v[19]); order_pair(v[16], v[18]); order_pair(v[19], v[17]);
  order_pair(v[20], v[21]); order_pair(v[23], v[24]); order_pair(v[22], v[23]); order_pair(v[24], v[23]);
  order_pair(v[20], v[22]); order_pair(v[23], v[22]); order_pair(v[21], v[24]); order_pair(v[21], v[23]);
  order_pair(v[24], v[22]); order_pair(v[0], v[5]); order_pair(v[2], v[7]); order_pair(v[2], v[5]);
  order_pair(v[3], v[8]); order_pair(v[3], v[2]); order_pair(v[8], v[5]); order_pair(v[1], v[6]);
  order_pair(v[4], v[9]); order_pair(v[4], v[6]); order_pair(v[1], v[3]); order_pair(v[4], v[2]);
  order_pair(v[6], v[8]); order_pair(v[9], v[5]); order_pair(v[10], v[15]); order_pair(v[12], v[17]);
  order_pair(v[12], v[15]); order_pair(v[13], v[18]); order_pair(v[13], v[12]); order_pair(v[18], v[15]);
  order_pair(v[11], v[16]); order_pair(v[14], v[19]); order_pair(v[14], v[16]); order_pair(v[11], v[13]);
  order_pair(v[14], v[12]); order_pair(v[16], v[18]); order_pair(v[19], v[15]); order_pair(v[0], v[10]);
  order_pair(v[5], v[15]); order_pair(v[5], v[10]); order_pair(v[2], v[12]); order_pair(v[2], v[5]);
  order_pair(v[12], v[10]); order_pair(v[3], v[13]); order_pair(v[8], v[18]); order_pair(v[8], v[13]);
  order_pair(v[8], v[5]); order_pair(v[13], v[12]); order_pair(v[1], v[11]); order_pair(v[7], v[17]);
  order_pair(v[7], v[11]); order_pair(v[6], v[16]); order_pair(v[6], v[7]); order_pair(v[16], v[11]);
  order_pair(v[4], v[14]); order_pair(v[9], v[19]); order_pair(v[9], v[14]); order_pair(v[9], v[7]);
  order_pair(v[14], v[16]); order_pair(v[9], v[5]); order_pair(v[7], v[13]); order_pair(v[14], v[12]);
  order_pair(v[20], v[14]); order_pair(v[21], v[13]); order_pair(v[23], v[7]); order_pair(v[24], v[5]);
  order_pair(v[22], v[9]); order_pair(v[12], v[14]); order_pair(v[13], v[7]); order_pair(v[5], v[9]);
  order_pair(v[12], v[13]); order_pair(v[12], v[5]);
}

// Strips [first, last) of 'median', each 2048 columns that are computed 4 rows at a time.
// Rows of 'in' are read where they lie, but for strips at the ends of the image.
void median_strips_(const median_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict median = frame.median;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t median_pitch_ = frame.median_pitch_;
  alignas(64) uint8_t in_rows[16416];
  alignas(64) uint8_t median_line_[2048];
  alignas(64) uint8_t median_line_p1_[2048];
  alignas(64) uint8_t median_line_p2_[2048];
  alignas(64) uint8_t median_line_p3_[2048];
  const bool past_caches_ = exceeds_caches(median_pitch_ * in_h);
  const int64_t columns = (in_w + 2047) / 2048;
  const int64_t rows = min_i64(max_i64(in_h * columns / 64 & -16, 16), 256);
  for (int64_t strip = first; strip < last; ++strip) {
    const int64_t x0 = rem_i64(strip, columns) * 2048;
    const int64_t x1 = min_i64(x0 + 2048, in_w);
    const int64_t y0 = div_i64(strip, columns) * rows;
    const int64_t y1 = min_i64(y0 + rows, in_h);
    const bool copied = x0 - 2 < 0 || in_w < x1 + 2;
    const int64_t inner_left = x0 - 2 < 0 ? x0 + 64 : x0 - 2;
    const int64_t inner_right = in_w < x1 + 2 ? max_i64(inner_left, (x1 - 64) & -16) : x1 + 2;
    for (int64_t batch = y0 - 4; batch < y1; batch += 4) {
      for (int64_t row = batch + 2; row < min_i64(batch + 6, y1 + 2); ++row) {
        const int64_t left = max_i64(x0 - 2, 0);
        const int64_t right = min_i64(x1 + 2, in_w);
        if (copied) {
          uint8_t* in_row = in_rows + (row & 7) * 2052;
          const uint8_t* in_row_2 = in + clamp_index(row, in_h) * in_pitch;
          const int64_t left_end = min_i64(right, max_i64(left, inner_left + 2));
          const int64_t right_begin = min_i64(right, max_i64(left_end, inner_right - 2));
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < left_end - left; ++i) {
            in_row[i + (left - x0) + 2] = in_row_2[i + left];
          }
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < right - right_begin; ++i) {
            in_row[i + (right_begin - x0) + 2] = in_row_2[i + right_begin];
          }
          for (int64_t x = max_i64(x0 - 2, -2); x < left; ++x) {
            in_row[x - x0 + 2] = in_row_2[clamp_index(x, in_w)];
          }
          for (int64_t x = right; x < min_i64(x1 + 2, in_w + 2); ++x) {
            in_row[x - x0 + 2] = in_row_2[clamp_index(x, in_w)];
          }
        }
      }
      if (y0 <= batch && batch + 4 <= y1) {
        const int64_t y = batch;
        const int64_t row_left = x0;
        const int64_t row_right = x1;
        const int64_t first_end = max_i64(row_left, min_i64(inner_left, row_right));
        const int64_t last_begin = max_i64(row_left, min_i64(inner_right, row_right));
        for (int64_t part = 0; part < 3; ++part) {
          const int64_t left = part == 0 ? row_left : part == 1 ? first_end : last_begin;
          const int64_t right = part == 0 ? first_end : part == 1 ? last_begin : row_right;
          const bool at_edge = part != 1;
          if (left < right) {
            const uint8_t* in_from = at_edge ? in_rows : in + x0 - 2;
            const int64_t in_step = at_edge ? 2052 : in_pitch;
            const int64_t in_mask = at_edge ? 7 : -1;
            uint8_t* median_row_ = past_caches_ ? median_line_ : median + y * median_pitch_ + left;
            WEFT_OPAQUE(median_row_)
            uint8_t* median_row_p1_ = past_caches_ ? median_line_p1_ : median + (y + 1) * median_pitch_
                + left;
            WEFT_OPAQUE(median_row_p1_)
            uint8_t* median_row_p2_ = past_caches_ ? median_line_p2_ : median + (y + 2) * median_pitch_
                + left;
            WEFT_OPAQUE(median_row_p2_)
            uint8_t* median_row_p3_ = past_caches_ ? median_line_p3_ : median + (y + 3) * median_pitch_
                + left;
            WEFT_OPAQUE(median_row_p3_)
            const uint8_t* in_m2 = in_from + ((at_edge ? y - 2 : clamp_index(y - 2, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_m2)
            const uint8_t* in_m1 = in_from + ((at_edge ? y - 1 : clamp_index(y - 1, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_m1)
            const uint8_t* in_0 = in_from + ((at_edge ? y : clamp_index(y, in_h)) & in_mask) * in_step
                + (left - x0) + 2;
            WEFT_OPAQUE(in_0)
            const uint8_t* in_p1 = in_from + ((at_edge ? y + 1 : clamp_index(y + 1, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_p1)
            const uint8_t* in_p2 = in_from + ((at_edge ? y + 2 : clamp_index(y + 2, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_p2)
            const uint8_t* in_p3 = in_from + ((at_edge ? y + 3 : clamp_index(y + 3, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_p3)
            const uint8_t* in_p4 = in_from + ((at_edge ? y + 4 : clamp_index(y + 4, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_p4)
            const uint8_t* in_p5 = in_from + ((at_edge ? y + 5 : clamp_index(y + 5, in_h)) & in_mask)
                * in_step + (left - x0) + 2;
            WEFT_OPAQUE(in_p5)
            for (int64_t portion = 0; portion < right - left; portion += 256) {
              prefetch(in + clamp_index(y + 6, in_h) * in_pitch + max_i64(left - 2, 0) + portion, 256);
              prefetch(in + clamp_index(y + 7, in_h) * in_pitch + max_i64(left - 2, 0) + portion, 256);
              prefetch(in + clamp_index(y + 8, in_h) * in_pitch + max_i64(left - 2, 0) + portion, 256);
              prefetch(in + clamp_index(y + 9, in_h) * in_pitch + max_i64(left - 2, 0) + portion, 256);
              WEFT_INDEPENDENT
              for (int64_t i = portion; i < min_i64(portion + 256, right - left); ++i) {
                alignas(64) uint8_t window[25];
                window[0] = in_m2[i - 2];
                window[1] = in_m2[i - 1];
                window[2] = in_m2[i];
                window[3] = in_m2[i + 1];
                window[4] = in_m2[i + 2];
                const uint8_t v = in_m1[i - 2];
                window[5] = v;
                const uint8_t v_2 = in_m1[i - 1];
                window[6] = v_2;
                const uint8_t v_3 = in_m1[i];
                window[7] = v_3;
                const uint8_t v_4 = in_m1[i + 1];
                window[8] = v_4;
                const uint8_t v_5 = in_m1[i + 2];
                window[9] = v_5;
                const uint8_t v_6 = in_0[i - 2];
                window[10] = v_6;
                const uint8_t v_7 = in_0[i - 1];
                window[11] = v_7;
                const uint8_t v_8 = in_0[i];
                window[12] = v_8;
                const uint8_t v_9 = in_0[i + 1];
                window[13] = v_9;
                const uint8_t v_10 = in_0[i + 2];
                window[14] = v_10;
                const uint8_t v_11 = in_p1[i - 2];
                window[15] = v_11;
                const uint8_t v_12 = in_p1[i - 1];
                window[16] = v_12;
                const uint8_t v_13 = in_p1[i];
                window[17] = v_13;
                const uint8_t v_14 = in_p1[i + 1];
                window[18] = v_14;
                const uint8_t v_15 = in_p1[i + 2];
                window[19] = v_15;
                const uint8_t v_16 = in_p2[i - 2];
                window[20] = v_16;
                const uint8_t v_17 = in_p2[i - 1];
                window[21] = v_17;
                const uint8_t v_18 = in_p2[i];
                window[22] = v_18;
                const uint8_t v_19 = in_p2[i + 1];
                window[23] = v_19;
                const uint8_t v_20 = in_p2[i + 2];
                window[24] = v_20;
                order_window_2(window);
                const uint8_t median_2 = window[17];
                median_row_[i] = median_2;
                alignas(64) uint8_t window_2[25];
                window_2[0] = v;
                window_2[1] = v_2;
                window_2[2] = v_3;
                window_2[3] = v_4;
                window_2[4] = v_5;
                window_2[5] = v_6;
                window_2[6] = v_7;
                window_2[7] = v_8;
                window_2[8] = v_9;
                window_2[9] = v_10;
                window_2[10] = v_11;
                window_2[11] = v_12;
                window_2[12] = v_13;
                window_2[13] = v_14;
                window_2[14] = v_15;
                window_2[15] = v_16;
                window_2[16] = v_17;
                window_2[17] = v_18;
                window_2[18] = v_19;
                window_2[19] = v_20;
                const uint8_t v_21 = in_p3[i - 2];
                window_2[20] = v_21;
                const uint8_t v_22 = in_p3[i - 1];
                window_2[21] = v_22;
                const uint8_t v_23 = in_p3[i];
                window_2[22] = v_23;
                const uint8_t v_24 = in_p3[i + 1];
                window_2[23] = v_24;
                const uint8_t v_25 = in_p3[i + 2];
                window_2[24] = v_25;
                order_window_3(window_2);
                const uint8_t median_3 = window_2[12];
                median_row_p1_[i] = median_3;
                alignas(64) uint8_t window_3[25];
                window_3[0] = v_6;
                window_3[1] = v_7;
                window_3[2] = v_8;
                window_3[3] = v_9;
                window_3[4] = v_10;
                window_3[5] = v_11;
                window_3[6] = v_12;
                window_3[7] = v_13;
                window_3[8] = v_14;
                window_3[9] = v_15;
                window_3[10] = v_16;
                window_3[11] = v_17;
                window_3[12] = v_18;
                window_3[13] = v_19;
                window_3[14] = v_20;
                window_3[15] = v_21;
                window_3[16] = v_22;
                window_3[17] = v_23;
                window_3[18] = v_24;
                window_3[19] = v_25;
                const uint8_t v_26 = in_p4[i - 2];
                window_3[20] = v_26;
                const uint8_t v_27 = in_p4[i - 1];
                window_3[21] = v_27;
                const uint8_t v_28 = in_p4[i];
                window_3[22] = v_28;
                const uint8_t v_29 = in_p4[i + 1];
                window_3[23] = v_29;
                const uint8_t v_30 = in_p4[i + 2];
                window_3[24] = v_30;
                order_window_2(window_3);
                const uint8_t median_4 = window_3[17];
                median_row_p2_[i] = median_4;
                alignas(64) uint8_t window_4[25];
                window_4[0] = v_11;
                window_4[1] = v_12;
                window_4[2] = v_13;
                window_4[3] = v_14;
                window_4[4] = v_15;
                window_4[5] = v_16;
                window_4[6] = v_17;
                window_4[7] = v_18;
                window_4[8] = v_19;
                window_4[9] = v_20;
                window_4[10] = v_21;
                window_4[11] = v_22;
                window_4[12] = v_23;
                window_4[13] = v_24;
                window_4[14] = v_25;
                window_4[15] = v_26;
                window_4[16] = v_27;
                window_4[17] = v_28;
                window_4[18] = v_29;
                window_4[19] = v_30;
                window_4[20] = in_p5[i - 2];
                window_4[21] = in_p5[i - 1];
                window_4[22] = in_p5[i];
                window_4[23] = in_p5[i + 1];
                window_4[24] = in_p5[i + 2];
                order_window_3(window_4);
                const uint8_t median_5 = window_4[12];
                median_row_p3_[i] = median_5;
              }
            }
            if (past_caches_) {
              store_past_caches(median + y * median_pitch_ + left, median_line_, right - left);
              store_past_caches(median + (y + 1) * median_pitch_ + left, median_line_p1_, right - left);
              store_past_caches(median + (y + 2) * median_pitch_ + left, median_line_p2_, right - left);
              store_past_caches(median + (y + 3) * median_pitch_ + left, median_line_p3_, right - left);
            }
          }
        }
      } else {
        for (int64_t y = max_i64(batch, y0); y < min_i64(batch + 4, y1); ++y) {
          const int64_t row_left = x0;
          const int64_t row_right = x1;
          const int64_t first_end = max_i64(row_left, min_i64(inner_left, row_right));
          const int64_t last_begin = max_i64(row_left, min_i64(inner_right, row_right));
          for (int64_t part = 0; part < 3; ++part) {
            const int64_t left = part == 0 ? row_left : part == 1 ? first_end : last_begin;
            const int64_t right = part == 0 ? first_end : part == 1 ? last_begin : row_right;
            const bool at_edge = part != 1;
            if (left < right) {
              const uint8_t* in_from = at_edge ? in_rows : in + x0 - 2;
              const int64_t in_step = at_edge ? 2052 : in_pitch;
              const int64_t in_mask = at_edge ? 7 : -1;
              uint8_t* median_row_ = past_caches_ ? median_line_ : median + y * median_pitch_ + left;
              const uint8_t* in_m2 = in_from + ((at_edge ? y - 2 : clamp_index(y - 2, in_h)) & in_mask)
                  * in_step + (left - x0) + 2;
              const uint8_t* in_m1 = in_from + ((at_edge ? y - 1 : clamp_index(y - 1, in_h)) & in_mask)
                  * in_step + (left - x0) + 2;
              const uint8_t* in_0 = in_from + ((at_edge ? y : clamp_index(y, in_h)) & in_mask) * in_step
                  + (left - x0) + 2;
              const uint8_t* in_p1 = in_from + ((at_edge ? y + 1 : clamp_index(y + 1, in_h)) & in_mask)
                  * in_step + (left - x0) + 2;
              const uint8_t* in_p2 = in_from + ((at_edge ? y + 2 : clamp_index(y + 2, in_h)) & in_mask)
                  * in_step + (left - x0) + 2;
              for (int64_t portion = 0; portion < right - left; portion += 512) {
                prefetch(in + clamp_index(y + 6, in_h) * in_pitch + max_i64(left - 2, 0) + portion, 512);
                WEFT_INDEPENDENT
                for (int64_t i = portion; i < min_i64(portion + 512, right - left); ++i) {
                  alignas(64) uint8_t window[25];
                  window[0] = in_m2[i - 2];
                  window[1] = in_m2[i - 1];
                  window[2] = in_m2[i];
                  window[3] = in_m2[i + 1];
                  window[4] = in_m2[i + 2];
                  window[5] = in_m1[i - 2];
                  window[6] = in_m1[i - 1];
                  window[7] = in_m1[i];
                  window[8] = in_m1[i + 1];
                  window[9] = in_m1[i + 2];
                  window[10] = in_0[i - 2];
                  window[11] = in_0[i - 1];
                  window[12] = in_0[i];
                  window[13] = in_0[i + 1];
                  window[14] = in_0[i + 2];
                  window[15] = in_p1[i - 2];
                  window[16] = in_p1[i - 1];
                  window[17] = in_p1[i];
                  window[18] = in_p1[i + 1];
                  window[19] = in_p1[i + 2];
                  window[20] = in_p2[i - 2];
                  window[21] = in_p2[i - 1];
                  window[22] = in_p2[i];
                  window[23] = in_p2[i + 1];
                  window[24] = in_p2[i + 2];
                  order_window(window);
                  const uint8_t median_2 = window[13];
                  median_row_[i] = median_2;
                }
              }
              if (past_caches_) {
                store_past_caches(median + y * median_pitch_ + left, median_line_, right - left);
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace

int run_median(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* median,
    int64_t median_pitch_, const weft_host* host) {
  if (!host) host = &standard_host;
  median_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.median = median;
  frame.median_pitch_ = median_pitch_;
  frame.in_w = in_w;
  frame.in_h = in_h;

  host->parallel_for(host->context, div_i64(in_h
      + min_i64(max_i64(in_h * ((in_w + 2047) / 2048) / 64 & -16, 16), 256) - 1,
      min_i64(max_i64(in_h * ((in_w + 2047) / 2048) / 64 & -16, 16), 256)) * ((in_w + 2047) / 2048),
      [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    median_strips_(*static_cast<const median_frame*>(data), first, last);
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace median
