// The second benchmark of the warp-tiling paper. Its x is the row: Ix is the slope down the columns.
#include <weft/weft.hpp>

using namespace weft;

namespace {

Outputs corners(const Source& in) {
  const Mask slope = Mask{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}} / 12.f;
  const Domain box(3, 3);
  const Border edge = Border::clamp();  // what it reads is only seen where the result is 0

  Stage Iy = convolve("Iy", in.border(edge), slope);
  Stage Ix = convolve("Ix", in.border(edge), slope.transposed());
  Stage Ixx = point("Ixx", Ix * Ix);
  Stage Iyy = point("Iyy", Iy * Iy);
  Stage Ixy = point("Ixy", Ix * Iy);
  Stage Sxx = local("Sxx", Ixx.border(edge), box, Local::Sum);
  Stage Syy = local("Syy", Iyy.border(edge), box, Local::Sum);
  Stage Sxy = local("Sxy", Ixy.border(edge), box, Local::Sum);
  Stage det = point("det", Sxx * Syy - Sxy * Sxy);
  Stage trace = point("trace", Sxx + Syy);

  const Index w = in.width(), h = in.height();
  return stage("harris", in.size(), [&](Var x, Var y) {
    const Expr inside = x >= 2 && y >= 2 && x < w - 2 && y < h - 2;
    const Expr t = trace(x, y);
    return cases().when(inside, det(x, y) - 0.04f * t * t).otherwise(0.f);
  });
}

}  // namespace

WEFT_PIPELINE(harris_corner, {.summary = "corner strength, 0 in a frame of 2 pixels",
                              .source = "warp-tiling paper",
                              .size = "4256x2832",
                              .range = 1,
                              .white = .001}) {
  const Option<std::string> variant("variant", "polymage", {"polymage", "halide"});
  if (variant.value() == "polymage") return corners(Image<float>("in"));
  Image<Vec<float, 3>> in("in");
  return corners(point("gray", dot(in, Vec<float, 3>{.299f, .587f, .114f})));
}
