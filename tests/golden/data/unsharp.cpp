// Pipeline 'unsharp', emitted by Weft. How it runs:
//   blur_tap  stored: 'blur' reads it at other pixels than its own
//   blur      computed in sharpen: its only consumer 'sharpen' reads it at the same pixel: no store, no load
//   sharpen   computed in ratio: its only consumer 'ratio' reads it at the same pixel: no store, no load
//   ratio     computed in out: its only consumer 'out' reads it at the same pixel: no store, no load
//   out       stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math
#include "unsharp.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("GCC ivdep")  // the iterations of the loop below are independent
#elif defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT
#endif
#define WEFT_SCALAR __asm__ volatile("");  // keeps the loop that it is in from being vectorised
#define WEFT_NOINLINE __attribute__((noinline))

// i itself inside [0, n), else the nearest index.
static inline int64_t clamp_index(int64_t i, int64_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}
static inline float max_f32(float a, float b) { return a < b ? b : a; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
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
struct unsharp_frame {
  const uint8_t* in;
  uint8_t* out;
  float* blur_tap;
  int64_t in_w, in_h;
  int64_t in_pitch, out_pitch, blur_tap_pitch;
};

// Rows [first, last) of 'blur_tap' from 'in'.
void blur_tap_rows(const unsharp_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  float* __restrict blur_tap = frame.blur_tap;
  const int64_t in_w = frame.in_w;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t blur_tap_pitch = frame.blur_tap_pitch;
  for (int64_t y = first; y < last; ++y) {
    float* blur_tap_row = blur_tap + y * blur_tap_pitch;
    const uint8_t* in_0 = in + y * in_pitch;
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < in_w; ++x) {
      const uint8_t v0 = in_0[x * 3];
      const uint8_t v1 = in_0[x * 3 + 1];
      const uint8_t v2 = in_0[x * 3 + 2];
      blur_tap_row[x] = 0.299f * v0 + 0.587f * v1 + 0.114f * v2;
    }
  }
}

// One pixel of out, borders resolved.
WEFT_NOINLINE void out_pixel(const unsharp_frame& frame, int64_t x, int64_t y) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict out = frame.out;
  const float* __restrict blur_tap = frame.blur_tap;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t out_pitch = frame.out_pitch;
  const int64_t blur_tap_pitch = frame.blur_tap_pitch;
  const uint8_t v0 = in[y * in_pitch + x * 3];
  const uint8_t v1 = in[y * in_pitch + x * 3 + 1];
  const uint8_t v2 = in[y * in_pitch + x * 3 + 2];
  const int64_t x_m1 = clamp_index(x - 1, in_w);
  const int64_t y_m1 = clamp_index(y - 1, in_h);
  const int64_t x_p1 = clamp_index(x + 1, in_w);
  const int64_t y_p1 = clamp_index(y + 1, in_h);
  const float blur = 0.0625f * blur_tap[y_m1 * blur_tap_pitch + x_m1]
      + 0.125f * blur_tap[y_m1 * blur_tap_pitch + x] + 0.0625f * blur_tap[y_m1 * blur_tap_pitch + x_p1]
      + 0.125f * blur_tap[y * blur_tap_pitch + x_m1] + 0.25f * blur_tap[y * blur_tap_pitch + x]
      + 0.125f * blur_tap[y * blur_tap_pitch + x_p1] + 0.0625f * blur_tap[y_p1 * blur_tap_pitch + x_m1]
      + 0.125f * blur_tap[y_p1 * blur_tap_pitch + x] + 0.0625f * blur_tap[y_p1 * blur_tap_pitch + x_p1];
  const float sharpen = 2.0f * (0.299f * v0 + 0.587f * v1 + 0.114f * v2) - blur;
  const uint8_t v0_2 = in[y * in_pitch + x * 3];
  const uint8_t v1_2 = in[y * in_pitch + x * 3 + 1];
  const uint8_t v2_2 = in[y * in_pitch + x * 3 + 2];
  const float ratio = sharpen / max_f32(0.299f * v0_2 + 0.587f * v1_2 + 0.114f * v2_2, 0.01f);
  out[y * out_pitch + x * 3] = saturate_u8_f32(in[y * in_pitch + x * 3] * ratio);
  out[y * out_pitch + x * 3 + 1] = saturate_u8_f32(in[y * in_pitch + x * 3 + 1] * ratio);
  out[y * out_pitch + x * 3 + 2] = saturate_u8_f32(in[y * in_pitch + x * 3 + 2] * ratio);
}

