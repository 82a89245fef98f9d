#include "sized.h"

#include <cmath>

using namespace Halide;

class Bilateral : public Sized<Bilateral> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> bilateral{"bilateral"};

  void generate() {
    const double sigma_d = 3;
    const float sigma_r = 16.f, exponent = -1.f / (2.f * sigma_r * sigma_r);
    Func src = edge(in, in.width(), in.height());
    Expr d = 0.f, p = 0.f;  // all taps written out: as a reduction, both autoschedulers are slower
    for (int dy = -6; dy <= 6; ++dy) {
      for (int dx = -6; dx <= 6; ++dx) {
        const auto closeness = static_cast<float>(std::exp(-(dx * dx + dy * dy) / (2 * sigma_d * sigma_d)));
        const Expr v = src(x + dx, y + dy), diff = v - src(x, y);
        const Expr w = closeness * exp(exponent * diff * diff);
        d += w;
        p += w * v;
      }
    }
    bilateral(x, y) = p / d;
    expect(in), expect(bilateral);
  }
};
HALIDE_REGISTER_GENERATOR(Bilateral, bilateral)
