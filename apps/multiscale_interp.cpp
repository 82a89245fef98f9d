// The fourth benchmark of the warp-tiling paper: pixels that are transparent take the colours around them,
// from as coarse a level of a pyramid as it takes. Its x is the row: Dx and Ux change the height.
#include <weft/weft.hpp>

#include <string>
#include <vector>

using namespace weft;

namespace {

std::string level(const char* name, int l) { return name + std::to_string(l); }

/// Half as large: [1 2 1] / 4 at every other pixel, down the columns and then along the rows.
Stage halve(const Stage& fine, int l) {
  const Border zero = Border::constant(0);
  const Accessor f = fine.border(zero);
  Stage Dx = stage(level("Dx", l), {fine.width(), fine.height() / 2},
                   [&](Var x, Var y) { return (f(x, 2 * y - 1) + 2 * f(x, 2 * y) + f(x, 2 * y + 1)) / 4; });
  const Accessor d = Dx.border(zero);
  return stage(level("D", l), fine.size() / 2,
               [&](Var x, Var y) { return (d(2 * x - 1, y) + 2 * d(2 * x, y) + d(2 * x + 1, y)) / 4; });
}

/// D, and beneath its transparent parts the coarser level.
Stage over(const Stage& D, const Stage& coarse, int l) {
  const Border zero = Border::constant(0);
  const Accessor t = coarse.border(zero);
  Stage Ux = stage(level("Ux", l), {coarse.width(), D.height()},
                   [&](Var x, Var y) { return (t(x, y / 2) + t(x, (y + 1) / 2)) / 2; });
  const Accessor u = Ux.border(zero);
  return stage(level("T", l), D.size(), [&](Var x, Var y) {
    const Expr d = D(x, y);
    return d + (1 - d.lane(3)) * ((u(x / 2, y) + u((x + 1) / 2, y)) / 2);
  });
}

}  // namespace

WEFT_PIPELINE(multiscale_interp, {.summary = "fills transparent parts with the colours around them",
                                  .source = "warp-tiling paper",
                                  .size = "2560x1536",
                                  .range = 1}) {
  Image<Vec<float, 4>> in("in");
  const Option<int> levels("levels", 10, between(1, 20));
  const Option<std::string> alpha("alpha", "squared", {"squared", "plain"});  // "squared" as published

  const Expr rgba = in, a = in.lane(3);
  const Expr premultiplied = rgba * a;
  std::vector<Stage> D{
      point("D0", alpha.value() == "squared"
                      ? premultiplied
                      : pack(premultiplied.lane(0), premultiplied.lane(1), premultiplied.lane(2), a))};
  for (int l = 1; l < levels; ++l) D.push_back(halve(D.back(), l));
  Stage T = D.back();
  for (int l = levels - 2; l >= 0; --l) T = over(D[l], T, l);
  const Expr rgb = pack(T.lane(0), T.lane(1), T.lane(2));
  return point("out", select(T.lane(3) == 0.f, 0.f, rgb / T.lane(3)));
}
