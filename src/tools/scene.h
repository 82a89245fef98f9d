// Synthetic pictures, for demonstrations, tests and benchmarks: the same for the same size and seed, on every
// machine.
#pragma once

#include <weft/buffer.h>

#include <cstdint>

#include "tools/arguments.h"

namespace weft::tools {

/// A tiny generator of uniform numbers (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  ///< In [0, 1).

 private:
  std::uint64_t state_;
};

// 8-bit RGB.
Buffer draw_scene(const PictureSize& size, std::uint64_t seed);  ///< Edges, corners, texture and soft light.
Buffer draw_noise(const PictureSize& size, std::uint64_t seed);
Buffer draw_gradient(const PictureSize& size);

/// Uniformly random pixels: all values of integers, 0 … range for floats, with the extremes among them.
Buffer random_image(Type type, const PictureSize& size, double range, Random& random);

/// Throws weft::Error if this machine's memory cannot hold `count` such pictures.
void check_memory(const PictureSize& size, std::int64_t bytes_per_pixel, std::int64_t count);

}  // namespace weft::tools
