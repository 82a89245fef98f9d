// Images made from a seed: the same on every machine.
#pragma once

#include <weft/buffer.h>

#include <cstdint>
#include <vector>

namespace weft::testing_support {

/// Noise over a gradient with edges, values of 0 … 255 in every type: what the applications work on.
Buffer picture(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed);

/// Every bit pattern of an integer type is as likely as any other, but for its ends, 0, 1 and -1, which are
/// frequent. Floats are small numbers of either sign.
Buffer noise(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed);

/// Floats of any size, with NaNs, infinities, denormals, ties and the ends of all integer types among them.
Buffer extreme_floats(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed);

}  // namespace weft::testing_support
