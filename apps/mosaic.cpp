#include <weft/weft.hpp>

#include <string>

using namespace weft;

WEFT_PIPELINE(mosaic, {.summary = "the left of one image and the right of another, without a seam",
                       .source = "Hipacc thesis, ch. 4",
                       .size = "2048x2048"}) {
  Image<float> a("a"), b("b", a.size());
  const Option<int> levels("levels", 4);
  const Border border = border_option("mirror");

  Stage mask = stage("m0", a.size(), [&](Var x, Var) { return select(x < a.width() / 2, 1.f, 0.f); });
  const auto reduce = binomial_reduce(border);
  const Pyramid ga("a", a, levels, reduce), gb("b", b, levels, reduce), gm("m", mask, levels, reduce);
  const auto band = [&](const std::string& name, const Pyramid& g, int level) -> Expr {
    if (level + 1 == g.levels()) return g[level];
    return g[level] - expand_level(name, g[level + 1].border(border), g[level].size());
  };
  const Pyramid blend("blend", levels, [&](const std::string& name, int level) -> Source {
    const Expr m = gm[level];
    return point(name, m * band(name + "_a", ga, level) + (1.f - m) * band(name + "_b", gb, level));
  });
  return blend.collapse("out", expand_and_add(border));
}
