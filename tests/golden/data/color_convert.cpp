// Pipeline 'color_convert', emitted by Weft. How it runs:
//   grey  stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "color_convert.h"

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

namespace color_convert {

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
static inline uint8_t saturate_u8_f32(float v) {
  v = v > 0.0f ? v : 0.0f;
  v = v < 255.0f ? v : 255.0f;
  // 1.5 * 2^23 leaves no bits for a fraction: the addition rounds half to even, into the last bits.
  union { float f; uint32_t u; } sum = {v + 12582912.0f};
  return (uint8_t)sum.u;
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
struct color_convert_frame {
  const uint8_t* in;
  uint8_t* grey;
  int64_t in_w, in_h;
  int64_t in_pitch, grey_pitch;
};

// Rows [first, last) of 'grey' from 'in'.
void grey_rows(const color_convert_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict grey = frame.grey;
  const int64_t in_w = frame.in_w;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t grey_pitch = frame.grey_pitch;
  for (int64_t y = first; y < last; ++y) {
    uint8_t* grey_row = grey + y * grey_pitch;
    const uint8_t* in_0 = in + y * in_pitch;
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < in_w; ++x) {
      const uint8_t v0 = in_0[x * 4];
      const uint8_t v1 = in_0[x * 4 + 1];
      const uint8_t v2 = in_0[x * 4 + 2];
      grey_row[x] = saturate_u8_f32(0.3f * v0 + 0.59f * v1 + 0.11f * v2);
    }
  }
}

}  // namespace

int run_color_convert(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* grey,
    int64_t grey_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  color_convert_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.grey = grey;
  frame.grey_pitch = grey_pitch;
  frame.in_w = in_w;
  frame.in_h = in_h;

  in_portions(host, in_h, in_w * 55, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    grey_rows(*static_cast<const color_convert_frame*>(data), first, last);
  }, &frame);
  return 0;
}

}  // namespace color_convert
