#include <weft/weft.hpp>

#include <cmath>
#include <string>

using namespace weft;

namespace {

/// 5x5 bilateral filter.
Stage smoothed(const std::string& name, const Accessor& src, double sigma_d, double sigma_r) {
  const Mask closeness = Mask::from(5, 5, [&](int dx, int dy) {
    return static_cast<float>(std::exp(-(dx * dx + dy * dy) / (2 * sigma_d * sigma_d)));
  });
  const auto c = static_cast<float>(-1 / (2 * sigma_r * sigma_r));
  return stage(name, src.size(), [&](Var x, Var y) {
    Accum<float> d = 0, p = 0;
    for_each(Domain(closeness), [&](Tap t) {
      Expr v = src(x + t.x, y + t.y), diff = v - src(x, y);
      Expr w = closeness(t) * exp(c * diff * diff);
      d += w;
      p += w * v;
    });
    return p / d;
  });
}

/// The length of the gradient, by central differences.
Stage slope(const std::string& name, const Accessor& src) {
  return stage(name, src.size(), [&](Var x, Var y) {
    Expr dx = (src(x + 1, y) - src(x - 1, y)) / 2.f, dy = (src(x, y + 1) - src(x, y - 1)) / 2.f;
    return sqrt(dx * dx + dy * dy);
  });
}

}  // namespace

WEFT_PIPELINE(gradient, {.summary = "smooths the bands of a Laplacian pyramid where there is no edge",
                         .source = "Hipacc thesis, ch. 4",
                         .size = "2048x2048"}) {
  Image<float> in("in");
  const Option<int> levels("levels", 4);
  const Param<float> kappa("kappa", 10.f);
  const Border border = border_option("mirror");
  return traverse(in, levels,
                  {.reduce = binomial_reduce(border),
                   .filter = [&](const std::string& name, const Pyramid& g, int level) -> Source {
                     if (level + 1 == g.levels()) return g[level];
                     Stage up = expand_level(name + "_up", g[level + 1].border(border), g[level].size());
                     Stage band = point(name + "_band", g[level] - up);
                     Stage smooth =
                         smoothed(name + "_smooth", band.border(border), 1.5, std::ldexp(16, -level));
                     Stage m = slope(name + "_slope", g[level].border(border));
                     Expr keep = m / (m + kappa);
                     return point(name, band * keep + smooth * (1.f - keep));
                   },
                   .expand = expand_and_add(border)});
}
