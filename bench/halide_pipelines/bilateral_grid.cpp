#include "sized.h"

#include <functional>

using namespace Halide;

// The grid's lanes, c, are the sum and the number of the pixels in a cell.
class BilateralGrid : public Sized<BilateralGrid> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> filtered{"filtered"};

  void generate() {
    Func src = edge(in, in.width(), in.height());
    const RDom r(0, 8, 0, 8);
    const Expr v = clamp(src(8 * x + r.x - 4, 8 * y + r.y - 4), 0.f, 1.f);
    grid(x, y, z, c) = 0.f;
    // The last bit decides in which cell a pixel is.
    grid(x, y, cast<int>(strict_float(strict_float(10.f * v) + 0.5f)), c) += mux(c, {v, 1.f});
    blurz(x, y, z, c) = blurred([&](int d) { return grid(x, y, z + d, c); });
    blurx(x, y, z, c) = blurred([&](int d) { return blurz(x, y + d, z, c); });
    blury(x, y, z, c) = blurred([&](int d) { return blurx(x + d, y, z, c); });

    const Expr depth = 10.f * clamp(in(x, y), 0.f, 1.f), bin = cast<int>(depth);
    const Expr right = cast<float>(x % 8) / 8.f, down = cast<float>(y % 8) / 8.f;
    column(x, z, c, y) = mix(blury(x, y / 8, z, c), blury(x, y / 8 + 1, z, c), down);
    const auto plane = [&](const Expr& gz) {
      return mix(column(x / 8, gz, c, y), column(x / 8 + 1, gz, c, y), right);
    };
    interpolated(x, y, c) = mix(plane(bin), plane(bin + 1), depth - cast<float>(bin));
    const Expr total = interpolated(x, y, 0), count = interpolated(x, y, 1);
    filtered(x, y) = select(count > 0.f, total / count, 0.f);
    expect(in), expect(filtered);
    if (!using_autoscheduler()) schedule_by_hand(r);
  }

 private:
  Var z{"z"};
  Func grid{"grid"}, blurz{"blurz"}, blurx{"blurx"}, blury{"blury"}, column{"column"},
      interpolated{"interpolated"};

  static Expr mix(const Expr& a, const Expr& b, const Expr& w) { return a + w * (b - a); }
  static Expr blurred(const std::function<Expr(int)>& f) {
    return f(-2) + 4 * f(-1) + 6 * f(0) + 4 * f(1) + f(2);
  }

  /// A row of cells at a time, from the pixels to the blur along z, and another from there to the last blur.
  void schedule_by_hand(const RDom& r) {
    const int vec = natural_vector_size<float>();
    blurz.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, vec);
    grid.compute_at(blurz, y).reorder_storage(c, x, z, y).vectorize(x, vec);
    grid.update().reorder(c, r.x, r.y, x, y).unroll(c);
    blury.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, vec);
    blurx.compute_at(blury, c).vectorize(x, vec);
    filtered.parallel(y, 8).vectorize(x, 8);
    column.compute_at(filtered, y).vectorize(x, vec);
  }
};
HALIDE_REGISTER_GENERATOR(BilateralGrid, bilateral_grid)
