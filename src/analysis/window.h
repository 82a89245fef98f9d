// Windows: what a stage reads around its own pixel.
//
//     in(x - 1, y) + in(x + 1, y)        columns [-1, 1] of the row [0, 0]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/footprint.h"

namespace weft::analysis {

/// The offsets from a pixel, both ends included, at which something is read in one dimension.
struct Reach {
  std::int64_t min = 0, max = 0;
  std::int64_t extent() const { return max - min + 1; }
  bool operator==(const Reach&) const = default;
};
using Window = std::vector<Reach>;  ///< Per dimension, x first.

/// Nothing unless it is around the reader's own pixel: point and local patterns.
std::optional<Window> window_of(const Footprint& footprint);
Window hull(const Window& a, const Window& b);  ///< Of one rank.
/// What is read in all, if `read` is read around each of `pixels`. An image may have fewer dimensions than
/// its reader.
Window read_around(const Window& pixels, const Window& read);
bool is_one_pixel(const Window& window);  ///< Of offset 0.
std::int64_t pixels_in(const Window& window);

}  // namespace weft::analysis
