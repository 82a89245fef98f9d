// Pipeline 'harris', emitted by Weft. How it runs:
//   dx   stored: 2 stages read it: sx, sxy
//   sx   stored: 'gx' reads it at other pixels than its own
//   gx   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   dy   stored: 2 stages read it: sy, sxy
//   sy   stored: 'gy' reads it at other pixels than its own
//   gy   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   sxy  stored: 'gxy' reads it at other pixels than its own
//   gxy  computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   hc   stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math
#include "harris.h"

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
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }

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
struct harris_frame {
  const float* in;
  float* hc;
  float* dx;
  float* sx;
  float* dy;
  float* sy;
  float* sxy;
  int64_t in_w, in_h;
  int64_t in_pitch, hc_pitch, dx_pitch, sx_pitch, dy_pitch, sy_pitch, sxy_pitch;
  float k;
};

// One pixel of dx, borders resolved.
WEFT_NOINLINE void dx_pixel(const harris_frame& frame, int64_t x, int64_t y) {
  const float* __restrict in = frame.in;
  float* __restrict dx = frame.dx;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t dx_pitch = frame.dx_pitch;
  const int64_t x_m1 = clamp_index(x - 1, in_w);
  const int64_t y_m1 = clamp_index(y - 1, in_h);
  const int64_t x_p1 = clamp_index(x + 1, in_w);
  const int64_t y_p1 = clamp_index(y + 1, in_h);
  dx[y * dx_pitch + x] = -0.16666667f * in[y_m1 * in_pitch + x_m1] + 0.16666667f * in[y_m1 * in_pitch + x_p1]
      - 0.16666667f * in[y * in_pitch + x_m1] + 0.16666667f * in[y * in_pitch + x_p1]
      - 0.16666667f * in[y_p1 * in_pitch + x_m1] + 0.16666667f * in[y_p1 * in_pitch + x_p1];
}

// Rows [first, last) of 'dx' from 'in'.
void dx_rows(const harris_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict dx = frame.dx;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t dx_pitch = frame.dx_pitch;
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(1, in_w);
    const int64_t right = max_i64(left, in_w - 1);
    float* dx_row = dx + y * dx_pitch;
    const float* in_m1 = in + clamp_index(y - 1, in_h) * in_pitch;
    const float* in_0 = in + y * in_pitch;
    const float* in_p1 = in + clamp_index(y + 1, in_h) * in_pitch;
    for (int64_t x = 0; x < left; ++x) {
      dx_pixel(frame, x, y);
    }
    WEFT_INDEPENDENT
    for (int64_t x = left; x < right; ++x) {
      dx_row[x] = -0.16666667f * in_m1[x - 1] + 0.16666667f * in_m1[x + 1] - 0.16666667f * in_0[x - 1]
          + 0.16666667f * in_0[x + 1] - 0.16666667f * in_p1[x - 1] + 0.16666667f * in_p1[x + 1];
    }
    for (int64_t x = right; x < in_w; ++x) {
      dx_pixel(frame, x, y);
    }
  }
}

// Rows [first, last) of 'sx' from 'dx'.
void sx_rows(const harris_frame& frame, int64_t first, int64_t last) {
  const float* __restrict dx = frame.dx;
  float* __restrict sx = frame.sx;
  const int64_t in_w = frame.in_w;
  const int64_t dx_pitch = frame.dx_pitch;
  const int64_t sx_pitch = frame.sx_pitch;
  for (int64_t y = first; y < last; ++y) {
    float* sx_row = sx + y * sx_pitch;
    const float* dx_0 = dx + y * dx_pitch;
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < in_w; ++x) {
      sx_row[x] = dx_0[x] * dx_0[x];
    }
  }
}

