// Stencils of a row that do not look the same way to both sides.
#include "apps/stencils/stencil.h"

using namespace weft;

WEFT_PIPELINE(upwind, {.summary = "what comes from the left", .source = "stencils", .size = "16777216"}) {
  const Stencil stencil(1);
  const Accessor u = stencil.before();
  return stencil.evolve("upwind", [&](Var x) { return .3f * u(x - 1) + .7f * u(x); });
}

// Before the first step the field was always as it starts.
WEFT_PIPELINE(twodepth,
              {.summary = "reads one and two steps back", .source = "stencils", .size = "16777216"}) {
  const Stencil stencil(1, 3);
  const Accessor u = stencil.before(), older = stencil.before(2);
  return stencil.evolve("twodepth", [&](Var x) { return .5f * (u(x + 1) + older(x - 3)); });
}
