// Finds corners and draws a red ring around each.
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(corners, {.summary = "marks Harris corners in red", .source = "examples"}) {
  Image<Vec<std::uint8_t, 3>> in("in");
  const Param<float> k("k", 0.04f), threshold("threshold", 100'000.f);

  const Border border = border_option();
  const Mask across = Mask{{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}} / 6.f;
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;

  Expr rgb = in;
  Stage grey = point("grey", .299f * rgb.lane(0) + .587f * rgb.lane(1) + .114f * rgb.lane(2));
  Stage dx = convolve("dx", grey.border(border), across);
  Stage dy = convolve("dy", grey.border(border), across.transposed());
  Stage sx = point("sx", dx * dx);
  Stage sy = point("sy", dy * dy);
  Stage sxy = point("sxy", dx * dy);
  Stage gx = convolve("gx", sx.border(border), b3);
  Stage gy = convolve("gy", sy.border(border), b3);
  Stage gxy = convolve("gxy", sxy.border(border), b3);
  Stage hc = point("hc", gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy));

  // a corner is the strongest response among its neighbours
  Stage peak = local("peak", hc.border(border), Domain(5, 5), Local::Max);
  Stage corner = point("corner", hc == peak && hc > threshold);

  const Domain ring(Mask::from(7, 7, [](int x, int y) { return x * x + y * y >= 6 && x * x + y * y <= 10; }));
  Stage mark = local("mark", corner.border(Border::constant(false)), ring, Local::Max);
  const Expr all = cast<std::uint8_t>(255), none = cast<std::uint8_t>(0);
  Stage out = point("out", select(mark, pack(all, none, none), in));
  return Outputs(out).strict();  // hc == peak is decided by the last bit
}
