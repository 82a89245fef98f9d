#include "bench/by_hand.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace by_hand {
namespace {

#if defined(__AVX512F__)
using V = __m512;
constexpr std::int64_t lanes = 16;
V load(const float* p) { return _mm512_loadu_ps(p); }
void store(float* p, V v) { _mm512_storeu_ps(p, v); }
V all(float v) { return _mm512_set1_ps(v); }
V root(V v) { return _mm512_sqrt_ps(v); }
#elif defined(__AVX2__)
using V = __m256;
constexpr std::int64_t lanes = 8;
V load(const float* p) { return _mm256_loadu_ps(p); }
void store(float* p, V v) { _mm256_storeu_ps(p, v); }
V all(float v) { return _mm256_set1_ps(v); }
V root(V v) { return _mm256_sqrt_ps(v); }
#else
typedef float V __attribute__((vector_size(16)));
constexpr std::int64_t lanes = 4;
V load(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void store(float* p, V v) { std::memcpy(p, &v, sizeof v); }
V all(float v) { return V{v, v, v, v}; }
V root(V v) { return V{std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3])}; }
#endif

/// A vector of a row at x - 1, x and x + 1.
struct Three {
  V left, middle, right;
};
Three around(const float* p) { return {load(p - 1), load(p), load(p + 1)}; }

/// Calls vector(x) for whole vectors of [first, last). The last one overlaps the one before, so that no
/// pixel is computed by itself. The row has to have a vector.
template <class Vector>
void in_vectors(std::int64_t first, std::int64_t last, const Vector& vector) {
  std::int64_t x = first;
  for (; x + lanes <= last; x += lanes) vector(x);
  if (x < last) vector(last - lanes);
}

float sobel_at(const Picture<float>& p, std::int64_t x, std::int64_t y) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return p.in[std::clamp<std::int64_t>(y + j, 0, p.height - 1) * p.width +
                std::clamp<std::int64_t>(x + i, 0, p.width - 1)];
  };
  const float dx = at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1);
  const float dy = at(-1, 1) - at(-1, -1) + 2 * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1);
  return std::sqrt(dx * dx + dy * dy);
}

/// Rounded to nearest, halves to even.
template <class N>
N sixteenth(N v) {
  return (v + 7 + ((v >> 4) & 1)) >> 4;
}

#if defined(__AVX512BW__)
typedef std::int16_t Shorts __attribute__((vector_size(64)));
constexpr std::int64_t shorts = 32;
Shorts load_bytes(const std::uint8_t* p) {
  return Shorts(_mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
void store_bytes(std::uint8_t* p, Shorts v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi16_epi8(__m512i(v)));
}
/// The vector that begins at a place of two that follow each other.
Shorts between(Shorts a, Shorts b, std::int64_t place) {
  Shorts both[2] = {a, b}, v;
  std::memcpy(&v, reinterpret_cast<const std::int16_t*>(both) + place, sizeof v);
  return v;
}
Shorts one_before(Shorts a, Shorts b) {
  constexpr auto last = static_cast<std::int16_t>(shorts - 1);
  Shorts places{};
  for (std::int16_t k = 0; k < shorts; ++k) places[k] = static_cast<std::int16_t>(last + k);
  return __builtin_shuffle(a, b, places);
}
Shorts one_after(Shorts a, Shorts b) {
  Shorts places{};
  for (std::int16_t k = 0; k < shorts; ++k) places[k] = static_cast<std::int16_t>(k + 1);
  return __builtin_shuffle(a, b, places);
}
#endif

}  // namespace

