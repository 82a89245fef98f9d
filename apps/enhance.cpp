#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(enhance, {.summary = "denoises and brightens a dark image",
                        .source = "Hipacc thesis, ch. 3",
                        .size = "2048x2048"}) {
  Image<float> in("in");
  const Option<std::string> kind("mean", "geometric", {"geometric", "arithmetic"});
  const Param<float> gain("gain", 2.f);

  auto src = in.border(border_option());
  Stage mean = stage("mean", in.size(), [&](Var x, Var y) -> Expr {
    const Domain window(3, 3);
    if (kind.value() == "arithmetic") return sum(window, [&](Tap t) { return src(x + t.x, y + t.y); }) / 9.f;
    Expr logs = sum(window, [&](Tap t) { return log(src(x + t.x, y + t.y) + 1.f); });
    return max(0.f, exp(logs / 9.f) - 1.f);
  });
  Stage bright = point("bright", mean * gain);
  return point("gamma", 255.f * pow(bright / 255.f, 0.6f));
}
