#include "sized.h"

#include <string>

using namespace Halide;

class Night : public Sized<Night> {
 public:
  Input<Buffer<float, 3>> in{"in"};
  Output<Buffer<float, 3>> scoto{"scoto"};

  void generate() {
    Func rgb("rgb"), V("V");
    rgb(x, y) = Tuple(in(x, y, 0), in(x, y, 1), in(x, y, 2));
    Func smooth = atrous(1, atrous(0, rgb));
    V(x, y) = luminance(smooth(x, y)[0], smooth(x, y)[1], smooth(x, y)[2]);
    const Expr X = V(x, y), Y = V(x, y), Z = 2 * V(x, y);
    scoto(x, y, c) = clamp(
        mux(c, {2.562263f * X - 1.166107f * Y - .396157f * Z, -1.021558f * X + 1.977828f * Y + .043730f * Z,
                .075196f * X - .256248f * Y + 1.181053f * Z}),
        0.f, 255.f);
    expect(in, 3), expect(scoto, 3);
  }

 private:
  /// One level of the a-trous filter: 3x3 taps 2^level apart, those of other colours count less.
  Func atrous(int level, Func rgb) {
    const float taps[] = {.124758f, .272496f, .124758f}, sides[] = {.057118f, .124758f, .057118f};
    const int spacing = 1 << level;
    Func src = edge(rgb, in.width(), in.height()), smooth("atrous" + std::to_string(level));
    const Tuple here = src(x, y);
    Expr weights = 0.f, r = 0.f, g = 0.f, b = 0.f;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const Tuple p = src(x + spacing * dx, y + spacing * dy);
        const Expr dr = (p[0] - here[0]) / 255.f, dg = (p[1] - here[1]) / 255.f,
                   db = (p[2] - here[2]) / 255.f;
        const Expr weight = (dy == 0 ? taps : sides)[dx + 1] * exp(-(dr * dr + dg * dg + db * db));
        weights += weight;
        r += weight * p[0], g += weight * p[1], b += weight * p[2];
      }
    }
    smooth(x, y) = Tuple(r / weights, g / weights, b / weights);
    return smooth;
  }

  /// What the rods see of a colour.
  static Expr luminance(const Expr& r, const Expr& g, const Expr& b) {
    const Expr X = .5149f * r + .3244f * g + .1607f * b;
    const Expr Y = (.2654f * r + .6704f * g + .0642f * b) / 3.f;
    const Expr Z = .0248f * r + .1248f * g + .8504f * b;
    return select(X == 0.f, 0.f, 0.4468f * Y * (1.33f * (1.f + (Y + Z) / X) - 1.68f));
  }
};
HALIDE_REGISTER_GENERATOR(Night, night)
