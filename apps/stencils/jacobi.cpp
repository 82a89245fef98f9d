#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(jacobi1d3, {.summary = "mean of 3 pixels of a row", .source = "stencils", .size = "16777216"}) {
  const Stencil stencil(1);
  const Accessor u = stencil.before();
  return stencil.evolve("jacobi1d3", [&](Var x) { return .33333f * (u(x - 1) + u(x) + u(x + 1)); });
}

WEFT_PIPELINE(jacobi1d5, {.summary = "mean of 5 pixels of a row", .source = "stencils", .size = "16777216"}) {
  const Stencil stencil(1, 2);
  const Accessor u = stencil.before();
  return stencil.evolve("jacobi1d5",
                        [&](Var x) { return .2f * (u(x - 2) + u(x - 1) + u(x) + u(x + 1) + u(x + 2)); });
}

WEFT_PIPELINE(jacobi1d7, {.summary = "mean of 7 pixels of a row", .source = "stencils", .size = "16777216"}) {
  const Stencil stencil(1, 3);
  const Accessor u = stencil.before();
  return stencil.evolve("jacobi1d7", [&](Var x) {
    return (u(x - 3) + u(x - 2) + u(x - 1) + u(x) + u(x + 1) + u(x + 2) + u(x + 3)) / 7.f;
  });
}

WEFT_PIPELINE(jacobi2d,
              {.summary = "mean of a cross of 5 pixels", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  return stencil.evolve("jacobi2d", [&](Var x, Var y) {
    return .2f * (u(x, y) + u(x - 1, y) + u(x + 1, y) + u(x, y + 1) + u(x, y - 1));
  });
}
