// What the sensor of camera_pipe would have seen: the raw image that becomes such a picture.
#include <weft/weft.hpp>

using namespace weft;

namespace {

/// The inverse of the tone curve without contrast: 0 to 1023, in proportion to light.
Expr light(const Expr& rgb) { return cast<float>(rgb) * cast<float>(rgb) * (1023.f / (255.f * 255.f)); }

/// The inverse of camera_pipe's matrix at 3700 K, which turns what the sensor sees into the colours of a
/// screen.
Expr sensor(const Expr& rgb) {
  const Expr r = rgb.lane(0) + 39.9f, g = rgb.lane(1) + 28.3f, b = rgb.lane(2) + 21.7f;
  return pack(.4886f * r + .1261f * g - .0126f * b, .1174f * r + .6851f * g - .0483f * b,
              .0512f * r + .2062f * g + .2756f * b);
}

}  // namespace

WEFT_PIPELINE(bayer_mosaic, {.summary = "raw values of a sensor, 10 bits, GRBG, from a picture",
                             .source = "examples",
                             .range = 1023}) {
  Image<Vec<std::uint8_t, 3>> in("in");
  return stage("raw", in.size(), [&](Var x, Var y) {
    const Expr seen = saturate<std::uint16_t>(clamp(sensor(light(in(x, y))), 0.f, 1023.f));
    const Expr even = select(x % 2 == 0, seen.lane(1), seen.lane(0));
    const Expr odd = select(x % 2 == 0, seen.lane(2), seen.lane(1));
    return select(y % 2 == 0, even, odd);
  });
}
