#include <weft/weft.hpp>

using namespace weft;

// Its values go up to some millions; those of 100,000 are what `corners` marks.
WEFT_PIPELINE(harris, {.summary = "Harris corner response",
                       .source = "Hipacc thesis, ch. 3",
                       .size = "2048x2048",
                       .white = 1e5}) {
  Image<float> in("in");
  const Param<float> k("k", 0.04f);

  const Border border = border_option();
  const Mask across = Mask{{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}} / 6.f;
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;

  Stage dx = convolve("dx", in.border(border), across);
  Stage dy = convolve("dy", in.border(border), across.transposed());
  Stage sx = point("sx", dx * dx);
  Stage sy = point("sy", dy * dy);
  Stage sxy = point("sxy", dx * dy);
  Stage gx = convolve("gx", sx.border(border), b3);
  Stage gy = convolve("gy", sy.border(border), b3);
  Stage gxy = convolve("gxy", sxy.border(border), b3);
  return point("hc", gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy));
}
