#include <weft/weft.hpp>

#include <string>

using namespace weft;

namespace {

/// One level of the a-trous filter: 3x3 taps `spacing` apart, those of other colours count less.
Stage atrous(const std::string& name, const Source& rgb, int spacing) {
  const Mask taps{{.057118f, .124758f, .057118f},  //
                  {.124758f, .272496f, .124758f},  //
                  {.057118f, .124758f, .057118f}};
  auto src = rgb.border(border_option());
  return stage(name, rgb.size(), [&](Var x, Var y) {
    Accum<float> weights = 0;
    Accum<Vec<float, 3>> colours(0.f);
    for_each(Domain(taps), [&](Tap t) {
      Expr p = src(x + spacing * t.x, y + spacing * t.y);
      Expr d = (p - src(x, y)) / 255.f;
      Expr w = taps(t) * exp(-(d.lane(0) * d.lane(0) + d.lane(1) * d.lane(1) + d.lane(2) * d.lane(2)));
      weights += w;
      colours += w * p;
    });
    return colours / weights;
  });
}

/// What the rods see of a colour, V, in the hue of the white point x = y = 1/4: (X, Y, Z) = (V, V, 2 V).
Expr scotopic(const Expr& rgb) {
  Expr r = rgb.lane(0), g = rgb.lane(1), b = rgb.lane(2);
  Expr X = .5149f * r + .3244f * g + .1607f * b;
  Expr Y = (.2654f * r + .6704f * g + .0642f * b) / 3.f;
  Expr Z = .0248f * r + .1248f * g + .8504f * b;
  Expr V = select(X == 0.f, 0.f, 0.4468f * Y * (1.33f * (1.f + (Y + Z) / X) - 1.68f));
  X = V, Y = V, Z = 2.f * V;
  Expr red = 2.562263f * X - 1.166107f * Y - .396157f * Z;
  Expr green = -1.021558f * X + 1.977828f * Y + .043730f * Z;
  Expr blue = .075196f * X - .256248f * Y + 1.181053f * Z;
  return clamp(pack(red, green, blue), 0.f, 255.f);
}

}  // namespace

WEFT_PIPELINE(night, {.summary = "makes a day picture look like night",
                      .source = "Hipacc thesis, ch. 3 and 5",
                      .size = "2048x2048"}) {
  Image<Vec<float, 3>> in("in");
  const Option<int> levels("levels", 2, {2, 4});
  Stage smooth = atrous("atrous0", in, 1);
  for (int k = 1; k < levels; ++k) smooth = atrous("atrous" + std::to_string(k), smooth, 1 << k);
  return point("scoto", scotopic(smooth));
}
