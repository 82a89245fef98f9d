#include "sized.h"

using namespace Halide;

class Enhance : public Sized<Enhance> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> gamma{"gamma"};

  void generate() {
    const float gain = 2.f;
    Func src = edge(in, in.width(), in.height()), logs("logs"), mean("mean"), bright("bright");
    logs(x, y) = log(src(x, y) + 1.f);  // a function of its own: its schedule may store it or not
    Expr sum = 0.f;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) sum += logs(x + dx, y + dy);
    }
    mean(x, y) = max(0.f, exp(sum / 9.f) - 1.f);
    bright(x, y) = mean(x, y) * gain;
    gamma(x, y) = 255.f * pow(bright(x, y) / 255.f, 0.6f);
    expect(in), expect(gamma);
  }
};
HALIDE_REGISTER_GENERATOR(Enhance, enhance)
