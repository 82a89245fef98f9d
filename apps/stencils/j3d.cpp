#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(j3d27pt,
              {.summary = "27 weighted pixels of a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3);
  const Accessor u = stencil.before();
  return stencil.evolve("j3d27pt", [&](Var x, Var y, Var z) {
    const auto plane = [&](Var k, float more) {
      const Mask weights = Mask::from(3, 3, [&](int dx, int dy) {
        const float of_front[3][3] = {{.500f, .700f, .900f}, {1.200f, 1.500f, 1.201f}, {.901f, .701f, .501f}};
        return of_front[dy + 1][dx + 1] + more;
      });
      return sum(Domain(3, 3), [&](Tap t) { return weights(t) * u(x + t.x, y + t.y, k); });
    };
    return (plane(z - 1, 0) + plane(z, .01f) + plane(z + 1, .02f)) / 159.f;
  });
}

// The weights add up to -.69, but that of the centre is -1.67: the field grows without bound.
WEFT_PIPELINE(j3d7pt,
              {.summary = "7 weighted pixels of a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3);
  const Accessor u = stencil.before();
  return stencil.evolve("j3d7pt", [&](Var x, Var y, Var z) {
    return .161f * u(x + 1, y, z) + .162f * u(x - 1, y, z) + .163f * u(x, y + 1, z) + .164f * u(x, y - 1, z) +
           .165f * u(x, y, z + 1) + .166f * u(x, y, z - 1) - 1.67f * u(x, y, z);
  });
}

// 19 points: the faces and edges of a cube. The field grows without bound.
WEFT_PIPELINE(poisson,
              {.summary = "19 weighted pixels of a volume", .source = "stencils", .size = "256x256x256"}) {
  const Stencil stencil(3);
  const Accessor u = stencil.before();
  return stencil.evolve("poisson", [&](Var x, Var y, Var z) {
    Expr faces =
        u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) + u(x, y, z - 1) + u(x, y, z + 1);
    Expr edges = u(x - 1, y - 1, z) + u(x + 1, y - 1, z) + u(x - 1, y + 1, z) + u(x + 1, y + 1, z) +
                 u(x - 1, y, z - 1) + u(x + 1, y, z - 1) + u(x - 1, y, z + 1) + u(x + 1, y, z + 1) +
                 u(x, y - 1, z - 1) + u(x, y + 1, z - 1) + u(x, y - 1, z + 1) + u(x, y + 1, z + 1);
    return 2.666f * u(x, y, z) - .166f * faces - .0833f * edges;
  });
}
