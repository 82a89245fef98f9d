#include "sized.h"

using namespace Halide;

class UnsharpMask : public Sized<UnsharpMask> {
 public:
  Input<Buffer<float, 3>> in{"in"};
  Output<Buffer<float, 3>> mask{"mask"};

  void generate() {
    const float threshold = 0.001f, weight = 4.f;
    Func src = zero(in, in.width(), in.height()), blurx("blurx"), blury("blury"), sharpen("sharpen");
    blurx(x, y, c) = (src(x, y - 2, c) + 4 * src(x, y - 1, c) + 6 * src(x, y, c) + 4 * src(x, y + 1, c) +
                      src(x, y + 2, c)) /
                     16;
    blury(x, y, c) = (blurx(x - 2, y, c) + 4 * blurx(x - 1, y, c) + 6 * blurx(x, y, c) +
                      4 * blurx(x + 1, y, c) + blurx(x + 2, y, c)) /
                     16;
    sharpen(x, y, c) = (1 + weight) * in(x, y, c) - weight * blury(x, y, c);
    mask(x, y, c) = select(abs(in(x, y, c) - blury(x, y, c)) < threshold, in(x, y, c), sharpen(x, y, c));
    expect(in, 3), expect(mask, 3);
    if (using_autoscheduler()) return;
    // A row of a channel at a time; its columns are blurred before its rows.
    const int vec = 8;
    Var yo("yo");
    mask.split(y, yo, y, 32).reorder(x, y, c, yo).parallel(yo).vectorize(x, vec);
    blurx.compute_at(mask, y).vectorize(x, vec);
  }
};
HALIDE_REGISTER_GENERATOR(UnsharpMask, unsharp_mask)
