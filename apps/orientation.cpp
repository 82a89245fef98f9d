#include <weft/weft.hpp>

using namespace weft;

// J. Bigün and G. H. Granlund, "Optimal orientation detection of linear symmetry", ICCV 1987: the structure tensor says how strong
// lines and edges are around a pixel, and which way they go. An angle of 0 is as good as one of 180 degrees, so a
// direction is a vector of twice the angle.
WEFT_PIPELINE(orientation, {.summary = "which way lines and edges go, and how sure that is",
                            .source = "Bigün and Granlund 1987",
                            .size = "2048x2048"}) {
  Image<float> in("in");
  const Border border = border_option();
  const Mask across = Mask{{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}} / 6.f;
  const Mask b5 = Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1}) / 256.f;

  Stage dx = convolve("dx", in.border(border), across);
  Stage dy = convolve("dy", in.border(border), across.transposed());
  Stage sxx = point("sxx", dx * dx);
  Stage syy = point("syy", dy * dy);
  Stage sxy = point("sxy", dx * dy);
  Stage gxx = convolve("gxx", sxx.border(border), b5);
  Stage gyy = convolve("gyy", syy.border(border), b5);
  Stage gxy = convolve("gxy", sxy.border(border), b5);
  Stage direction = point("direction", pack(gxx - gyy, 2.f * gxy));
  const Expr length = sqrt((gxx - gyy) * (gxx - gyy) + 4.f * gxy * gxy);
  // 0 where nothing is seen, or all directions alike; 1 where all is lines of one direction
  Stage coherence = point("coherence", length / (gxx + gyy + 1.f));
  return {direction, coherence};
}
