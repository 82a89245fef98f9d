// PolyBench's fdtd-2d: the electric field (ex, ey) and the magnetic field hz take turns. Row 0 of ey is the
// number of the step; the left column of ex, the last row and the last column of hz stay as they are.
#include <weft/weft.hpp>

#include <vector>

using namespace weft;

WEFT_PIPELINE(fdtd2d, {.summary = "electromagnetic waves", .source = "stencils", .size = "4096x4096"}) {
  Image<float> ex_in("ex_in"), ey_in("ey_in", ex_in.size()), hz_in("hz_in", ex_in.size());
  const Param<int> steps("steps", 1, at_least(0));
  Field<float> ex("ex_now", ex_in), ey("ey_now", ey_in), hz("hz_now", hz_in);

  auto above = hz.border(Border::clamp());  // row 0 does not use it
  const FieldUpdate of_ey = update("ey", ey, [&](Var x, Var y) {
    return cases()
        .when(y == 0, cast<float>(step_number()))
        .otherwise(ey(x, y) - .5f * (hz(x, y) - above(x, y - 1)));
  });
  const FieldUpdate of_ex =
      update("ex", ex, [&](Var x, Var y) { return ex(x, y) - .5f * (hz(x, y) - hz(x - 1, y)); });
  const FieldUpdate of_hz = update("hz", hz, [&](Var x, Var y) {
    auto ex1 = ex.now(), ey1 = ey.now();
    return hz(x, y) - .7f * (ex1(x + 1, y) - ex1(x, y) + ey1(x, y + 1) - ey1(x, y));
  });
  const std::vector<Stage> after = evolve(steps, {of_ey, of_ex, of_hz});
  return {after[2], after[1], after[0]};
}
