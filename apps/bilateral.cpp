#include <weft/weft.hpp>

#include <cmath>
#include <string>

using namespace weft;

WEFT_PIPELINE(bilateral, {.summary = "13x13 smoothing that keeps edges",
                          .source = "Hipacc thesis, ch. 3",
                          .size = "2048x2048"}) {
  Image<float> in("in");
  const Option<double> sigma_d("sigma_d", 3.0);
  const Param<float> sigma_r("sigma_r", 16.f);
  const Option<std::string> window("window", "square", {"square", "disc"});  // OpenCV's is the disc
  const Domain taps = window.value() == "disc" ? Domain::disc(6) : Domain(13, 13);

  auto src = in.border(border_option());
  const Mask closeness = Mask::from(13, 13, [&](int dx, int dy) {
    return static_cast<float>(std::exp(-(dx * dx + dy * dy) / (2 * sigma_d * sigma_d)));
  });
  const Expr c = -1.f / (2.f * sigma_r * sigma_r);
  return stage("bilateral", in.size(), [&](Var x, Var y) {
    Accum<float> d = 0, p = 0;
    for_each(taps, [&](Tap t) {
      Expr v = src(x + t.x, y + t.y), diff = v - src(x, y);
      Expr w = closeness(t) * exp(c * diff * diff);
      d += w;
      p += w * v;
    });
    return p / d;
  });
}