void gaussian(const Picture<std::uint8_t>& p, std::int64_t first, std::int64_t last) {
  for (std::int64_t y = first; y < last; ++y) {
    const std::uint8_t* above = p.in + std::max<std::int64_t>(y - 1, 0) * p.width;
    const std::uint8_t* here = p.in + y * p.width;
    const std::uint8_t* below = p.in + std::min(y + 1, p.height - 1) * p.width;
    std::uint8_t* out = p.out + y * p.width;
    const auto column = [&](std::int64_t x) {
      const std::int64_t inside = std::clamp<std::int64_t>(x, 0, p.width - 1);
      return static_cast<std::int16_t>(above[inside] + 2 * here[inside] + below[inside]);
    };
#if defined(__AVX512BW__)
    if (p.width >= shorts) {
      const auto columns = [&](std::int64_t x) {
        return load_bytes(above + x) + 2 * load_bytes(here + x) + load_bytes(below + x);
      };
      Shorts before{}, now = columns(0), beyond{};
      before[shorts - 1] = column(0), beyond[0] = column(p.width - 1);
      const auto pixels = [&](std::int64_t x, Shorts next) {
        store_bytes(out + x, sixteenth(one_before(before, now) + 2 * now + one_after(now, next)));
        before = now, now = next;
      };
      std::int64_t x = 0;
      for (; x + 2 * shorts <= p.width; x += shorts) pixels(x, columns(x + shorts));
      const std::int64_t left = p.width - shorts - x, last_x = p.width - shorts;
      if (left > 0) {
        const Shorts of_last = columns(last_x), before_last = between(before, now, left);
        pixels(x, between(of_last, beyond, shorts - left));
        before = before_last, now = of_last;
      }
      pixels(last_x, beyond);
      continue;
    }
#endif
    for (std::int64_t x = 0; x < p.width; ++x)
      out[x] = static_cast<std::uint8_t>(sixteenth(column(x - 1) + 2 * column(x) + column(x + 1)));
  }
}

void sobel(const Picture<float>& p, std::int64_t first, std::int64_t last) {
  const V two = all(2);
  for (std::int64_t y = first; y < last; ++y) {
    const float* above = p.in + std::max<std::int64_t>(y - 1, 0) * p.width;
    const float* here = p.in + y * p.width;
    const float* below = p.in + std::min(y + 1, p.height - 1) * p.width;
    float* out = p.out + y * p.width;
    out[0] = sobel_at(p, 0, y);
    in_vectors(1, p.width - 1, [&](std::int64_t x) {
      const Three a = around(above + x), b = around(below + x);
      const V dx = (a.right - a.left) + (b.right - b.left) + two * (load(here + x + 1) - load(here + x - 1));
      const V dy = (b.left - a.left) + (b.right - a.right) + two * (b.middle - a.middle);
      store(out + x, root(dx * dx + dy * dy));
    });
    out[p.width - 1] = sobel_at(p, p.width - 1, y);
  }
}

void harris_corner(const Picture<float>& p, std::int64_t first, std::int64_t last) {
  // Three rows of each product, with a column beside either end; what those have is not seen.
  const std::int64_t pitch = p.width + 2 * lanes;
  static thread_local std::vector<float> memory;
  memory.resize(static_cast<std::size_t>(9 * pitch));
  const auto row = [&](int product, std::int64_t y) {
    return memory.data() + (product * 3 + y % 3) * pitch + lanes;
  };
  const V c = all(1 / 12.f), two = all(2), k = all(0.04f);
  const auto products = [&](std::int64_t y) {
    const float* above = p.in + (y - 1) * p.width;
    const float* here = p.in + y * p.width;
    const float* below = p.in + (y + 1) * p.width;
    float *xx = row(0, y), *yy = row(1, y), *xy = row(2, y);
    in_vectors(1, p.width - 1, [&](std::int64_t x) {
      const Three a = around(above + x), b = around(below + x);
      const V ix = c * ((b.left - a.left) + (b.right - a.right) + two * (b.middle - a.middle));
      const V iy =
          c * ((a.right - a.left) + (b.right - b.left) + two * (load(here + x + 1) - load(here + x - 1)));
      store(xx + x, ix * ix), store(yy + x, iy * iy), store(xy + x, ix * iy);
    });
  };
  const auto frame = [&](std::int64_t y) { std::fill_n(p.out + y * p.width, p.width, 0.f); };
  std::int64_t known = first - 2;  // the last row of products that there is
  for (std::int64_t y = first; y < last; ++y) {
    if (y < 2 || y >= p.height - 2) {
      frame(y);
      continue;
    }
    for (known = std::max(known, y - 2); known < y + 1; ++known) products(known + 1);
    const auto sum_at = [&](int product, std::int64_t x) {
      const Three a = around(row(product, y - 1) + x), b = around(row(product, y) + x),
                  d = around(row(product, y + 1) + x);
      return (a.left + a.middle + a.right) + (b.left + b.middle + b.right) + (d.left + d.middle + d.right);
    };
    float* out = p.out + y * p.width;
    out[0] = out[1] = out[p.width - 2] = out[p.width - 1] = 0;
    in_vectors(2, p.width - 2, [&](std::int64_t x) {
      const V xx = sum_at(0, x), yy = sum_at(1, x), xy = sum_at(2, x), trace = xx + yy;
      store(out + x, xx * yy - xy * xy - k * trace * trace);
    });
  }
}

}  // namespace by_hand
