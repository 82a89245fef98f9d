#include "sized.h"

#include <functional>
#include <string>

using namespace Halide;

class LocalLaplacian : public Sized<LocalLaplacian> {
 public:
  Input<Buffer<float, 3>> in{"in"};
  Output<Buffer<float, 3>> result{"result"};

  void generate() {
    const float alpha = 1.f, beta = 1.f, least = .01f;
    w.push_back(in.width()), h.push_back(in.height());
    for (int l = 1; l < levels; ++l) w.push_back((w.back() + 1) / 2), h.push_back((h.back() + 1) / 2);

    const Expr distance = cast<float>(x) / float(steps);
    detail(x) = alpha / float(last) * distance * exp(-.5f * distance * distance);
    // The last bit decides which place in the table is read.
    gray(x, y) =
        strict_float(strict_float(strict_float(.299f * in(x, y, 0)) + strict_float(.587f * in(x, y, 1))) +
                     strict_float(.114f * in(x, y, 2)));

    // The picture after each curve, and its pyramid.
    Func g0("g0");
    const Expr v = gray(x, y), centre = cast<float>(k) * (1.f / float(last));
    const Expr place = clamp(cast<int>(v * float(last * steps)), 0, last * steps);
    g0(x, y, k) = beta * (v - centre) + centre + detail(place - steps * k);
    g.push_back(g0), own.push_back(gray);
    for (int l = 1; l < levels; ++l) {
      g.push_back(halved(g.back(), {x, y, k}, "g", l, gx));
      own.push_back(halved(own.back(), {x, y}, "own", l, ownx));
    }

    out.resize(levels);
    for (int l = levels - 1; l >= 0; --l) {
      const bool is_coarsest = l + 1 == levels;
      out[l] = Func("out" + std::to_string(l));
      const Expr at = own[l](x, y) * float(last), curve = clamp(cast<int>(at), 0, last - 1);
      const auto band = [&](const Expr& n) {
        Expr level = g[l](x, y, n);
        if (!is_coarsest)
          level -= doubled(l + 1, [&](const Expr& px, const Expr& py) { return g[l + 1](px, py, n); });
        return level;
      };
      const Expr low = band(curve);
      Expr value = low + (at - cast<float>(curve)) * (band(curve + 1) - low);
      if (!is_coarsest)
        value += doubled(l + 1, [&](const Expr& px, const Expr& py) { return out[l + 1](px, py); });
      out[l](x, y) = value;
    }
    result(x, y, c) = out[0](x, y) * (in(x, y, c) + least) / (gray(x, y) + least);
    expect(in, 3), expect(result, 3);
    if (!using_autoscheduler()) schedule_by_hand();
  }

 private:
  static constexpr int levels = 8, last = 7, steps = 256;

  using At = std::function<Expr(const Expr&, const Expr&)>;

  /// [1 3 3 1] / 8 along the rows and then down the columns, of the nearest pixels beyond the ends.
  Func halved(Func fine, const std::vector<Var>& variables, const std::string& name, int l,
              std::vector<Func>& all_rows) {
    const auto at = [&](Func f, const Expr& px, const Expr& py) {
      return variables.size() == 3 ? f(px, py, k) : f(px, py);
    };
    const auto reduced = [](const Expr& n, const std::function<Expr(const Expr&)>& f) {
      return (f(2 * n - 1) + 3 * (f(2 * n) + f(2 * n + 1)) + f(2 * n + 2)) / 8;
    };
    Func rows(name + "x" + std::to_string(l)), level(name + std::to_string(l));
    rows(variables) = reduced(x, [&](const Expr& n) { return at(fine, clamp(n, 0, w[l - 1] - 1), y); });
    level(variables) = reduced(y, [&](const Expr& n) { return at(rows, x, clamp(n, 0, h[l - 1] - 1)); });
    all_rows.push_back(rows);
    return level;
  }

  /// The level at twice the resolution.
  Expr doubled(int l, const At& f) const {
    const auto up = [](const Expr& n, const std::function<Expr(const Expr&)>& of) {
      return .75f * of(n / 2) + .25f * of(n / 2 - 1 + 2 * (n % 2));
    };
    return up(y, [&](const Expr& py) {
      return up(x, [&](const Expr& px) { return f(clamp(px, 0, w[l] - 1), clamp(py, 0, h[l] - 1)); });
    });
  }

  /// Levels are stored; rows before their columns are blurred, and what a table or two curves give, are not.
  void schedule_by_hand() {
    const int vec = natural_vector_size<float>();
    Var yo("yo");
    detail.compute_root().vectorize(x, vec);
    gray.compute_root().parallel(y, 16).vectorize(x, vec);
    for (int l = 1; l < levels; ++l) {
      const int strip = l < 4 ? 16 : 2;
      g[l].compute_root().split(y, yo, y, strip).reorder(x, y, k, yo).parallel(yo).vectorize(x, vec);
      gx[l - 1].store_at(g[l], k).compute_at(g[l], y).vectorize(x, vec);
      own[l].compute_root().split(y, yo, y, strip).parallel(yo).vectorize(x, vec);
      ownx[l - 1].store_at(own[l], yo).compute_at(own[l], y).vectorize(x, vec);
      out[l].compute_root().parallel(y, strip).vectorize(x, vec);
    }
    result.reorder(x, c, y).parallel(y, 8).vectorize(x, vec);
    out[0].compute_at(result, y).vectorize(x, vec);
  }

  Var k{"k"};
  Func detail{"detail"}, gray{"gray"};
  std::vector<Expr> w, h;  // of the levels
  std::vector<Func> g, gx, own, ownx, out;
};
HALIDE_REGISTER_GENERATOR(LocalLaplacian, local_laplacian)
