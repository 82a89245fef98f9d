// What a careful programmer writes for one machine: `sobel`, `harris_corner` and `gaussian` in vectors, with threads that
// are always awake. small_images.cpp times Weft beside it.
#pragma once

#include <cstdint>

namespace by_hand {

/// Dense rows. All borders are those of the applications: the nearest pixel.
template <class T>
struct Picture {
  const T* in;
  T* out;
  std::int64_t width, height;
};

/// Rows [first, last) of the result.
void sobel(const Picture<float>& picture, std::int64_t first, std::int64_t last);
void harris_corner(const Picture<float>& picture, std::int64_t first, std::int64_t last);
void gaussian(const Picture<std::uint8_t>& picture, std::int64_t first, std::int64_t last);

}  // namespace by_hand
