// Local Laplacian filters: details are strengthened and contrasts compressed without halos around edges (Paris,
// Hasinoff and Kautz, SIGGRAPH 2011). A level of the result's Laplacian pyramid is that of the picture after a curve
// around the brightness of each pixel; the curves are those of a few brightnesses, and pixels between two of them take
// from both. The pyramids of all of them are volumes, whose third dimension is the curve.
#include <weft/weft.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace weft;

namespace {

/// A level of the pyramids, at a curve that is computed or known.
using Remapped = std::function<Expr(const Index& x, const Index& y, const Expr& k)>;
using Plane = std::function<Expr(const Index& x, const Index& y, const Index& k)>;

Extents halved(const Extents& e) { return {(e[0] + 1) / 2, (e[1] + 1) / 2}; }

/// [1 3 3 1] / 8 between the pixels 2 n and 2 n + 1.
Expr reduced(const Index& n, const std::function<Expr(const Index&)>& f) {
  return (f(2 * n - 1) + 3.f * (f(2 * n) + f(2 * n + 1)) + f(2 * n + 2)) / 8.f;
}

/// f at twice the resolution: three quarters of the nearest pixel and one of the next.
Expr expanded(const Index& n, const std::function<Expr(const Index&)>& f) {
  const Index nearest = n / 2,
              next = 2 * n - 1 - 3 * nearest;  // n / 2 - 1 where n is even, n / 2 + 1 where it is odd
  return .75f * f(nearest) + .25f * f(next);
}
Expr expanded(const Index& x, const Index& y, const Remapped& coarse, const Expr& k) {
  return expanded(
      y, [&](const Index& m) { return expanded(x, [&](const Index& n) { return coarse(n, m, k); }); });
}

std::string level_name(const std::string& function, int level) { return function + std::to_string(level); }

}  // namespace

WEFT_PIPELINE(local_laplacian, {.summary = "strengthens details, compresses contrasts, keeps edges",
                                .source = "Paris et al., SIGGRAPH 2011",
                                .size = "2560x1536",
                                .range = 1}) {
  Image<Vec<float, 3>> in("in");
  const Option<int> levels("levels", 8, at_least(1));
  const Option<int> curves("curves", 8, at_least(2));
  const Param<float> alpha("alpha", 1.f),
      beta("beta", 1.f);  // how much details, and contrasts, are strengthened
  const Border edge = Border::clamp();
  constexpr int steps = 256;  // of a curve's table between two brightnesses
  const int last = curves - 1;

  std::vector<Extents> sizes{in.size()};
  for (int l = 1; l < levels; ++l) sizes.push_back(halved(sizes.back()));

  Stage detail = stage("detail", BoxAt{{-last * steps}, {2 * last * steps + 1}}, [&](Var x) {
    const Expr distance = cast<float>(x) / static_cast<float>(steps);
    return alpha / static_cast<float>(last) * distance * exp(-.5f * distance * distance);
  });
  Stage gray = point("gray", .299f * in.lane(0) + .587f * in.lane(1) + .114f * in.lane(2));

  // The picture after each curve, and its pyramid.
  const Accessor brightness = gray.border(edge), details = detail.border(edge);
  std::vector<Remapped> g{[&](const Index& x, const Index& y, const Expr& k) {
    const Expr v = brightness(x, y), centre = cast<float>(k) * (1.f / static_cast<float>(last));
    const Expr place = clamp(cast<int>(v * static_cast<float>(last * steps)), 0, last * steps);
    return beta * (v - centre) + centre + details(place - steps * cast<int>(k));
  }};
  Plane finer = g[0];
  for (int l = 1; l < levels; ++l) {
    const Extents& size = sizes[l];
    Stage rows = stage(level_name("gx", l), {size[0], sizes[l - 1][1], curves}, [&](Var x, Var y, Var z) {
      return reduced(x, [&](const Index& n) { return finer(n, y, z); });
    });
    const Accessor row = rows.border(edge);
    const Accessor level = stage(level_name("g", l), {size[0], size[1], curves}, [&](Var x, Var y, Var z) {
                             return reduced(y, [&](const Index& n) { return row(x, n, z); });
                           }).border(edge);
    finer = [=](const Index& x, const Index& y, const Index& k) { return level(x, y, k); };
    g.push_back([=](const Index& x, const Index& y, const Expr& k) { return level(x, y, k); });
  }

  // The picture's own pyramid.
  std::vector<Stage> own{gray};
  for (int l = 1; l < levels; ++l) {
    const Accessor before = own.back().border(edge);
    const Extents& size = sizes[l];
    Stage rows = stage(level_name("ownx", l), {size[0], sizes[l - 1][1]}, [&](Var x, Var y) {
      return reduced(x, [&](const Index& n) { return before(n, y); });
    });
    const Accessor row = rows.border(edge);
    own.push_back(stage(level_name("own", l), size,
                        [&](Var x, Var y) { return reduced(y, [&](const Index& n) { return row(x, n); }); }));
  }

  // Of the two curves next to a pixel's brightness: what the level has that the coarser one has not.
  Stage out = gray;
  for (int l = levels - 1; l >= 0; --l) {
    const bool is_coarsest = l + 1 == levels;
    const Accessor coarser = out.border(edge);
    out = stage(level_name("out", l), sizes[l], [&](Var x, Var y) {
      const Expr place = own[l](x, y) * static_cast<float>(last);
      const Expr k = clamp(cast<int>(place), 0, last - 1);
      const auto band = [&](const Expr& curve) {
        const Expr level = g[l](x, y, curve);
        return is_coarsest ? level : level - expanded(x, y, g[l + 1], curve);
      };
      const Expr own_band = lerp(band(k), band(k + 1), place - cast<float>(k));
      if (is_coarsest) return own_band;
      return own_band + expanded(y, [&](const Index& m) {
               return expanded(x, [&](const Index& n) { return coarser(n, m); });
             });
    });
  }
  constexpr float least = .01f;  // dark colours are not divided by 0
  Stage result = point("result", out * (in + least) / (gray + least));
  return Outputs(result).strict();  // the last bit decides which place in the table is read
}
