#include <weft/weft.hpp>

using namespace weft;

// P. Perona and J. Malik, "Scale-space and edge detection using anisotropic diffusion", PAMI 12(7), 1990: in each step a pixel
// takes a part of what its four neighbours differ from it, the less the more they differ.
WEFT_PIPELINE(diffusion, {.summary = "removes noise and keeps edges, by anisotropic diffusion",
                          .source = "Perona and Malik 1990",
                          .size = "2048x2048"}) {
  Image<std::uint8_t> in("in");
  const Option<int> steps("steps", 4, at_least(0));
  const Option<double> edge("edge", 16.0, at_least(1));  // differences that are half noise, half edge
  const float sharpness = 1.f / static_cast<float>(edge.value() * edge.value());

  Field<float> light("light", point("start", cast<float>(in)));
  const Accessor around = light.border(border_option());
  Stage smooth = evolve("smooth", light, steps.value(), [&](Var x, Var y) {
    const auto from = [&](int dx, int dy) {
      const Expr difference = around(x + dx, y + dy) - light(x, y);
      return difference / (1.f + sharpness * (difference * difference));
    };
    return light(x, y) + .2f * (from(-1, 0) + from(1, 0) + from(0, -1) + from(0, 1));
  });
  return point("out", saturate<std::uint8_t>(smooth));
}
