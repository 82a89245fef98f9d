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
// Orders what was stored past the caches before all that follows, such as that the work is done.
static inline void settle_stores() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
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

// Rows [first, last) of 'gaussian' from 'in'.
void gaussian_rows(const gaussian_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict gaussian = frame.gaussian;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t gaussian_pitch = frame.gaussian_pitch;
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
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace gaussian
