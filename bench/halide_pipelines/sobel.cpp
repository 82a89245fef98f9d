#include "sized.h"

using namespace Halide;

class Sobel : public Sized<Sobel> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> mag{"mag"};

  void generate() {
    Func src = edge(in, in.width(), in.height()), dx("dx"), dy("dy");
    dx(x, y) = (src(x + 1, y - 1) - src(x - 1, y - 1)) + 2 * (src(x + 1, y) - src(x - 1, y)) +
               (src(x + 1, y + 1) - src(x - 1, y + 1));
    dy(x, y) = (src(x - 1, y + 1) - src(x - 1, y - 1)) + 2 * (src(x, y + 1) - src(x, y - 1)) +
               (src(x + 1, y + 1) - src(x + 1, y - 1));
    mag(x, y) = sqrt(dx(x, y) * dx(x, y) + dy(x, y) * dy(x, y));
    expect(in), expect(mag);
  }
};
HALIDE_REGISTER_GENERATOR(Sobel, sobel)
