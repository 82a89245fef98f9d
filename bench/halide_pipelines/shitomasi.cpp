#include "sized.h"

using namespace Halide;

class ShiTomasi : public Sized<ShiTomasi> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> st{"st"};

  void generate() {
    Func src = edge(in, in.width(), in.height());
    Func dx("dx"), dy("dy"), sx("sx"), sy("sy"), sxy("sxy");
    dx(x, y) = ((src(x + 1, y - 1) - src(x - 1, y - 1)) + (src(x + 1, y) - src(x - 1, y)) +
                (src(x + 1, y + 1) - src(x - 1, y + 1))) /
               6;
    dy(x, y) = ((src(x - 1, y + 1) - src(x - 1, y - 1)) + (src(x, y + 1) - src(x, y - 1)) +
                (src(x + 1, y + 1) - src(x + 1, y - 1))) /
               6;
    sx(x, y) = dx(x, y) * dx(x, y);
    sy(x, y) = dy(x, y) * dy(x, y);
    sxy(x, y) = dx(x, y) * dy(x, y);
    const Expr gx = smoothed(sx, "gx")(x, y), gy = smoothed(sy, "gy")(x, y), gxy = smoothed(sxy, "gxy")(x, y);
    st(x, y) = 0.5f * (gx + gy - sqrt((gx - gy) * (gx - gy) + 4.f * gxy * gxy));
    expect(in), expect(st);
  }

 private:
  Func smoothed(Func f, const char* name) {
    Func s = edge(f, in.width(), in.height()), result(name);
    result(x, y) = ((s(x - 1, y - 1) + s(x + 1, y - 1) + s(x - 1, y + 1) + s(x + 1, y + 1)) +
                    2 * (s(x, y - 1) + s(x - 1, y) + s(x + 1, y) + s(x, y + 1)) + 4 * s(x, y)) /
                   16;
    return result;
  }
};
HALIDE_REGISTER_GENERATOR(ShiTomasi, shitomasi)
