#include <weft/weft.hpp>

using namespace weft;

namespace {

Expr luminance(const Expr& rgb) { return .299f * rgb.lane(0) + .587f * rgb.lane(1) + .114f * rgb.lane(2); }

}  // namespace

WEFT_PIPELINE(unsharp, {.summary = "sharpens by the blurred luminance",
                        .source = "Hipacc thesis, ch. 3",
                        .size = "2048x2048"}) {
  Image<Vec<std::uint8_t, 3>> in("in");
  auto src = in.border(border_option());
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;

  Stage blur = stage("blur", in.size(), [&](Var x, Var y) {
    return sum(Domain(b3), [&](Tap t) { return b3(t) * luminance(src(x + t.x, y + t.y)); });
  });
  Stage sharpen = point("sharpen", 2.f * luminance(in) - blur);
  Stage ratio = point("ratio", sharpen / max(luminance(in), 0.01f));
  return point("out", saturate<std::uint8_t>(in * ratio));
}
