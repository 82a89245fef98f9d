// Pipeline 'bilateral', emitted by Weft. How it runs:
//   bilateral  stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "bilateral.h"

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

namespace bilateral {

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
// e^v within 2.5 ulp, and 0 below 2^-125: v = n ln 2 + r, |r| <= ln 2 / 2, and e^r by a polynomial.
// Clamping v itself would cost more: compilers make a maze of masks of two comparisons with constants.
static inline float exp_approx_f32(float v) {
  // 1.5 * 2^23 leaves no bits for a fraction: the addition rounds to n, and the last bits hold n + 126.
  union { float f; int32_t i; uint32_t u; } sum = {v * 1.44269504f + 12583038.0f};
  sum.i = sum.i < 0x4b4000fe ? sum.i : 0x4b4000fe;  // n <= 128, from where on e^v is infinite
  const float n = sum.f - 12583038.0f;
#ifdef __FMA__  // ln 2 in two parts; fused, so that no compiler adds the parts up again
  const float r = __builtin_fmaf(n, 2.12194440e-4f, __builtin_fmaf(n, -0.693359375f, v));
#else
  const float r = (v - n * 0.693359375f) + n * 2.12194440e-4f;
#endif
  // 2 e^r, since 2^n need not be a float but 2^(n - 1) is
  float p = 1.66250028e-2f;
  p = p * r + 8.37806612e-2f;
  p = p * r + 3.33342314e-1f;
  p = p * r + 9.99984622e-1f;
  p = p * r + 2.0f;
  p = p * r + 2.0f;
  union { uint32_t u; float f; } scale = {sum.u << 23};
  return v < -87.0f ? 0.0f : p * scale.f;
}
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
struct bilateral_frame {
  const float* in;
  float* bilateral;
  int64_t in_w, in_h;
  int64_t in_pitch, bilateral_pitch;
  float sigma_r;
};

const float bilateral_mask[169] = {0.01831564f, 0.033746153f, 0.055637997f, 0.082085f, 0.108368024f,
    0.12802169f, 0.13533528f, 0.12802169f, 0.108368024f, 0.082085f, 0.055637997f, 0.033746153f, 0.01831564f,
    0.033746153f, 0.062176526f, 0.102511756f, 0.15123975f, 0.19966564f, 0.23587708f, 0.2493522f, 0.23587708f,
    0.19966564f, 0.15123975f, 0.102511756f, 0.062176526f, 0.033746153f, 0.055637997f, 0.102511756f,
    0.16901332f, 0.2493522f, 0.329193f, 0.38889557f, 0.41111228f, 0.38889557f, 0.329193f, 0.2493522f,
    0.16901332f, 0.102511756f, 0.055637997f, 0.082085f, 0.15123975f, 0.2493522f, 0.36787945f, 0.4856718f,
    0.5737534f, 0.60653067f, 0.5737534f, 0.4856718f, 0.36787945f, 0.2493522f, 0.15123975f, 0.082085f,
    0.108368024f, 0.19966564f, 0.329193f, 0.4856718f, 0.6411804f, 0.7574651f, 0.8007374f, 0.7574651f,
    0.6411804f, 0.4856718f, 0.329193f, 0.19966564f, 0.108368024f, 0.12802169f, 0.23587708f, 0.38889557f,
    0.5737534f, 0.7574651f, 0.89483935f, 0.94595945f, 0.89483935f, 0.7574651f, 0.5737534f, 0.38889557f,
    0.23587708f, 0.12802169f, 0.13533528f, 0.2493522f, 0.41111228f, 0.60653067f, 0.8007374f, 0.94595945f,
    1.0f, 0.94595945f, 0.8007374f, 0.60653067f, 0.41111228f, 0.2493522f, 0.13533528f, 0.12802169f,
    0.23587708f, 0.38889557f, 0.5737534f, 0.7574651f, 0.89483935f, 0.94595945f, 0.89483935f, 0.7574651f,
    0.5737534f, 0.38889557f, 0.23587708f, 0.12802169f, 0.108368024f, 0.19966564f, 0.329193f, 0.4856718f,
    0.6411804f, 0.7574651f, 0.8007374f, 0.7574651f, 0.6411804f, 0.4856718f, 0.329193f, 0.19966564f,
    0.108368024f, 0.082085f, 0.15123975f, 0.2493522f, 0.36787945f, 0.4856718f, 0.5737534f, 0.60653067f,
    0.5737534f, 0.4856718f, 0.36787945f, 0.2493522f, 0.15123975f, 0.082085f, 0.055637997f, 0.102511756f,
    0.16901332f, 0.2493522f, 0.329193f, 0.38889557f, 0.41111228f, 0.38889557f, 0.329193f, 0.2493522f,
    0.16901332f, 0.102511756f, 0.055637997f, 0.033746153f, 0.062176526f, 0.102511756f, 0.15123975f,
    0.19966564f, 0.23587708f, 0.2493522f, 0.23587708f, 0.19966564f, 0.15123975f, 0.102511756f, 0.062176526f,
    0.033746153f, 0.01831564f, 0.033746153f, 0.055637997f, 0.082085f, 0.108368024f, 0.12802169f, 0.13533528f,
    0.12802169f, 0.108368024f, 0.082085f, 0.055637997f, 0.033746153f, 0.01831564f};

// Strips [first, last) of 'bilateral', each 512 columns that are computed row by row.
// Rows of 'in' are read where they lie, but for strips at the ends of the image.
void bilateral_strips(const bilateral_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict bilateral = frame.bilateral;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t bilateral_pitch = frame.bilateral_pitch;
  const float sigma_r = frame.sigma_r;
  alignas(64) float in_rows[8384];
  alignas(64) float bilateral_line[512];
  const bool past_caches_ = exceeds_caches(bilateral_pitch * in_h * 4);
  const int64_t columns = (in_w + 511) / 512;
  const int64_t rows = min_i64(max_i64(in_h * columns / 64 & -16, 16), 256);
  for (int64_t strip = first; strip < last; ++strip) {
    const int64_t x0 = rem_i64(strip, columns) * 512;
    const int64_t x1 = min_i64(x0 + 512, in_w);
    const int64_t y0 = div_i64(strip, columns) * rows;
    const int64_t y1 = min_i64(y0 + rows, in_h);
    const bool copied = x0 - 6 < 0 || in_w < x1 + 6;
    const int64_t inner_left = x0 - 6 < 0 ? x0 + 64 : x0 - 6;
    const int64_t inner_right = in_w < x1 + 6 ? max_i64(inner_left, (x1 - 64) & -16) : x1 + 6;
    for (int64_t y = y0 - 12; y < y1; ++y) {
      if (y0 - 6 <= y + 6) {
        const int64_t row = y + 6;
        const int64_t left = max_i64(x0 - 6, 0);
        const int64_t right = min_i64(x1 + 6, in_w);
        if (copied) {
          float* in_row = in_rows + (row & 15) * 524;
          const float* in_row_2 = in + clamp_index(row, in_h) * in_pitch;
          const int64_t left_end = min_i64(right, max_i64(left, inner_left + 6));
          const int64_t right_begin = min_i64(right, max_i64(left_end, inner_right - 6));
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < left_end - left; ++i) {
            in_row[i + (left - x0) + 6] = in_row_2[i + left];
          }
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < right - right_begin; ++i) {
            in_row[i + (right_begin - x0) + 6] = in_row_2[i + right_begin];
          }
          for (int64_t x = max_i64(x0 - 6, -6); x < left; ++x) {
            in_row[x - x0 + 6] = in_row_2[clamp_index(x, in_w)];
          }
          for (int64_t x = right; x < min_i64(x1 + 6, in_w + 6); ++x) {
            in_row[x - x0 + 6] = in_row_2[clamp_index(x, in_w)];
          }
        }
      }
      if (y0 <= y) {
        const int64_t row_left = x0;
        const int64_t row_right = x1;
        const int64_t first_end = max_i64(row_left, min_i64(inner_left, row_right));
        const int64_t last_begin = max_i64(row_left, min_i64(inner_right, row_right));
        for (int64_t part = 0; part < 3; ++part) {
          const int64_t left = part == 0 ? row_left : part == 1 ? first_end : last_begin;
          const int64_t right = part == 0 ? first_end : part == 1 ? last_begin : row_right;
          const bool at_edge = part != 1;
          if (left < right) {
            const float* in_from = at_edge ? in_rows : in + x0 - 6;
            const int64_t in_step = at_edge ? 524 : in_pitch;
            const int64_t in_mask = at_edge ? 15 : -1;
            float* bilateral_row = past_caches_ ? bilateral_line : bilateral + y * bilateral_pitch + left;
            alignas(64) float acc[512];
            alignas(64) float acc_2[512];
            WEFT_INDEPENDENT
            for (int64_t i = 0; i < right - left; ++i) {
              acc[i] = 0.0f;
              acc_2[i] = 0.0f;
            }
            for (int64_t ty = -6; ty < 7; ty += 1) {
              for (int64_t tx = -6; tx < 7; tx += 1) {
                const float* in_row_3 = in_from + ((at_edge ? y + ty : clamp_index(y + ty, in_h)) & in_mask)
                    * in_step + (left - x0) + 6;
                const float* in_0 = in_from + (y & in_mask) * in_step + (left - x0) + 6;
                WEFT_INDEPENDENT
                for (int64_t i = 0; i < right - left; ++i) {
                  const float v = in_row_3[i + tx];
                  const float v_2 = v - in_0[i];
                  const float v_3 = bilateral_mask[(ty + 6) * 13 + tx + 6]
                      * exp_approx_f32(-1.0f / (2.0f * sigma_r * sigma_r) * v_2 * v_2);
                  const float v_4 = acc[i] + v_3;
                  const float v_5 = acc_2[i] + v_3 * v;
                  acc[i] = v_4;
                  acc_2[i] = v_5;
                }
              }
            }
            for (int64_t portion = 0; portion < right - left; portion += 256) {
              prefetch(in + clamp_index(y + 7, in_h) * in_pitch + max_i64(left - 6, 0) + portion, 1024);
              WEFT_INDEPENDENT
              for (int64_t i = portion; i < min_i64(portion + 256, right - left); ++i) {
                bilateral_row[i] = acc_2[i] / acc[i];
              }
            }
            if (past_caches_) {
              store_past_caches(bilateral + y * bilateral_pitch + left, bilateral_line, (right - left) * 4);
            }
          }
        }
      }
    }
  }
}

}  // namespace

int run_bilateral(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float sigma_r,
    float* bilateral, int64_t bilateral_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  bilateral_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.bilateral = bilateral;
  frame.bilateral_pitch = bilateral_pitch;
  frame.in_w = in_w;
  frame.in_h = in_h;
  frame.sigma_r = sigma_r;

  host->parallel_for(host->context, div_i64(in_h
      + min_i64(max_i64(in_h * ((in_w + 511) / 512) / 64 & -16, 16), 256) - 1,
      min_i64(max_i64(in_h * ((in_w + 511) / 512) / 64 & -16, 16), 256)) * ((in_w + 511) / 512),
      [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    bilateral_strips(*static_cast<const bilateral_frame*>(data), first, last);
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace bilateral
