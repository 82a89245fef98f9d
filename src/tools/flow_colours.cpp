#include "tools/flow_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "tools/scalars.h"

namespace weft::tools {
namespace {

/// Red, green and blue from 0 to 1: the hue of a direction, mixed with white.
std::array<double, 3> colour_of(double dx, double dy, double longest) {
  const double length = std::hypot(dx, dy);
  if (!std::isfinite(length)) return {0, 0, 0};
  const double saturation = longest > 0 ? std::min(length / longest, 1.) : 0;
  const double hue = std::atan2(dy, dx) / (2 * std::numbers::pi) * 6;  // in sixths of the circle
  std::array<double, 3> rgb{};
  for (int c = 0; c < 3; ++c) {  // each is full within a sixth of its own hue, and none beyond two
    const double away = std::abs(std::remainder(hue - 2 * c, 6));
    rgb[c] = 1 - saturation * (1 - std::clamp(2 - away, 0., 1.));
  }
  return rgb;
}

}  // namespace

Buffer flow_colours(const Buffer& offsets, Scalar scalar, double longest) {
  Buffer picture = Buffer::allocate({scalar, 3}, offsets.extents());
  with_scalar(offsets.type().scalar, [&]<class From>(From) {
    with_scalar(scalar, [&]<class To>(To) {
      if constexpr (std::is_integral_v<To>) {
        const From* from = static_cast<const From*>(offsets.data());
        To* to = static_cast<To*>(picture.data());
        for (std::int64_t i = 0; i < offsets.pixels(); ++i, from += 2, to += 3) {
          const auto rgb = colour_of(static_cast<double>(from[0]), static_cast<double>(from[1]), longest);
          for (int c = 0; c < 3; ++c)
            to[c] = static_cast<To>(rgb[c] * static_cast<double>(std::numeric_limits<To>::max()) + .5);
        }
      }
    });
  });
  return picture;
}

Buffer lengths_of(const Buffer& offsets) {
  Buffer lengths = Buffer::allocate({Scalar::F64, 1}, {offsets.pixels(), 1});
  with_scalar(offsets.type().scalar, [&]<class From>(From) {
    const From* from = static_cast<const From*>(offsets.data());
    auto* to = static_cast<double*>(lengths.data());
    for (std::int64_t i = 0; i < offsets.pixels(); ++i, from += 2)
      to[i] = std::hypot(static_cast<double>(from[0]), static_cast<double>(from[1]));
  });
  return lengths;
}

std::string flow_legend(double longest) {
  return fmt::format("direction as hue (right is red, left cyan), length as colour (full from {:.3g} on)",
                     longest);
}

}  // namespace weft::tools
