// The first benchmark of the warp-tiling paper. Its x is the row: blurx goes down the columns. Around its
// images are zeros, which brightens a frame of two pixels: border=constant. Pictures are continued by their
// edges.
#include <weft/weft.hpp>

#include <cmath>
#include <numbers>

using namespace weft;

namespace {

/// Each channel on its own.
Stage by_channel(const Image<Vec<float, 3>>& in) {
  const Param<float> threshold("threshold", 0.001f), weight("weight", 4.f);
  const Mask row = Mask{{1, 4, 6, 4, 1}} / 16.f;
  const Border border = border_option();

  Stage blurx = convolve("blurx", in.border(border), row.transposed());
  Stage blury = convolve("blury", blurx.border(border), row);
  Stage sharpen = point("sharpen", (1 + weight) * in - weight * blury);
  return point("mask", select(abs(in - blury) < threshold, in, sharpen));
}

/// Halide's example of the same name: the luminance is sharpened, and the colours follow it.
Stage by_luminance(const Image<Vec<float, 3>>& in) {
  const double sigma = 1.5;
  const Mask row = Mask::from(7, 1, [&](int dx, int) {  // sums to a little less than 1, as there
    return static_cast<float>(std::exp(-dx * dx / (2 * sigma * sigma)) /
                              (std::sqrt(2 * std::numbers::pi) * sigma));
  });
  const Border edge = Border::clamp();

  Stage gray = point("gray", dot(in, Vec<float, 3>{.299f, .587f, .114f}));
  Stage blur_y = convolve("blur_y", gray.border(edge), row.transposed());
  Stage blur_x = convolve("blur_x", blur_y.border(edge), row);
  Stage sharpen = point("sharpen", 2.f * gray - blur_x);
  Stage ratio = point("ratio", sharpen / gray);
  return point("unsharp", ratio * in);
}

}  // namespace

WEFT_PIPELINE(unsharp_mask, {.summary = "sharpens where the picture is not smooth",
                             .source = "warp-tiling paper",
                             .size = "4256x2832",
                             .range = 1}) {
  Image<Vec<float, 3>> in("in");
  const Option<std::string> variant("variant", "polymage", {"polymage", "halide"});
  return variant.value() == "halide" ? by_luminance(in) : by_channel(in);
}
