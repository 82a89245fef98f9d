// Random pixels, and how far those that were computed are from those that were expected: what bench_kit.h fills images with
// and compares. Nothing of Weft or CUDA is needed to compile it.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace kit {

// ---- random pixels ---------------------------------------------------------------------------------------

/// Uniform numbers (splitmix64), the same for the same seed everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return (double)(bits() >> 11) * 0x1p-53; }  ///< In [0, 1).

 private:
  uint64_t state_;
};

/// All values of integers; 0 … range of floats. Every sixteenth is the least or the largest of them.
template <class T>
T random_value(Random& random, double range) {
  const uint64_t bits = random.bits();
  const bool extreme = bits % 16 == 0, high = bits >> 63;
  if constexpr (std::is_floating_point_v<T>) {
    return (T)(extreme ? (high ? range : 0) : range * random.uniform());
  } else if constexpr (std::is_same_v<T, bool>) {
    return high;
  } else {
    if (extreme) return high ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    return (T)(bits >> 4);
  }
}

/// Of a picture instead: neighbours are alike, by a wave along x and one along y with a little grain. Within the same range.
template <class T>
T smooth_value(Random& random, double range, int64_t x, int64_t y) {
  const double level = 0.5 + 0.24 * std::sin((double)x / 77) + 0.24 * std::sin((double)y / 59) +
                       0.02 * (random.uniform() - 0.5);
  if constexpr (std::is_floating_point_v<T>) return (T)(range * level);
  if constexpr (std::is_same_v<T, bool>) return level > 0.5;
  const double least = (double)std::numeric_limits<T>::min(), most = (double)std::numeric_limits<T>::max();
  return (T)(least + level * (most - least));
}

// ---- comparison ------------------------------------------------------------------------------------------

/// What was found about one output.
struct Comparison {
  int64_t pixels = 0, wrong = 0;
  int64_t off_by_one = 0;  ///< Integers that a rounding explains.
  double worst = 0;        ///< Floats: the least relative tolerance that would do.
  std::string first;       ///< "(3, 0): expected 7, found 9", of the first wrong pixel.

  bool equal() const { return wrong == 0 && off_by_one <= std::max<int64_t>(1, pixels / 1000); }
};

/// Floats may differ by so much, times 1 + |expected| + largest |expected| / 100; C++ and CUDA round sums and
/// products in other places.
constexpr double tolerance = 1e-4;

inline double deviation(double expected, double found, double largest) {
  if (expected == found || (std::isnan(expected) && std::isnan(found))) return 0;
  const double d = std::abs(found - expected) / (1 + std::abs(expected) + largest / 100);
  return std::isnan(d) ? INFINITY : d;
}

/// Compares scalars; `rounded` integers come from floats and may be off by one.
template <class T>
class Judge {
 public:
  Judge(const T* expected, int64_t count, bool rounded) : rounded_(rounded && !std::is_same_v<T, bool>) {
    for (int64_t i = 0; i < count; ++i) {
      const double v = std::abs((double)expected[i]);
      if (std::is_floating_point_v<T> && std::isfinite(v)) largest_ = std::max(largest_, v);
    }
  }

  /// Whether a pixel of `lanes` scalars is right. Notes in `result` how far it is off.
  bool accepts(const T* expected, const T* found, int lanes, Comparison& result) const {
    bool right = true, off_by_one = false;
    for (int l = 0; l < lanes; ++l) {
      if constexpr (std::is_floating_point_v<T>) {
        const double d = deviation(expected[l], found[l], largest_);
        result.worst = std::max(result.worst, d);
        right = right && d <= tolerance;
      } else if (expected[l] != found[l]) {
        const uint64_t low = (uint64_t)std::min(expected[l], found[l]),
                       high = (uint64_t)std::max(expected[l], found[l]);
        const bool forgiven = rounded_ && high - low == 1;
        off_by_one = off_by_one || forgiven;
        right = right && forgiven;
      }
    }
    result.off_by_one += right && off_by_one;
    return right;
  }

 private:
  bool rounded_;
  double largest_ = 0;
};

template <class T>
std::string pixel_text(const T* pixel, int lanes) {
  std::ostringstream text;
  text.precision(9);
  for (int l = 0; l < lanes; ++l) text << (l ? ", " : lanes > 1 ? "(" : "") << +pixel[l];
  return text.str() + (lanes > 1 ? ")" : "");
}

inline std::string place_text(const std::vector<int64_t>& extents, int64_t pixel) {
  std::string text;
  for (int64_t extent : extents) {
    text += (text.empty() ? "" : ", ") + std::to_string(pixel % extent);
    pixel /= extent;
  }
  return "(" + text + ")";
}

}  // namespace kit
