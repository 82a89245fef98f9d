// Pipeline 'bilateral', emitted by Weft. How it runs:
//   bilateral  stored: it is an output
//
// Compile with: -std=c++17 -O3 -march=native -fwrapv -fno-math-errno -fno-trapping-math -freciprocal-math -ffp-contract=fast
#include "bilateral.h"

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

namespace bilateral {

// i itself inside [0, n), else the nearest index.
static inline int64_t clamp_index(int64_t i, int64_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}
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

// One pixel of bilateral, borders resolved.
WEFT_NOINLINE void bilateral_pixel(const bilateral_frame& frame, int64_t x, int64_t y) {
  const float* __restrict in = frame.in;
  float* __restrict bilateral = frame.bilateral;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t bilateral_pitch = frame.bilateral_pitch;
  const float sigma_r = frame.sigma_r;
  float acc = 0.0f;
  float acc_2 = 0.0f;
  for (int64_t ty = -6; ty < 7; ty += 1) {
    WEFT_SCALAR
    for (int64_t tx = -6; tx < 7; tx += 1) {
      WEFT_SCALAR
      const int64_t x_in = clamp_index(x + tx, in_w);
      const int64_t y_in = clamp_index(y + ty, in_h);
      const float v = in[y_in * in_pitch + x_in];
      const float v_2 = v - in[y * in_pitch + x];
      const float v_3 = bilateral_mask[(ty + 6) * 13 + tx + 6]
          * exp_approx_f32(-1.0f / (2.0f * sigma_r * sigma_r) * v_2 * v_2);
      const float v_4 = acc + v_3;
      const float v_5 = acc_2 + v_3 * v;
      acc = v_4;
      acc_2 = v_5;
    }
  }
  bilateral[y * bilateral_pitch + x] = acc_2 / acc;
}

// Rows [first, last) of 'bilateral' from 'in'.
void bilateral_rows(const bilateral_frame& frame, int64_t first, int64_t last) {
  const float* __restrict in = frame.in;
  float* __restrict bilateral = frame.bilateral;
  const int64_t in_w = frame.in_w;
  const int64_t in_h = frame.in_h;
  const int64_t in_pitch = frame.in_pitch;
  const int64_t bilateral_pitch = frame.bilateral_pitch;
  const float sigma_r = frame.sigma_r;
  for (int64_t y = first; y < last; ++y) {
    const int64_t left = min_i64(6, in_w);
    const int64_t right = max_i64(left, in_w - 6);
    float* bilateral_row = bilateral + y * bilateral_pitch;
    for (int64_t x = 0; x < left; ++x) {
      bilateral_pixel(frame, x, y);
    }
    for (int64_t x0 = left; x0 < right; x0 += 1024) {
      const int64_t count = min_i64(1024, right - x0);
      alignas(64) float acc[1024];
      alignas(64) float acc_2[1024];
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        acc[i] = 0.0f;
        acc_2[i] = 0.0f;
      }
      for (int64_t ty = -6; ty < 7; ty += 1) {
        for (int64_t tx = -6; tx < 7; tx += 1) {
          const float* in_row = in + clamp_index(y + ty, in_h) * in_pitch;
          const float* in_0 = in + y * in_pitch;
          WEFT_INDEPENDENT
          for (int64_t i = 0; i < count; ++i) {
            const float v = in_row[x0 + i + tx];
            const float v_2 = v - in_0[x0 + i];
            const float v_3 = bilateral_mask[(ty + 6) * 13 + tx + 6]
                * exp_approx_f32(-1.0f / (2.0f * sigma_r * sigma_r) * v_2 * v_2);
            const float v_4 = acc[i] + v_3;
            const float v_5 = acc_2[i] + v_3 * v;
            acc[i] = v_4;
            acc_2[i] = v_5;
          }
        }
      }
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        bilateral_row[x0 + i] = acc_2[i] / acc[i];
      }
    }
    for (int64_t x = right; x < in_w; ++x) {
      bilateral_pixel(frame, x, y);
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

  host->parallel_for(host->context, in_h, [](const void* data, int64_t first, int64_t last) {
    const flush_subnormals mode;
    bilateral_rows(*static_cast<const bilateral_frame*>(data), first, last);
  }, &frame);
  return 0;
}

}  // namespace bilateral
