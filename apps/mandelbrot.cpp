// How long z -> z * z + c, from 0, stays within 2: the Mandelbrot set, c in [-2.5, 1] x [-1.25, 1.25].
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(mandelbrot, {.summary = "the Mandelbrot set",
                           .source = "Hipacc thesis, samples",
                           .size = "2048x2048",
                           .white = 64}) {
  const Option<int> width("width", 640, at_least(1)), height("height", 480, at_least(1));
  const Domain steps(64, 1);
  Stage out = stage("mandelbrot", {width.value(), height.value()}, [&](Var x, Var y) {
    Expr cx = -2.5f + 3.5f * (Expr(x) + .5f) / cast<float>(width.value());
    Expr cy = -1.25f + 2.5f * (Expr(y) + .5f) / cast<float>(height.value());
    Accum<float> zx = 0.f, zy = 0.f;
    Accum<int> inside = 0;
    for_each(steps, [&](Tap) {
      Expr xx = zx * zx - zy * zy + cx, xy = 2.f * zx * zy + cy;
      zx = xx;
      zy = xy;
      inside += cast<int>(zx * zx + zy * zy <= 4.f);  // what escaped never comes back, nor do its NaNs
    });
    return cast<std::uint8_t>(inside);
  });
  return Outputs(out).strict();  // the last steps multiply every rounding
}
