#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(chromatic_aberration, {.summary = "red shrinks and blue grows around the centre",
                                     .source = "Hipacc thesis",
                                     .size = "2048x2048"}) {
  Image<Vec<float, 3>> in("in");
  auto src = in.border(border_option()).interpolate(Interpolation::Bilinear);
  const Expr cx = cast<float>(in.width() - 1) / 2.f, cy = cast<float>(in.height() - 1) / 2.f;
  return stage("chromatic_aberration", in.size(), [&](Var x, Var y) {
    const auto channel = [&](int c) {
      const float scale = 1.f + 0.01f * static_cast<float>(c - 1);
      return src(cx + (x - cx) * scale, cy + (y - cy) * scale).lane(c);
    };
    return pack(channel(0), channel(1), channel(2));
  });
}
