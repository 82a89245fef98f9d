#include <weft/weft.hpp>

#include <string>

using namespace weft;

WEFT_PIPELINE(mosaic, {.summary = "the left of one image and the right of another, without a seam",
                       .source = "Hipacc thesis, ch. 4"}) {
  Image<float> a("a"), b("b", a.size());
  const Option<int> levels("levels", 4);
  const Border border = border_option("mirror");

  const auto gaussian = [&](const char* stem, const Source& base) {
    return Pyramid(stem, base, levels, [&](const std::string& name, const Source& finer) {
      return reduce_level(name, finer.border(border));
    });
  };
  const auto expanded = [&](const std::string& name, const Source& coarser, const Source& like) {
    return expand_level(name, coarser.border(border), like.size());
  };
  Stage mask = stage("m0", a.size(), [&](Var x, Var) { return select(x < a.width() / 2, 1.f, 0.f); });
  const Pyramid ga = gaussian("a", a), gb = gaussian("b", b), gm = gaussian("m", mask);
  const auto band = [&](const std::string& name, const Pyramid& g, int level) -> Expr {
    if (level + 1 == g.levels()) return g[level];
    return g[level] - expanded(name, g[level + 1], g[level]);
  };
  const Pyramid blend("blend", levels, [&](const std::string& name, int level) -> Source {
    const Expr m = gm[level];
    return point(name, m * band(name + "_a", ga, level) + (1.f - m) * band(name + "_b", gb, level));
  });
  return blend.collapse("out", [&](const std::string& name, const Source& level, const Source& coarser) {
    return point(name, level + expanded(name + "_up", coarser, level));
  });
}
