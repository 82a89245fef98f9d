#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(gradient2d, {.summary = "adds the inverse length of the differences",
                           .source = "stencils",
                           .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  return stencil.evolve("gradient2d", [&](Var x, Var y) {
    Expr c = u(x, y);
    Expr n = c - u(x, y - 1), s = c - u(x, y + 1), e = c - u(x + 1, y), w = c - u(x - 1, y);
    return c + 1.f / sqrt(0.0001f + n * n + s * s + e * e + w * w);
  });
}