// One pixel of dy, borders resolved.
WEFT_NOINLINE void dy_pixel(const harris_frame& frame, int64_t x, int64_t y) {
  const float* __restrict in = frame.in;
  float* __restrict dy = frame.dy;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t dy_pitch = frame.dy_pitch;
  const int64_t x_m1 = clamp_index(x - 1, in_w);
  const int64_t y_m1 = clamp_index(y - 1, in_h);
  const int64_t x_p1 = clamp_index(x + 1, in_w);
  const int64_t y_p1 = clamp_index(y + 1, in_h);
  dy[y * dy_pitch + x] = -0.16666667f * in[y_m1 * in_pitch + x_m1] - 0.16666667f * in[y_m1 * in_pitch + x]
      - 0.16666667f * in[y_m1 * in_pitch + x_p1] + 0.16666667f * in[y_p1 * in_pitch + x_m1]
      + 0.16666667f * in[y_p1 * in_pitch + x] + 0.16666667f * in[y_p1 * in_pitch + x_p1];
}

// Rows [first, last) of 'dy' from 'in'.
void dy_rows(const harris_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict dy = frame.dy;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t dy_pitch = frame.dy_pitch;
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(1, in_w);
    const int64_t right = max_i64(left, in_w - 1);
    float* dy_row = dy + y * dy_pitch;
    const float* in_m1 = in + clamp_index(y - 1, in_h) * in_pitch;
    const float* in_p1 = in + clamp_index(y + 1, in_h) * in_pitch;
    for (int64_t x = 0; x < left; ++x) {
      dy_pixel(frame, x, y);
    }
    WEFT_INDEPENDENT
    for (int64_t x = left; x < right; ++x) {
      dy_row[x] = -0.16666667f * in_m1[x - 1] - 0.16666667f * in_m1[x] - 0.16666667f * in_m1[x + 1]
          + 0.16666667f * in_p1[x - 1] + 0.16666667f * in_p1[x] + 0.16666667f * in_p1[x + 1];
    }
    for (int64_t x = right; x < in_w; ++x) {
      dy_pixel(frame, x, y);
    }
  }
}

// Rows [first, last) of 'sy' from 'dy'.
void sy_rows(const harris_frame& frame, int64_t first, int64_t last) {
  const float* __restrict dy = frame.dy;
  float* __restrict sy = frame.sy;
  const int64_t in_w = frame.in_w;
  const int64_t dy_pitch = frame.dy_pitch;
  const int64_t sy_pitch = frame.sy_pitch;
  for (int64_t y = first; y < last; ++y) {
    float* sy_row = sy + y * sy_pitch;
    const float* dy_0 = dy + y * dy_pitch;
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < in_w; ++x) {
      sy_row[x] = dy_0[x] * dy_0[x];
    }
  }
}

// Rows [first, last) of 'sxy' from 'dx', 'dy'.
void sxy_rows(const harris_frame& frame, int64_t first, int64_t last) {
  const float* __restrict dx = frame.dx;
  const float* __restrict dy = frame.dy;
  float* __restrict sxy = frame.sxy;
  const int64_t in_w = frame.in_w;
  const int64_t dx_pitch = frame.dx_pitch;
  const int64_t dy_pitch = frame.dy_pitch;
  const int64_t sxy_pitch = frame.sxy_pitch;
  for (int64_t y = first; y < last; ++y) {
    float* sxy_row = sxy + y * sxy_pitch;
    const float* dx_0 = dx + y * dx_pitch;
    const float* dy_0 = dy + y * dy_pitch;
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < in_w; ++x) {
      sxy_row[x] = dx_0[x] * dy_0[x];
    }
  }
}

