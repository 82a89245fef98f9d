// Pipeline 'unsharp_mask', emitted by Weft. How it runs:
//   blurx    in rows of mask: computed 0 rows ahead of 'mask', which needs 1 of its rows at a time: no store, no load
//   blury    computed in mask: sharpen, mask read it at the same pixel, in one kernel: no store, no load
//   sharpen  computed in mask: its only consumer 'mask' reads it at the same pixel: no store, no load
//   mask     stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "unsharp_mask.h"

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
extern "C" float fabsf(float) noexcept;

namespace unsharp_mask {

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
struct unsharp_mask_frame {
  const float* in;
  float* mask;
  int64_t in_w, in_h;
  int64_t in_pitch, mask_pitch;
  float threshold;
  float weight;
};

// Strips [first, last) of 'mask', each 256 columns that are computed 2 rows at a time.
// Rows of 'blurx' are kept while they are read.
// Rows of 'in' are read where they lie, but for strips at the ends of the image.
void mask_strips(const unsharp_mask_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict mask = frame.mask;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t mask_pitch = frame.mask_pitch;
  const float threshold = frame.threshold;
  const float weight = frame.weight;
  alignas(64) float in_rows[6240];
  alignas(64) float blurx_rows[1632];
  alignas(64) float mask_line[768];
  alignas(64) float mask_line_p1[768];
  const bool past_caches_ = exceeds_caches(mask_pitch * in_h * 4);
  const int64_t columns = (in_w + 255) / 256;
  const int64_t rows = min_i64(max_i64(in_h * columns / 64 & -16, 16), 256);
  for (int64_t strip = first; strip < last; ++strip) {
    const int64_t x0 = rem_i64(strip, columns) * 256;
    const int64_t x1 = min_i64(x0 + 256, in_w);
    const int64_t y0 = div_i64(strip, columns) * rows;
    const int64_t y1 = min_i64(y0 + rows, in_h);
    const bool in_copied = x0 - 2 < 0 || in_w < x1 + 2 || (y0 - 2 < 0 || in_h < y1 + 2);
    const float* in_from = in_copied ? in_rows : in + (x0 - 2) * 3;
    const int64_t in_step = in_copied ? 780 : in_pitch;
    const int64_t in_mask = in_copied ? 7 : -1;
    for (int64_t batch = y0 - 4; batch < y1; batch += 2) {
      for (int64_t row = batch + 2; row < min_i64(batch + 4, y1 + 2); ++row) {
        const int64_t left = max_i64(x0 - 2, 0);
        const int64_t right = min_i64(x1 + 2, in_w);
        if (in_copied) {
          float* in_row = in_rows + (row & 7) * 780;
          if (0 <= row && row < in_h) {
            const float* in_row_2 = in + row * in_pitch;
            WEFT_INDEPENDENT
            for (int64_t i = 0; i < (right - left) * 3; ++i) {
              in_row[i + (left - x0) * 3 + 6] = in_row_2[i + left * 3];
            }
          } else {
            WEFT_INDEPENDENT
            for (int64_t i = 0; i < 260; ++i) {
              in_row[i * 3] = 0.0f;
              in_row[i * 3 + 1] = 0.0f;
              in_row[i * 3 + 2] = 0.0f;
            }
          }
        }
      }
      if (y0 <= batch && batch + 2 <= y1) {
        const int64_t row = batch;
        const int64_t left = max_i64(x0 - 2, 0);
        const int64_t right = min_i64(x1 + 2, in_w);
        float* blurx_row = blurx_rows + (row & 1) * 816;
        WEFT_OPAQUE(blurx_row)
        float* blurx_row_p1 = blurx_rows + ((row + 1) & 1) * 816;
        WEFT_OPAQUE(blurx_row_p1)
        const float* in_m2 = in_from + ((row - 2) & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_m2)
        const float* in_m1 = in_from + ((row - 1) & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_m1)
        const float* in_0 = in_from + (row & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_0)
        const float* in_p1 = in_from + ((row + 1) & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_p1)
        const float* in_p2 = in_from + ((row + 2) & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_p2)
        const float* in_p3 = in_from + ((row + 3) & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_p3)
        for (int64_t portion = 0; portion < (right - left) * 3; portion += 96) {
          prefetch(in + clamp_index(row + 4, in_h) * in_pitch + max_i64(left, 0) * 3 + portion, 384);
          prefetch(in + clamp_index(row + 5, in_h) * in_pitch + max_i64(left, 0) * 3 + portion, 384);
          WEFT_INDEPENDENT
          for (int64_t i = portion; i < min_i64(portion + 96, (right - left) * 3); ++i) {
            const float v = in_m1[i];
            const float v_2 = in_0[i];
            const float v_3 = in_p1[i];
            const float v_4 = in_p2[i];
            blurx_row[i + (left - x0) * 3 + 6] = 0.0625f * in_m2[i] + 0.25f * v + 0.375f * v_2 + 0.25f * v_3
                + 0.0625f * v_4;
            blurx_row_p1[i + (left - x0) * 3 + 6] = 0.0625f * v + 0.25f * v_2 + 0.375f * v_3 + 0.25f * v_4
                + 0.0625f * in_p3[i];
          }
        }
        for (int64_t x = max_i64(x0 - 2, -2); x < left; ++x) {
          blurx_row[(x - x0) * 3 + 6] = 0.0f;
          blurx_row[(x - x0) * 3 + 7] = 0.0f;
          blurx_row[(x - x0) * 3 + 8] = 0.0f;
        }
        for (int64_t x = right; x < min_i64(x1 + 2, in_w + 2); ++x) {
          blurx_row[(x - x0) * 3 + 6] = 0.0f;
          blurx_row[(x - x0) * 3 + 7] = 0.0f;
          blurx_row[(x - x0) * 3 + 8] = 0.0f;
        }
        for (int64_t x = max_i64(x0 - 2, -2); x < left; ++x) {
          blurx_row_p1[(x - x0) * 3 + 6] = 0.0f;
          blurx_row_p1[(x - x0) * 3 + 7] = 0.0f;
          blurx_row_p1[(x - x0) * 3 + 8] = 0.0f;
        }
        for (int64_t x = right; x < min_i64(x1 + 2, in_w + 2); ++x) {
          blurx_row_p1[(x - x0) * 3 + 6] = 0.0f;
          blurx_row_p1[(x - x0) * 3 + 7] = 0.0f;
          blurx_row_p1[(x - x0) * 3 + 8] = 0.0f;
        }
      } else {
        for (int64_t row = max_i64(batch, y0); row < min_i64(batch + 2, y1); ++row) {
          if (0 <= row && row < in_h) {
            const int64_t left = max_i64(x0 - 2, 0);
            const int64_t right = min_i64(x1 + 2, in_w);
            float* blurx_row = blurx_rows + (row & 1) * 816;
            const float* in_m2 = in_from + ((row - 2) & in_mask) * in_step + (left - x0) * 3 + 6;
            const float* in_m1 = in_from + ((row - 1) & in_mask) * in_step + (left - x0) * 3 + 6;
            const float* in_0 = in_from + (row & in_mask) * in_step + (left - x0) * 3 + 6;
            const float* in_p1 = in_from + ((row + 1) & in_mask) * in_step + (left - x0) * 3 + 6;
            const float* in_p2 = in_from + ((row + 2) & in_mask) * in_step + (left - x0) * 3 + 6;
            for (int64_t portion = 0; portion < (right - left) * 3; portion += 192) {
              prefetch(in + clamp_index(row + 4, in_h) * in_pitch + max_i64(left, 0) * 3 + portion, 768);
              WEFT_INDEPENDENT
              for (int64_t i = portion; i < min_i64(portion + 192, (right - left) * 3); ++i) {
                blurx_row[i + (left - x0) * 3 + 6] = 0.0625f * in_m2[i] + 0.25f * in_m1[i] + 0.375f * in_0[i]
                    + 0.25f * in_p1[i] + 0.0625f * in_p2[i];
              }
            }
            for (int64_t x = max_i64(x0 - 2, -2); x < left; ++x) {
              blurx_row[(x - x0) * 3 + 6] = 0.0f;
              blurx_row[(x - x0) * 3 + 7] = 0.0f;
              blurx_row[(x - x0) * 3 + 8] = 0.0f;
            }
            for (int64_t x = right; x < min_i64(x1 + 2, in_w + 2); ++x) {
              blurx_row[(x - x0) * 3 + 6] = 0.0f;
              blurx_row[(x - x0) * 3 + 7] = 0.0f;
              blurx_row[(x - x0) * 3 + 8] = 0.0f;
            }
          } else {
            float* blurx_row = blurx_rows + (row & 1) * 816;
            WEFT_INDEPENDENT
            for (int64_t i = 0; i < 272; ++i) {
              blurx_row[i * 3] = 0.0f;
              blurx_row[i * 3 + 1] = 0.0f;
              blurx_row[i * 3 + 2] = 0.0f;
            }
          }
        }
      }
      if (y0 <= batch && batch + 2 <= y1) {
        const int64_t y = batch;
        const int64_t left = x0;
        const int64_t right = x1;
        float* mask_row = past_caches_ ? mask_line : mask + y * mask_pitch + left * 3;
        WEFT_OPAQUE(mask_row)
        float* mask_row_p1 = past_caches_ ? mask_line_p1 : mask + (y + 1) * mask_pitch + left * 3;
        WEFT_OPAQUE(mask_row_p1)
        const float* in_0 = in_from + (y & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_0)
        const float* blurx_0 = blurx_rows + (y & 1) * 816 + (left - x0) * 3 + 6;
        WEFT_OPAQUE(blurx_0)
        const float* in_p1 = in_from + ((y + 1) & in_mask) * in_step + (left - x0) * 3 + 6;
        WEFT_OPAQUE(in_p1)
        const float* blurx_p1 = blurx_rows + ((y + 1) & 1) * 816 + (left - x0) * 3 + 6;
        WEFT_OPAQUE(blurx_p1)
        const float v_2 = 1.0f + weight;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < (right - left) * 3; ++i) {
          const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
              + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
          const float v_8 = in_0[i];
          const float v_3 = v_2 * v_8 - weight * v;
          const float v_4 = v_8;
          mask_row[i] = fabsf(v_8 - v) < threshold ? v_4 : v_3;
          const float v_5 = 0.0625f * blurx_p1[i - 6] + 0.25f * blurx_p1[i - 3] + 0.375f * blurx_p1[i]
              + 0.25f * blurx_p1[i + 3] + 0.0625f * blurx_p1[i + 6];
          const float v_9 = in_p1[i];
          const float v_6 = v_2 * v_9 - weight * v_5;
          const float v_7 = v_9;
          mask_row_p1[i] = fabsf(v_9 - v_5) < threshold ? v_7 : v_6;
        }
        if (past_caches_) {
          store_past_caches(mask + y * mask_pitch + left * 3, mask_line, (right - left) * 3 * 4);
          store_past_caches(mask + (y + 1) * mask_pitch + left * 3, mask_line_p1, (right - left) * 3 * 4);
        }
      } else {
        for (int64_t y = max_i64(batch, y0); y < min_i64(batch + 2, y1); ++y) {
          const int64_t left = x0;
          const int64_t right = x1;
          float* mask_row = past_caches_ ? mask_line : mask + y * mask_pitch + left * 3;
          const float* in_0 = in_from + (y & in_mask) * in_step + (left - x0) * 3 + 6;
          const float* blurx_0 = blurx_rows + (y & 1) * 816 + (left - x0) * 3 + 6;
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < (right - left) * 3; ++i) {
            const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
                + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
            const float v_2 = (1.0f + weight) * in_0[i] - weight * v;
            const float v_3 = in_0[i];
            mask_row[i] = fabsf(in_0[i] - v) < threshold ? v_3 : v_2;
          }
          if (past_caches_) {
            store_past_caches(mask + y * mask_pitch + left * 3, mask_line, (right - left) * 3 * 4);
          }
        }
      }
    }
  }
}

}  // namespace

int run_unsharp_mask(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float threshold,
    float weight, float* mask, int64_t mask_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  unsharp_mask_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.mask = mask;
  frame.mask_pitch = mask_pitch;
  frame.in_w = in_w;
  frame.in_h = in_h;
  frame.threshold = threshold;
  frame.weight = weight;

  host->parallel_for(host->context, div_i64(in_h
      + min_i64(max_i64(in_h * ((in_w + 255) / 256) / 64 & -16, 16), 256) - 1,
      min_i64(max_i64(in_h * ((in_w + 255) / 256) / 64 & -16, 16), 256)) * ((in_w + 255) / 256),
      [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    mask_strips(*static_cast<const unsharp_mask_frame*>(data), first, last);
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace unsharp_mask
