// A quarter (in one dimension) or an eighth of the second differences is added to each pixel.
#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(heat1d, {.summary = "heat along a row", .source = "stencils", .size = "16777216"}) {
  const Stencil stencil(1);
  const Accessor u = stencil.before();
  return stencil.evolve("heat1d", [&](Var x) { return .25f * (u(x + 1) - 2.f * u(x) + u(x - 1)) + u(x); });
}

WEFT_PIPELINE(heat2d, {.summary = "heat in a plane", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  return stencil.evolve("heat2d", [&](Var x, Var y) {
    return .125f * (u(x, y + 1) - 2.f * u(x, y) + u(x, y - 1)) +
           .125f * (u(x + 1, y) - 2.f * u(x, y) + u(x - 1, y)) + u(x, y);
  });
}

WEFT_PIPELINE(heat3d, {.summary = "heat in a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3);
  const Accessor u = stencil.before();
  return stencil.evolve("heat3d", [&](Var x, Var y, Var z) {
    return .125f * (u(x, y, z + 1) - 2.f * u(x, y, z) + u(x, y, z - 1)) +
           .125f * (u(x, y + 1, z) - 2.f * u(x, y, z) + u(x, y - 1, z)) +
           .125f * (u(x + 1, y, z) - 2.f * u(x, y, z) + u(x - 1, y, z)) + u(x, y, z);
  });
}