// One pixel of hc, borders resolved.
WEFT_NOINLINE void hc_pixel(const harris_frame& frame, int64_t x, int64_t y) {
  float* __restrict hc = frame.hc;
  const float* __restrict sx = frame.sx;
  const float* __restrict sy = frame.sy;
  const float* __restrict sxy = frame.sxy;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t hc_pitch = frame.hc_pitch;
  const int64_t sx_pitch = frame.sx_pitch;
  const int64_t sy_pitch = frame.sy_pitch;
  const int64_t sxy_pitch = frame.sxy_pitch;
  const float k = frame.k;
  const int64_t x_m1 = clamp_index(x - 1, in_w);
  const int64_t y_m1 = clamp_index(y - 1, in_h);
  const int64_t x_p1 = clamp_index(x + 1, in_w);
  const int64_t y_p1 = clamp_index(y + 1, in_h);
  const float gx = 0.0625f * sx[y_m1 * sx_pitch + x_m1] + 0.125f * sx[y_m1 * sx_pitch + x]
      + 0.0625f * sx[y_m1 * sx_pitch + x_p1] + 0.125f * sx[y * sx_pitch + x_m1]
      + 0.25f * sx[y * sx_pitch + x] + 0.125f * sx[y * sx_pitch + x_p1]
      + 0.0625f * sx[y_p1 * sx_pitch + x_m1] + 0.125f * sx[y_p1 * sx_pitch + x]
      + 0.0625f * sx[y_p1 * sx_pitch + x_p1];
  const float gy = 0.0625f * sy[y_m1 * sy_pitch + x_m1] + 0.125f * sy[y_m1 * sy_pitch + x]
      + 0.0625f * sy[y_m1 * sy_pitch + x_p1] + 0.125f * sy[y * sy_pitch + x_m1]
      + 0.25f * sy[y * sy_pitch + x] + 0.125f * sy[y * sy_pitch + x_p1]
      + 0.0625f * sy[y_p1 * sy_pitch + x_m1] + 0.125f * sy[y_p1 * sy_pitch + x]
      + 0.0625f * sy[y_p1 * sy_pitch + x_p1];
  const float gxy = 0.0625f * sxy[y_m1 * sxy_pitch + x_m1] + 0.125f * sxy[y_m1 * sxy_pitch + x]
      + 0.0625f * sxy[y_m1 * sxy_pitch + x_p1] + 0.125f * sxy[y * sxy_pitch + x_m1]
      + 0.25f * sxy[y * sxy_pitch + x] + 0.125f * sxy[y * sxy_pitch + x_p1]
      + 0.0625f * sxy[y_p1 * sxy_pitch + x_m1] + 0.125f * sxy[y_p1 * sxy_pitch + x]
      + 0.0625f * sxy[y_p1 * sxy_pitch + x_p1];
  hc[y * hc_pitch + x] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
}

