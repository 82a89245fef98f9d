#include "sized.h"

#include <functional>
#include <string>

using namespace Halide;

class MultiscaleInterp : public Sized<MultiscaleInterp> {
 public:
  Input<Buffer<float, 3>> in{"in"};
  Output<Buffer<float, 3>> out{"out"};

  void generate() {
    const int levels = 10;
    for (int l = 0; l < levels; ++l) {
      w.push_back(in.width() >> l);
      h.push_back(in.height() >> l);
    }
    std::vector<Func> D{Func("D0")};
    D[0](x, y, c) = in(x, y, c) * in(x, y, 3);
    for (int l = 1; l < levels; ++l) D.push_back(halve(D.back(), l));
    Func T = D.back();
    for (int l = levels - 2; l >= 0; --l) T = over(D[l], T, l);
    out(x, y, c) = select(T(x, y, 3) == 0.f, 0.f, T(x, y, c) / T(x, y, 3));
    expect(in, 4), expect(out, 3);
    if (!using_autoscheduler()) schedule_by_hand(D[0], T);
  }

 private:
  /// f(n), or 0 outside of [0, extent). Halide's borders are functions of their own, which here would be
  /// twice as many as the stages, and Adams2019 searches minutes longer with them.
  static Expr or_zero(const Expr& n, const Expr& extent, const std::function<Expr(const Expr&)>& f) {
    return select(n < 0 || n >= extent, 0.f, likely(f(clamp(n, 0, extent - 1))));
  }

  /// [1 2 1] / 4 at every other pixel of level l - 1, down the columns and then along the rows.
  Func halve(Func fine, int l) {
    const std::string level = std::to_string(l);
    Func Dx("Dx" + level), D("D" + level);
    const auto row = [&](const Expr& n) {
      return or_zero(n, h[l - 1], [&](const Expr& m) { return fine(x, m, c); });
    };
    Dx(x, y, c) = (row(2 * y - 1) + 2 * row(2 * y) + row(2 * y + 1)) / 4;
    const auto column = [&](const Expr& n) {
      return or_zero(n, w[l - 1], [&](const Expr& m) { return Dx(m, y, c); });
    };
    D(x, y, c) = (column(2 * x - 1) + 2 * column(2 * x) + column(2 * x + 1)) / 4;
    stored.push_back({D, Dx, l});
    return D;
  }

  /// D of level l, and beneath its transparent parts the coarser level.
  Func over(Func D, Func coarse, int l) {
    const std::string level = std::to_string(l);
    Func Ux("Ux" + level), T("T" + level);
    const auto row = [&](const Expr& n) {
      return or_zero(n, h[l + 1], [&](const Expr& m) { return coarse(x, m, c); });
    };
    Ux(x, y, c) = (row(y / 2) + row((y + 1) / 2)) / 2;
    const auto column = [&](const Expr& n) {
      return or_zero(n, w[l + 1], [&](const Expr& m) { return Ux(m, y, c); });
    };
    T(x, y, c) = D(x, y, c) + (1 - D(x, y, 3)) * ((column(x / 2) + column((x + 1) / 2)) / 2);
    stored.push_back({T, Ux, l});
    return T;
  }

  /// A level, and its rows at the other level's width.
  struct Level {
    Func level, rows;
    int number;
  };

  /// Levels are stored, but for the finest: that of the result a row at a time.
  void schedule_by_hand(Func D0, Func T0) {
    const int vec = natural_vector_size<float>();
    Var yo("yo");
    for (Level& s : stored) {
      if (s.level.name() == T0.name()) continue;
      const int strip = s.number < 4 ? 8 : 2, width = s.number < 6 ? vec : 4;
      s.level.compute_root().split(y, yo, y, strip).reorder(x, c, y, yo).parallel(yo).vectorize(x, width);
      s.rows.compute_at(s.level, c).vectorize(x, width);
    }
    out.bound(c, 0, 3).split(y, yo, y, 16).reorder(c, x, y, yo).unroll(c).parallel(yo).vectorize(x, vec);
    T0.compute_at(out, x).vectorize(x, vec).unroll(c);
    stored.back().rows.compute_at(out, y).vectorize(x, vec);
  }

  std::vector<Expr> w, h;  // of the levels
  std::vector<Level> stored;
};
HALIDE_REGISTER_GENERATOR(MultiscaleInterp, multiscale_interp)
