#include "sized.h"

#include <cmath>

using namespace Halide;

class Bilateral : public Sized<Bilateral> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> bilateral{"bilateral"};
  GeneratorParam<bool> unrolled{"unrolled", true};

  void generate() {
    const double sigma_d = 3;
    const float sigma_r = 16.f, exponent = -1.f / (2.f * sigma_r * sigma_r);
    Func src = edge(in, in.width(), in.height());
    if (unrolled) {
      Expr d = 0.f, p = 0.f;
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
    } else {
      RDom t(-6, 13, -6, 13);
      Func closeness("closeness"), sums("sums");
      Var i, j;
      closeness(x, y) = exp(-cast<float>(x * x + y * y) / (2 * float(sigma_d * sigma_d)));
      const Expr v = src(x + t.x, y + t.y), diff = v - src(x, y);
      const Expr w = closeness(t.x, t.y) * exp(exponent * diff * diff);
      sums(x, y) = Tuple(0.f, 0.f);
      sums(x, y) = Tuple(sums(x, y)[0] + w, sums(x, y)[1] + w * v);
      bilateral(x, y) = sums(x, y)[1] / sums(x, y)[0];
    }
    expect(in), expect(bilateral);
  }
};
HALIDE_REGISTER_GENERATOR(Bilateral, bilateral)
