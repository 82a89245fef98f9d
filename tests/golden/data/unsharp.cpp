// Pipeline 'unsharp', emitted by Weft. How it runs:
//   blur_tap      in rows of out: computed 1 row ahead of 'out', which needs 3 of its rows at a time: no store, no load
//   blur_columns  in rows of out: computed 0 rows ahead of 'out', which needs 1 of its rows at a time: no store, no load
//   blur          computed in sharpen: its only consumer 'sharpen' reads it at the same pixel: no store, no load
//   sharpen       computed in ratio: its only consumer 'ratio' reads it at the same pixel: no store, no load
//   ratio         computed in out: its only consumer 'out' reads it at the same pixel: no store, no load
//   out           stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "unsharp.h"

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

namespace unsharp {

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
static inline float max_f32(float a, float b) { return a < b ? b : a; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// Asks memory for what is read soon, as far as the second level of caches: the first has no room to wait in.
static inline void prefetch(const void* from, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(static_cast<const char*>(from) + b, 0, 2);
}
// x % 0 is 0.
static inline int64_t rem_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline uint8_t saturate_u8_f32(float v) {
  v = v > 0.0f ? v : 0.0f;
  v = v < 255.0f ? v : 255.0f;
  // 1.5 * 2^23 leaves no bits for a fraction: the addition rounds half to even, into the last bits.
  union { float f; uint32_t u; } sum = {v + 12582912.0f};
  return (uint8_t)sum.u;
}
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
struct unsharp_frame {
  const uint8_t* in;
  uint8_t* out;
  int64_t in_w, in_h;
  int64_t in_pitch, out_pitch;
};

// Strips [first, last) of 'out', each 1600 columns that are computed row by row.
// Rows of 'blur_tap', 'blur_columns' are kept while they are read.
void out_strips(const unsharp_frame& frame, int64_t first, int64_t last) {
  const uint8_t* __restrict in = frame.in;
  uint8_t* __restrict out = frame.out;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t out_pitch = frame.out_pitch;
  alignas(64) float blur_tap_rows[6464];
  alignas(64) float blur_columns_rows[1616];
  alignas(64) uint8_t out_line[4800];
  const bool past_caches_ = exceeds_caches(out_pitch * in_h);
  const int64_t columns = (in_w + 1599) / 1600;
  const int64_t rows = min_i64(max_i64(in_h * columns / 64 & -16, 16), 256);
  for (int64_t strip = first; strip < last; ++strip) {
    const int64_t x0 = rem_i64(strip, columns) * 1600;
    const int64_t x1 = min_i64(x0 + 1600, in_w);
    const int64_t y0 = div_i64(strip, columns) * rows;
    const int64_t y1 = min_i64(y0 + rows, in_h);
    for (int64_t y = y0 - 2; y < y1; ++y) {
      if (max_i64(y0 - 1, 0) <= y + 1 && y + 1 < in_h) {
        const int64_t row = y + 1;
        const int64_t left = max_i64(x0 - 1, 0);
        const int64_t right = min_i64(x1 + 1, in_w);
        float* blur_tap_row = blur_tap_rows + (row & 3) * 1616;
        const uint8_t* in_0 = in + row * in_pitch;
        for (int64_t portion = 0; portion < right - left; portion += 256) {
          prefetch(in + clamp_index(row + 1, in_h) * in_pitch + left * 3 + portion * 3, 768);
          WEFT_INDEPENDENT
          for (int64_t i = portion; i < min_i64(portion + 256, right - left); ++i) {
            const uint8_t v0 = in_0[(left + i) * 3];
            const uint8_t v1 = in_0[(left + i) * 3 + 1];
            const uint8_t v2 = in_0[(left + i) * 3 + 2];
            blur_tap_row[i + (left - x0) + 1] = 0.299f * v0 + 0.587f * v1 + 0.114f * v2;
          }
        }
      }
      if (y0 <= y) {
        const int64_t row = y;
        const int64_t left = max_i64(x0 - 1, 0);
        const int64_t right = min_i64(x1 + 1, in_w);
        float* blur_columns_row = blur_columns_rows + (row & 0) * 1616;
        const float* blur_tap_m1 = blur_tap_rows + (clamp_index(row - 1, in_h) & 3) * 1616 + (left - x0) + 1;
        const float* blur_tap_0 = blur_tap_rows + (clamp_index(row, in_h) & 3) * 1616 + (left - x0) + 1;
        const float* blur_tap_p1 = blur_tap_rows + (clamp_index(row + 1, in_h) & 3) * 1616 + (left - x0) + 1;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < right - left; ++i) {
          blur_columns_row[i + (left - x0) + 1] = 0.125f * blur_tap_m1[i] + 0.25f * blur_tap_0[i]
              + 0.125f * blur_tap_p1[i];
        }
        for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
          blur_columns_row[x - x0 + 1] = blur_columns_row[clamp_index(x, in_w) - x0 + 1];
        }
        for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
          blur_columns_row[x - x0 + 1] = blur_columns_row[clamp_index(x, in_w) - x0 + 1];
        }
      }
      if (y0 <= y) {
        const int64_t left = x0;
        const int64_t right = x1;
        uint8_t* out_row = past_caches_ ? out_line : out + y * out_pitch + left * 3;
        const uint8_t* in_0 = in + y * in_pitch;
        const float* blur_columns_0 = blur_columns_rows + (y & 0) * 1616 + (left - x0) + 1;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < right - left; ++i) {
          const uint8_t v0 = in_0[(left + i) * 3];
          const uint8_t v1 = in_0[(left + i) * 3 + 1];
          const uint8_t v2 = in_0[(left + i) * 3 + 2];
          const float blur = 0.5f * blur_columns_0[i - 1] + blur_columns_0[i] + 0.5f * blur_columns_0[i + 1];
          const float sharpen = 2.0f * (0.299f * v0 + 0.587f * v1 + 0.114f * v2) - blur;
          const uint8_t v0_2 = v0;
          const uint8_t v1_2 = v1;
          const uint8_t v2_2 = v2;
          const float ratio = sharpen / max_f32(0.299f * v0_2 + 0.587f * v1_2 + 0.114f * v2_2, 0.01f);
          out_row[i * 3] = saturate_u8_f32(v0 * ratio);
          out_row[i * 3 + 1] = saturate_u8_f32(v1 * ratio);
          out_row[i * 3 + 2] = saturate_u8_f32(v2 * ratio);
        }
        if (past_caches_) {
          store_past_caches(out + y * out_pitch + left * 3, out_line, (right - left) * 3);
        }
      }
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
  frame.in_w = in_w;
  frame.in_h = in_h;

  host->parallel_for(host->context, div_i64(in_h
      + min_i64(max_i64(in_h * ((in_w + 1599) / 1600) / 64 & -16, 16), 256) - 1,
      min_i64(max_i64(in_h * ((in_w + 1599) / 1600) / 64 & -16, 16), 256)) * ((in_w + 1599) / 1600),
      [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    out_strips(*static_cast<const unsharp_frame*>(data), first, last);
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace unsharp
