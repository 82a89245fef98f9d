#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(laplace, {.summary = "5x5 Laplace operator around 128", .source = "Hipacc thesis, ch. 3"}) {
  Image<std::uint8_t> in("in");
  auto src = in.border(border_option());
  const Mask mask = Mask::from(5, 5, [](int dx, int dy) { return dx == 0 && dy == 0 ? -24 : 1; });
  return stage("laplace", in.size(), [&](Var x, Var y) {
    Expr curvature = sum(Domain(mask), [&](Tap t) { return mask(t) * src(x + t.x, y + t.y); });
    return saturate<std::uint8_t>(curvature + 128);
  });
}
