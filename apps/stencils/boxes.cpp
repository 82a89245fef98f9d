// Boxes: all pixels around, each with its own weight.
#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(box2d1r, {.summary = "a box of radius 1", .source = "stencils", .size = "4096x4096"}) {
  const Stencil stencil(2);
  const Accessor u = stencil.before();
  const Mask weights = {
      {.09371f, .09374f, .09376f}, {.09372f, .25001f, .09377f}, {.09373f, .09375f, .09378f}};
  return stencil.evolve("box2d1r", [&](Var x, Var y) {
    return sum(Domain(weights), [&](Tap t) { return weights(t) * u(x + t.x, y + t.y); });
  });
}

WEFT_PIPELINE(box3d1r,
              {.summary = "a box of radius 1 in a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3);
  const Accessor u = stencil.before();
  const Mask front = {{.0371f, .0372f, .0373f}, {.0374f, .0375f, .0376f}, {.0377f, .0378f, .0379f}};
  const Mask middle = {{.0351f, .0352f, .0353f}, {.0354f, .0355f, .0356f}, {.0357f, .0358f, .0359f}};
  const Mask back = {{.0361f, .0362f, .0363f}, {.0364f, .0365f, .0366f}, {.0367f, .0368f, .0369f}};
  return stencil.evolve("box3d1r", [&](Var x, Var y, Var z) {
    return sum(Domain(3, 3), [&](Tap t) {
      Var i = x + t.x, j = y + t.y;
      return front(t) * u(i, j, z - 1) + middle(t) * u(i, j, z) + back(t) * u(i, j, z + 1);
    });
  });
}