// Rows [first, last) of 'hc' from 'sx', 'sy', 'sxy'.
void hc_rows(const harris_frame& frame, int64_t first, int64_t last) {
  float* __restrict hc = frame.hc;
  const float* __restrict sx = frame.sx;
  const float* __restrict sy = frame.sy;
  const float* __restrict sxy = frame.sxy;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t hc_pitch = frame.hc_pitch;
  const int64_t sx_pitch = frame.sx_pitch;
  const int64_t sy_pitch = frame.sy_pitch;
  const int64_t sxy_pitch = frame.sxy_pitch;
  const float k = frame.k;
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(1, in_w);
    const int64_t right = max_i64(left, in_w - 1);
    float* hc_row = hc + y * hc_pitch;
    const float* sx_m1 = sx + clamp_index(y - 1, in_h) * sx_pitch;
    const float* sx_0 = sx + y * sx_pitch;
    const float* sx_p1 = sx + clamp_index(y + 1, in_h) * sx_pitch;
    const float* sy_m1 = sy + clamp_index(y - 1, in_h) * sy_pitch;
    const float* sy_0 = sy + y * sy_pitch;
    const float* sy_p1 = sy + clamp_index(y + 1, in_h) * sy_pitch;
    const float* sxy_m1 = sxy + clamp_index(y - 1, in_h) * sxy_pitch;
    const float* sxy_0 = sxy + y * sxy_pitch;
    const float* sxy_p1 = sxy + clamp_index(y + 1, in_h) * sxy_pitch;
    for (int64_t x = 0; x < left; ++x) {
      hc_pixel(frame, x, y);
    }
    WEFT_INDEPENDENT
    for (int64_t x = left; x < right; ++x) {
      const float gx = 0.0625f * sx_m1[x - 1] + 0.125f * sx_m1[x] + 0.0625f * sx_m1[x + 1]
          + 0.125f * sx_0[x - 1] + 0.25f * sx_0[x] + 0.125f * sx_0[x + 1] + 0.0625f * sx_p1[x - 1]
          + 0.125f * sx_p1[x] + 0.0625f * sx_p1[x + 1];
      const float gy = 0.0625f * sy_m1[x - 1] + 0.125f * sy_m1[x] + 0.0625f * sy_m1[x + 1]
          + 0.125f * sy_0[x - 1] + 0.25f * sy_0[x] + 0.125f * sy_0[x + 1] + 0.0625f * sy_p1[x - 1]
          + 0.125f * sy_p1[x] + 0.0625f * sy_p1[x + 1];
      const float gxy = 0.0625f * sxy_m1[x - 1] + 0.125f * sxy_m1[x] + 0.0625f * sxy_m1[x + 1]
          + 0.125f * sxy_0[x - 1] + 0.25f * sxy_0[x] + 0.125f * sxy_0[x + 1] + 0.0625f * sxy_p1[x - 1]
          + 0.125f * sxy_p1[x] + 0.0625f * sxy_p1[x + 1];
      hc_row[x] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
    }
    for (int64_t x = right; x < in_w; ++x) {
      hc_pixel(frame, x, y);
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
  frame.dx = nullptr;
  frame.dx_pitch = (in_w + 31) / 16 * 16;
  frame.sx = nullptr;
  frame.sx_pitch = (in_w + 31) / 16 * 16;
  frame.dy = nullptr;
  frame.dy_pitch = (in_w + 31) / 16 * 16;
  frame.sy = nullptr;
  frame.sy_pitch = (in_w + 31) / 16 * 16;
  frame.sxy = nullptr;
  frame.sxy_pitch = (in_w + 31) / 16 * 16;
  frame.in_w = in_w;
  frame.in_h = in_h;
  frame.k = k;

  frame.dx = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.dx_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.dx) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    dx_rows(*static_cast<const harris_frame*>(data), first, last);
  }, &frame);

  frame.sx = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.sx_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.sx) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    sx_rows(*static_cast<const harris_frame*>(data), first, last);
  }, &frame);

  frame.dy = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.dy_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.dy) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    dy_rows(*static_cast<const harris_frame*>(data), first, last);
  }, &frame);

  frame.sy = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.sy_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.sy) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    sy_rows(*static_cast<const harris_frame*>(data), first, last);
  }, &frame);

  frame.sxy = static_cast<float*>(host->allocate(host->context,
      static_cast<size_t>(frame.sxy_pitch * max_i64(in_h, 1)) * sizeof(float), in_w == 0 || in_h == 0));
  if (!frame.sxy) goto out_of_memory;
  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    sxy_rows(*static_cast<const harris_frame*>(data), first, last);
  }, &frame);
  host->release(host->context, frame.dx);
  frame.dx = nullptr;
  host->release(host->context, frame.dy);
  frame.dy = nullptr;

  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    hc_rows(*static_cast<const harris_frame*>(data), first, last);
  }, &frame);
  host->release(host->context, frame.sx);
  frame.sx = nullptr;
  host->release(host->context, frame.sy);
  frame.sy = nullptr;
  host->release(host->context, frame.sxy);
  frame.sxy = nullptr;
  return 0;

out_of_memory:
  if (frame.dx) host->release(host->context, frame.dx);
  if (frame.sx) host->release(host->context, frame.sx);
  if (frame.dy) host->release(host->context, frame.dy);
  if (frame.sy) host->release(host->context, frame.sy);
  if (frame.sxy) host->release(host->context, frame.sxy);
  return 1;
}
