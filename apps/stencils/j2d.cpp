// Jacobi stencils with weights that all differ. The weights add up to .42, .70 and .70: the field dies away.
#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(j2d5pt, {.summary = "5 weighted pixels", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  return stencil.evolve("j2d5pt", [&](Var x, Var y) {
    return (5.1f * u(x, y - 1) + 12.1f * u(x - 1, y) + 15.f * u(x, y) + 12.2f * u(x + 1, y) +
            5.2f * u(x, y + 1)) /
           118.f;
  });
}

WEFT_PIPELINE(j2d9pt,
              {.summary = "9 weighted pixels in a cross", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2, 2);
  const Accessor u = stencil.before();
  return stencil.evolve("j2d9pt", [&](Var x, Var y) {
    return (7.1f * u(x, y - 2) + 5.1f * u(x, y - 1) + 9.2f * u(x - 2, y) + 12.1f * u(x - 1, y) +
            15.f * u(x, y) + 12.2f * u(x + 1, y) + 9.1f * u(x + 2, y) + 5.2f * u(x, y + 1) +
            7.2f * u(x, y + 2)) /
           118.f;
  });
}

WEFT_PIPELINE(j2d9pt_gol,
              {.summary = "9 weighted pixels in a square", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  const Mask weights = {{7.1f, 5.1f, 9.2f}, {12.1f, 15.f, 12.2f}, {9.1f, 5.2f, 7.2f}};
  return stencil.evolve("j2d9pt_gol", [&](Var x, Var y) {
    return sum(Domain(weights), [&](Tap t) { return weights(t) * u(x + t.x, y + t.y); }) / 118.f;
  });
}