// Rows [first, last) of 'out' from 'in', 'blur_tap'.
void out_rows(const unsharp_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict out = frame.out;
  const float* __restrict blur_tap = frame.blur_tap;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t out_pitch = frame.out_pitch;
  const int64_t blur_tap_pitch = frame.blur_tap_pitch;
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(1, in_w);
    const int64_t right = max_i64(left, in_w - 1);
    uint8_t* out_row = out + y * out_pitch;
    const uint8_t* in_0 = in + y * in_pitch;
    const float* blur_tap_m1 = blur_tap + clamp_index(y - 1, in_h) * blur_tap_pitch;
    const float* blur_tap_0 = blur_tap + y * blur_tap_pitch;
    const float* blur_tap_p1 = blur_tap + clamp_index(y + 1, in_h) * blur_tap_pitch;
    for (int64_t x = 0; x < left; ++x) {
      out_pixel(frame, x, y);
    }
    WEFT_INDEPENDENT
    for (int64_t x = left; x < right; ++x) {
      const uint8_t v0 = in_0[x * 3];
      const uint8_t v1 = in_0[x * 3 + 1];
      const uint8_t v2 = in_0[x * 3 + 2];
      const float blur = 0.0625f * blur_tap_m1[x - 1] + 0.125f * blur_tap_m1[x]
          + 0.0625f * blur_tap_m1[x + 1] + 0.125f * blur_tap_0[x - 1] + 0.25f * blur_tap_0[x]
          + 0.125f * blur_tap_0[x + 1] + 0.0625f * blur_tap_p1[x - 1] + 0.125f * blur_tap_p1[x]
          + 0.0625f * blur_tap_p1[x + 1];
      const float sharpen = 2.0f * (0.299f * v0 + 0.587f * v1 + 0.114f * v2) - blur;
      const uint8_t v0_2 = in_0[x * 3];
      const uint8_t v1_2 = in_0[x * 3 + 1];
      const uint8_t v2_2 = in_0[x * 3 + 2];
      const float ratio = sharpen / max_f32(0.299f * v0_2 + 0.587f * v1_2 + 0.114f * v2_2, 0.01f);
      out_row[x * 3] = saturate_u8_f32(in_0[x * 3] * ratio);
      out_row[x * 3 + 1] = saturate_u8_f32(in_0[x * 3 + 1] * ratio);
      out_row[x * 3 + 2] = saturate_u8_f32(in_0[x * 3 + 2] * ratio);
    }
    for (int64_t x = right; x < in_w; ++x) {
      out_pixel(frame, x, y);
    }
  }
}

}  // namespace

int run_unsharp(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* out,
    int64_t out_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  unsharp_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.out = out;
  frame.out_pitch = out_pitch;
  frame.blur_tap = nullptr;
  frame.blur_tap_pitch = (in_w + 31) / 16 * 16;
  frame.in_w = in_w;
  frame.in_h = in_h;

  frame.blur_tap = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.blur_tap_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.blur_tap) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    blur_tap_rows(*static_cast<const unsharp_frame*>(data), first, last);
  }, &frame);

  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    out_rows(*static_cast<const unsharp_frame*>(data), first, last);
  }, &frame);
  host->release(host->context, frame.blur_tap);
  frame.blur_tap = nullptr;
  return 0;

out_of_memory:
  if (frame.blur_tap) host->release(host->context, frame.blur_tap);
  return 1;
}
