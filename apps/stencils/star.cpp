// Stars: the pixels along the axes, each with its own weight; the weights add up to 1.
#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(star2d1r, {.summary = "a star of radius 1", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  return stencil.evolve("star2d1r", [&](Var x, Var y) {
    return .1873f * u(x, y - 1) + .1876f * u(x - 1, y) + .2500f * u(x, y) + .1877f * u(x + 1, y) +
           .1874f * u(x, y + 1);
  });
}

WEFT_PIPELINE(star2d2r, {.summary = "a star of radius 2", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2, 2);
  const Accessor u = stencil.before();
  return stencil.evolve("star2d2r", [&](Var x, Var y) {
    return .09371f * u(x, y - 2) + .09374f * u(x, y - 1) + .09376f * u(x - 2, y) + .09372f * u(x - 1, y) +
           .25001f * u(x, y) + .09377f * u(x + 1, y) + .09373f * u(x + 2, y) + .09375f * u(x, y + 1) +
           .09378f * u(x, y + 2);
  });
}

WEFT_PIPELINE(star3d1r,
              {.summary = "a star of radius 1 in a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3);
  const Accessor u = stencil.before();
  return stencil.evolve("star3d1r", [&](Var x, Var y, Var z) {
    return .2500f * u(x, y, z) + .1248f * u(x, y, z - 1) + .1249f * u(x, y, z + 1) + .1250f * u(x, y - 1, z) +
           .1251f * u(x, y + 1, z) + .1252f * u(x - 1, y, z) + .1253f * u(x + 1, y, z);
  });
}

WEFT_PIPELINE(star3d2r,
              {.summary = "a star of radius 2 in a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3, 2);
  const Accessor u = stencil.before();
  return stencil.evolve("star3d2r", [&](Var x, Var y, Var z) {
    return .2500f * u(x, y, z) + .0620f * u(x, y, z - 1) + .0621f * u(x, y, z + 1) + .0622f * u(x, y - 1, z) +
           .0623f * u(x, y + 1, z) + .0624f * u(x - 1, y, z) + .06245f * u(x + 1, y, z) +
           .06255f * u(x, y, z - 2) + .0626f * u(x, y, z + 2) + .0627f * u(x, y - 2, z) +
           .0628f * u(x, y + 2, z) + .0629f * u(x - 2, y, z) + .0630f * u(x + 2, y, z);
  });
}
