// What a careful programmer writes for one machine: `sobel` and `harris_corner` in vectors, with threads that
// are always awake. small_images.cpp times Weft beside it.
#pragma once

#include <cstdint>

namespace by_hand {

/// Dense rows. All borders are those of the applications: the nearest pixel.
struct Picture {
  const float* in;
  float* out;
  std::int64_t width, height;
};

/// Rows [first, last) of the result.
void sobel(const Picture& picture, std::int64_t first, std::int64_t last);
void harris_corner(const Picture& picture, std::int64_t first, std::int64_t last);

}  // namespace by_hand
