// Pipeline 'median', emitted by Weft. How it runs:
//   median  stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "median.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that stay without vectors are right, too
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("GCC ivdep")  // the iterations of the loop below are independent
#pragma GCC optimize("no-tree-sink")  // or what only one side of a select needs becomes a branch again
#elif defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT
#endif
#define WEFT_SCALAR __asm__ volatile("");  // keeps the loop that it is in from being vectorised
#define WEFT_NOINLINE __attribute__((noinline))

namespace median {

// i itself inside [0, n), else the nearest index.
static inline int64_t clamp_index(int64_t i, int64_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
// The element of rank n / 2, by insertion; reorders the values.
static inline uint8_t median_u8(uint8_t* values, int n) {
  for (int i = 1; i < n; ++i) {
    const uint8_t value = values[i];
    int j = i;
    for (; j > 0 && value < values[j - 1]; --j) values[j] = values[j - 1];
    values[j] = value;
  }
  return values[n / 2];
}
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
template <class T>
static inline void order_pair(T& a, T& b) {
  const T low = b < a ? b : a, high = a < b ? b : a;
  a = low;
  b = high;
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

void host_parallel_for(void*, int64_t count, void (*body)(const void*, int64_t, int64_t), const void* frame) {
  const int64_t cores = std::thread::hardware_concurrency(), threads = count < cores ? count : cores;
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) {
    others.emplace_back(body, frame, count * t / threads, count * (t + 1) / threads);
  }
  body(frame, 0, threads > 1 ? count / threads : count);
  for (std::thread& other : others) other.join();
}

const weft_host standard_host = {nullptr, host_allocate, host_release, host_parallel_for};

// What every kernel reads: images, their pitches in scalars, sizes and parameters.
struct median_frame {
  const uint8_t* in;
  uint8_t* median;
  int64_t in_w, in_h;
  int64_t in_pitch, median_pitch_;
};

// One pixel of median, borders resolved.
WEFT_NOINLINE void median_pixel_(const median_frame& frame, int64_t x, int64_t y) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict median = frame.median;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t median_pitch_ = frame.median_pitch_;
  alignas(64) uint8_t window[25];
  for (int64_t ty = -2; ty < 3; ty += 1) {
    WEFT_SCALAR
    for (int64_t tx = -2; tx < 3; tx += 1) {
      WEFT_SCALAR
      const int64_t x_in = clamp_index(x + tx, in_w);
      const int64_t y_in = clamp_index(y + ty, in_h);
      window[(ty + 2) * 5 + tx + 2] = in[y_in * in_pitch + x_in];
    }
  }
  const uint8_t median_2 = median_u8(window, 25);
  median[y * median_pitch_ + x] = median_2;
}

// Rows [first, last) of 'median' from 'in'.
void median_rows_(const median_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict median = frame.median;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t median_pitch_ = frame.median_pitch_;
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(2, in_w);
    const int64_t right = max_i64(left, in_w - 2);
    uint8_t* median_row_ = median + y * median_pitch_;
    const uint8_t* in_m2 = in + clamp_index(y - 2, in_h) * in_pitch;
    const uint8_t* in_m1 = in + clamp_index(y - 1, in_h) * in_pitch;
    const uint8_t* in_0 = in + y * in_pitch;
    const uint8_t* in_p1 = in + clamp_index(y + 1, in_h) * in_pitch;
    const uint8_t* in_p2 = in + clamp_index(y + 2, in_h) * in_pitch;
    for (int64_t x = 0; x < left; ++x) {
      median_pixel_(frame, x, y);
    }
    WEFT_INDEPENDENT
    for (int64_t x = left; x < right; ++x) {
      alignas(64) uint8_t window[25];
      window[0] = in_m2[x - 2];
      window[1] = in_m2[x - 1];
      window[2] = in_m2[x];
      window[3] = in_m2[x + 1];
      window[4] = in_m2[x + 2];
      window[5] = in_m1[x - 2];
      window[6] = in_m1[x - 1];
      window[7] = in_m1[x];
      window[8] = in_m1[x + 1];
      window[9] = in_m1[x + 2];
      window[10] = in_0[x - 2];
      window[11] = in_0[x - 1];
      window[12] = in_0[x];
      window[13] = in_0[x + 1];
      window[14] = in_0[x + 2];
      window[15] = in_p1[x - 2];
      window[16] = in_p1[x - 1];
      window[17] = in_p1[x];
      window[18] = in_p1[x + 1];
      window[19] = in_p1[x + 2];
      window[20] = in_p2[x - 2];
      window[21] = in_p2[x - 1];
      window[22] = in_p2[x];
      window[23] = in_p2[x + 1];
      window[24] = in_p2[x + 2];
      order_pair(window[0], window[16]);
      order_pair(window[1], window[17]);
      order_pair(window[2], window[18]);
      order_pair(window[3], window[19]);
      order_pair(window[4], window[20]);
      order_pair(window[5], window[21]);
      order_pair(window[6], window[22]);
      order_pair(window[7], window[23]);
      order_pair(window[8], window[24]);
      order_pair(window[0], window[8]);
      order_pair(window[1], window[9]);
      order_pair(window[2], window[10]);
      order_pair(window[3], window[11]);
      order_pair(window[4], window[12]);
      order_pair(window[5], window[13]);
      order_pair(window[6], window[14]);
      order_pair(window[7], window[15]);
      order_pair(window[16], window[24]);
      order_pair(window[8], window[16]);
      order_pair(window[9], window[17]);
      order_pair(window[10], window[18]);
      order_pair(window[11], window[19]);
      order_pair(window[12], window[20]);
      order_pair(window[13], window[21]);
      order_pair(window[14], window[22]);
      order_pair(window[15], window[23]);
      order_pair(window[0], window[4]);
      order_pair(window[1], window[5]);
      order_pair(window[2], window[6]);
      order_pair(window[3], window[7]);
      order_pair(window[8], window[12]);
      order_pair(window[9], window[13]);
      order_pair(window[10], window[14]);
      order_pair(window[11], window[15]);
      order_pair(window[16], window[20]);
      order_pair(window[17], window[21]);
      order_pair(window[18], window[22]);
      order_pair(window[19], window[23]);
      order_pair(window[4], window[16]);
      order_pair(window[5], window[17]);
      order_pair(window[6], window[18]);
      order_pair(window[7], window[19]);
      order_pair(window[12], window[24]);
      order_pair(window[4], window[8]);
      order_pair(window[5], window[9]);
      order_pair(window[6], window[10]);
      order_pair(window[7], window[11]);
      order_pair(window[12], window[16]);
      order_pair(window[13], window[17]);
      order_pair(window[14], window[18]);
      order_pair(window[15], window[19]);
      order_pair(window[20], window[24]);
      order_pair(window[0], window[2]);
      order_pair(window[1], window[3]);
      order_pair(window[4], window[6]);
      order_pair(window[5], window[7]);
      order_pair(window[8], window[10]);
      order_pair(window[9], window[11]);
      order_pair(window[12], window[14]);
      order_pair(window[13], window[15]);
      order_pair(window[16], window[18]);
      order_pair(window[17], window[19]);
      order_pair(window[20], window[22]);
      order_pair(window[21], window[23]);
      order_pair(window[2], window[16]);
      order_pair(window[3], window[17]);
      order_pair(window[6], window[20]);
      order_pair(window[7], window[21]);
      order_pair(window[10], window[24]);
      order_pair(window[2], window[8]);
      order_pair(window[3], window[9]);
      order_pair(window[6], window[12]);
      order_pair(window[7], window[13]);
      order_pair(window[10], window[16]);
      order_pair(window[11], window[17]);
      order_pair(window[14], window[20]);
      order_pair(window[15], window[21]);
      order_pair(window[18], window[24]);
      order_pair(window[2], window[4]);
      order_pair(window[3], window[5]);
      order_pair(window[6], window[8]);
      order_pair(window[7], window[9]);
      order_pair(window[10], window[12]);
      order_pair(window[11], window[13]);
      order_pair(window[14], window[16]);
      order_pair(window[15], window[17]);
      order_pair(window[18], window[20]);
      order_pair(window[19], window[21]);
      order_pair(window[22], window[24]);
      order_pair(window[0], window[1]);
      order_pair(window[2], window[3]);
      order_pair(window[4], window[5]);
      order_pair(window[6], window[7]);
      order_pair(window[8], window[9]);
      order_pair(window[10], window[11]);
      order_pair(window[12], window[13]);
      order_pair(window[14], window[15]);
      order_pair(window[16], window[17]);
      order_pair(window[18], window[19]);
      order_pair(window[20], window[21]);
      order_pair(window[22], window[23]);
      order_pair(window[1], window[16]);
      order_pair(window[3], window[18]);
      order_pair(window[5], window[20]);
      order_pair(window[7], window[22]);
      order_pair(window[9], window[24]);
      order_pair(window[5], window[12]);
      order_pair(window[7], window[14]);
      order_pair(window[9], window[16]);
      order_pair(window[11], window[18]);
      order_pair(window[9], window[12]);
      order_pair(window[11], window[14]);
      order_pair(window[11], window[12]);
      const uint8_t median_2 = window[12];
      median_row_[x] = median_2;
    }
    for (int64_t x = right; x < in_w; ++x) {
      median_pixel_(frame, x, y);
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

  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    median_rows_(*static_cast<const median_frame*>(data), first, last);
  }, &frame);
  return 0;
}

}  // namespace median
