// The pixels that random pipelines run on.
#pragma once

#include <weft/buffer.h>

#include "fuzz/random.h"
#include "fuzz/recipe.h"

namespace weft::fuzz {

/// Modest floats are at most this large.
constexpr double largest_modest = 8;

/// What parameters are set to.
constexpr int least_parameter = -2, most_parameter = 8;

/// Integers: any bit pattern, the ends of the range, 0, 1 and -1 more often than others. Floats: modest
/// numbers, many of them multiples of 1/16; in a special image also infinities and NaN; in an extreme image
/// zeros, subnormals and numbers around the ends of the integer types as well.
Buffer random_pixels(const Image& image, const std::vector<std::int64_t>& extents, Random& random);

}  // namespace weft::fuzz
