// Pipeline 'enhance', emitted by Weft. How it runs:
//   mean_tap      in rows of gamma: computed 1 row ahead of 'gamma', which needs 3 of its rows at a time: no store, no load
//   mean_columns  in rows of gamma: computed 0 rows ahead of 'gamma', which needs 1 of its rows at a time: no store, no load
//   mean          computed in bright: its only consumer 'bright' reads it at the same pixel: no store, no load
//   bright        computed in gamma: its only consumer 'gamma' reads it at the same pixel: no store, no load
//   gamma         stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "enhance.h"

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
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WEFT_VECTOR_MATH __attribute__((simd("notinbranch")))  // glibc's libmvec
#else
#define WEFT_VECTOR_MATH
#endif
           extern "C" WEFT_VECTOR_MATH float logf(float) noexcept;
extern "C" WEFT_VECTOR_MATH float powf(float, float) noexcept;

namespace enhance {

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
static inline float max_f32(float a, float b) { return a < b ? b : a; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// x^y within 6 ulp for 0 < y <= 4 that is no integer, and 0 below 2^-125, without branches.
static inline float pow_approx_f32(float x, float y) {
#ifndef __FMA__
  return powf(x, y);
#else
  const bool subnormal = x < 1.17549435e-38f;
  union { float f; int32_t i; } bits = {subnormal ? x * 16777216.0f : x};
  const int32_t exponent = (bits.i - 0x3f2aaaab) >> 23;
  union { int32_t i; float f; } mantissa = {bits.i - (int32_t)((uint32_t)exponent << 23)};
  const float e = (float)(subnormal ? exponent - 24 : exponent);
  const float f = mantissa.f - 1.0f;  // x = (1 + f) 2^e, 2/3 <= 1 + f < 4/3
  float q = 0.142273068f;
  q = q * f - 0.151245914f;
  q = q * f + 0.13958001f;
  q = q * f - 0.164719089f;
  q = q * f + 0.200130895f;
  q = q * f - 0.25004255f;
  q = q * f + 0.333331799f;
  q = q * f - 0.5f;
  // y log2 x = y e + part; e is a small integer, so nothing is lost where y e is large
  const float part = y * 1.44269504f * (q * (f * f) + f);
  const float z = y * e + part;
  // the rest as in e^v: 2 * 2^r, in units of 2^(n - 1)
  union { float f; int32_t i; uint32_t u; } sum = {z + 12583038.0f};
  sum.i = sum.i < 0x4b4000fe ? sum.i : 0x4b4000fe;
  const float n = sum.f - 12583038.0f;
  const float r = __builtin_fmaf(y, e, -n) + part;
  float p = 0.00266004525f;
  p = p * r + 0.0193395176f;
  p = p * r + 0.111011206f;
  p = p * r + 0.480445618f;
  p = p * r + 1.38629436f;
  p = p * r + 2.0f;
  union { uint32_t u; float f; } scale = {sum.u << 23};
  const float power = z < -125.6f ? 0.0f : p * scale.f;
  const float nan = __builtin_nanf(""), infinity = __builtin_inff();
  const float special = x < 0.0f ? (x < -3.40282347e38f ? infinity : nan) : x;
  return x > 0.0f && x < infinity ? power : special;
#endif
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
struct enhance_frame {
  const float* in;
  float* gamma;
  int64_t in_w, in_h;
  int64_t in_pitch, gamma_pitch;
  float gain;
};

// Strips [first, last) of 'gamma', each 1600 columns that are computed row by row.
// Rows of 'mean_tap', 'mean_columns' are kept while they are read.
void gamma_strips(const enhance_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict gamma = frame.gamma;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t gamma_pitch = frame.gamma_pitch;
  const float gain = frame.gain;
  alignas(64) float mean_tap_rows[6464];
  alignas(64) float mean_columns_rows[1616];
  alignas(64) float gamma_line[1600];
  const bool past_caches_ = exceeds_caches(gamma_pitch * in_h * 4);
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
        float* mean_tap_row = mean_tap_rows + (row & 3) * 1616;
        const float* in_0 = in + row * in_pitch;
        for (int64_t portion = 0; portion < right - left; portion += 256) {
          prefetch(in + clamp_index(row + 1, in_h) * in_pitch + left + portion, 1024);
          WEFT_INDEPENDENT
          for (int64_t i = portion; i < min_i64(portion + 256, right - left); ++i) {
            mean_tap_row[i + (left - x0) + 1] = logf(in_0[left + i] + 1.0f);
          }
        }
      }
      if (y0 <= y) {
        const int64_t row = y;
        const int64_t left = max_i64(x0 - 1, 0);
        const int64_t right = min_i64(x1 + 1, in_w);
        float* mean_columns_row = mean_columns_rows + (row & 0) * 1616;
        const float* mean_tap_m1 = mean_tap_rows + (clamp_index(row - 1, in_h) & 3) * 1616 + (left - x0) + 1;
        const float* mean_tap_0 = mean_tap_rows + (clamp_index(row, in_h) & 3) * 1616 + (left - x0) + 1;
        const float* mean_tap_p1 = mean_tap_rows + (clamp_index(row + 1, in_h) & 3) * 1616 + (left - x0) + 1;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < right - left; ++i) {
          mean_columns_row[i + (left - x0) + 1] = mean_tap_m1[i] + mean_tap_0[i] + mean_tap_p1[i];
        }
        for (int64_t x = max_i64(x0 - 1, -1); x < left; ++x) {
          mean_columns_row[x - x0 + 1] = mean_columns_row[clamp_index(x, in_w) - x0 + 1];
        }
        for (int64_t x = right; x < min_i64(x1 + 1, in_w + 1); ++x) {
          mean_columns_row[x - x0 + 1] = mean_columns_row[clamp_index(x, in_w) - x0 + 1];
        }
      }
      if (y0 <= y) {
        const int64_t left = x0;
        const int64_t right = x1;
        float* gamma_row = past_caches_ ? gamma_line : gamma + y * gamma_pitch + left;
        const float* mean_columns_0 = mean_columns_rows + (y & 0) * 1616 + (left - x0) + 1;
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < right - left; ++i) {
          const float mean = max_f32(0.0f, exp_approx_f32((mean_columns_0[i - 1] + mean_columns_0[i]
              + mean_columns_0[i + 1]) * (1.0f / 9.0f)) - 1.0f);
          const float bright = mean * gain;
          gamma_row[i] = 255.0f * pow_approx_f32(bright * (1.0f / 255.0f), 0.6f);
        }
        if (past_caches_) {
          store_past_caches(gamma + y * gamma_pitch + left, gamma_line, (right - left) * 4);
        }
      }
    }
  }
}

}  // namespace

int run_enhance(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float gain, float* gamma,
    int64_t gamma_pitch, const weft_host* host) {
  if (!host) host = &standard_host;
  enhance_frame frame;
  frame.in = in;
  frame.in_pitch = in_pitch;
  frame.gamma = gamma;
  frame.gamma_pitch = gamma_pitch;
  frame.in_w = in_w;
  frame.in_h = in_h;
  frame.gain = gain;

  host->parallel_for(host->context, div_i64(in_h
      + min_i64(max_i64(in_h * ((in_w + 1599) / 1600) / 64 & -16, 16), 256) - 1,
      min_i64(max_i64(in_h * ((in_w + 1599) / 1600) / 64 & -16, 16), 256)) * ((in_w + 1599) / 1600),
      [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    gamma_strips(*static_cast<const enhance_frame*>(data), first, last);
    settle_stores();
  }, &frame);
  return 0;
}

}  // namespace enhance
