// What evolve() refuses. PolyBench's seidel-2d overwrites its array in place, so that each pixel sees the new
// values of those above it and to its left: the pixels of a step have to be computed one after another.
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(seidel2d, {.summary = "Gauss-Seidel in place, an example of what is refused",
                         .source = "stencils",
                         .size = "4096x4096",
                         .refused = true}) {
  Image<float> in("in");
  const Param<int> steps("steps", 1, at_least(0));
  const Field<float> u("u", in);
  const Accessor now = u.now();
  return evolve("seidel2d", u, steps, [&](Var x, Var y) {
    return (now(x - 1, y - 1) + now(x, y - 1) + now(x + 1, y - 1) + now(x - 1, y) + u(x, y) + u(x + 1, y) +
            u(x - 1, y + 1) + u(x, y + 1) + u(x + 1, y + 1)) /
           9.f;
  });
}
