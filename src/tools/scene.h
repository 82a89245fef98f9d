// Synthetic pictures, for demonstrations, tests and benchmarks: the same for the same size and seed, on every
// machine.
#pragma once

#include <weft/buffer.h>

#include <cstdint>

#include "fuzz/random.h"
#include "tools/sizes.h"

namespace weft::tools {

// 8-bit RGB. All but the blobs are of 2 dimensions.
Buffer draw_scene(const Size& size, std::uint64_t seed);  ///< Edges, corners, texture and soft light.
Buffer draw_blobs(const Size& size, std::uint64_t seed);  ///< Soft spots and weak noise, any dimensions.
Buffer draw_noise(const Size& size, std::uint64_t seed);
Buffer draw_gradient(const Size& size);

/// Uniformly random pixels: all values of integers, 0 … range for floats, with the extremes among them.
Buffer random_image(Type type, const Size& size, double range, fuzz::Random& random);

}  // namespace weft::tools
