#include "sized.h"

#include <functional>
#include <string>

using namespace Halide;

// The coordinates are those of images that are continued by 31 pixels before, and far enough after.
class PyramidBlend : public Sized<PyramidBlend> {
 public:
  Input<Buffer<float, 3>> A{"A"}, B{"B"};
  Input<Buffer<float, 2>> M{"M"};
  Output<Buffer<float, 3>> O0{"O0"};

  void generate() {
    const std::vector<Func> LA = laplacian(gaussian(A, "A"), "A"), LB = laplacian(gaussian(B, "B"), "B");
    const std::vector<Func> GM = gaussian(M, "M");
    Func O = blend(LA, LB, GM, levels - 1);
    for (int l = levels - 2; l >= 0; --l) {
      Func finer("O" + std::to_string(l)), Res = blend(LA, LB, GM, l);
      Func up = doubled(O, "Cx" + std::to_string(l));
      finer(x, y, c) = Res(x, y, c) + up(x, y, c);
      O = finer;
      results.push_back(O);
    }
    O0(x, y, c) = O(x + before, y + before, c);
    expect(A, 3), expect(B, 3), expect(M), expect(O0, 3);
    if (!using_autoscheduler()) schedule_by_hand();
  }

 private:
  static constexpr int levels = 4, before = (2 << levels) - 1;

  using At = std::function<Expr(const Expr&)>;

  static Expr blurred(const Expr& n, const At& f) {
    return (f(n - 2) + 4 * f(n - 1) + 6 * f(n) + 4 * f(n + 1) + f(n + 2)) / 16;
  }
  /// (f(n/2 - 1) + 6 f(n/2) + f(n/2 + 1)) / 8 where n is even, (f((n - 1)/2) + f((n + 1)/2)) / 2 where it is
  /// odd.
  static Expr doubled(const Expr& n, const At& f) {
    return (f((n - 1) / 2) + 3 * f(n / 2) + 3 * f((n + 1) / 2) + f(n / 2 + 1)) / 8;
  }

  /// At (x, y), or (x, y, c) of a function of channels.
  std::vector<Expr> at(const Func& f, const Expr& px, const Expr& py) const {
    return f.dimensions() == 3 ? std::vector<Expr>{px, py, c} : std::vector<Expr>{px, py};
  }
  std::vector<Var> variables(const Func& f) const {
    return f.dimensions() == 3 ? std::vector<Var>{x, y, c} : std::vector<Var>{x, y};
  }

  /// All levels of a Gaussian pyramid: each is the one before, blurred, at every other pixel.
  std::vector<Func> gaussian(const Func& image, const std::string& name) {
    Func continued = edge(image, A.width(), A.height()), G0("G0_" + name);
    G0(variables(image)) = continued(at(image, x - before, y - before));
    std::vector<Func> G{G0};
    for (int l = 1; l < levels; ++l) {
      Func fine = G.back(), Dx("Dx" + std::to_string(l) + "_" + name),
           Dy("Dy" + std::to_string(l) + "_" + name);
      Dx(variables(image)) = blurred(2 * y, [&](const Expr& n) { return fine(at(image, x, n)); });
      Dy(variables(image)) = blurred(2 * x, [&](const Expr& n) { return Dx(at(image, n, y)); });
      G.push_back(Dy);
      reduced.push_back({Dy, Dx});
    }
    return G;
  }

  /// The level at twice the resolution: first the rows, then the columns.
  Func doubled(Func coarse, const std::string& rows) {
    Func Ux(rows), up("up_" + rows);
    Ux(x, y, c) = doubled(y, [&](const Expr& n) { return coarse(x, n, c); });
    expanded.push_back(Ux);
    up(x, y, c) = doubled(x, [&](const Expr& n) { return Ux(n, y, c); });
    return up;
  }

  std::vector<Func> laplacian(const std::vector<Func>& G, const std::string& name) {
    std::vector<Func> L;
    for (int l = 0; l < levels - 1; ++l) {
      Func level("L" + std::to_string(l) + "_" + name);
      Func up = doubled(G[l + 1], "Ux" + std::to_string(l) + "_" + name);
      level(x, y, c) = G[l](x, y, c) - up(x, y, c);
      L.push_back(level);
    }
    L.push_back(G.back());
    return L;
  }

  /// Levels are stored, those of the finest result are its output; rows before their columns are blurred are not.
  void schedule_by_hand() {
    const int vec = natural_vector_size<float>();
    Var yo("yo");
    for (auto& [level, rows] : reduced) {
      level.compute_root().split(y, yo, y, 16).parallel(yo).vectorize(x, vec);
      if (level.dimensions() == 3) level.reorder(x, c, y, yo);
      rows.compute_at(level, level.dimensions() == 3 ? c : y).vectorize(x, vec);
    }
    results.back() = O0;
    for (Func& result : results)
      result.compute_root().split(y, yo, y, 16).reorder(x, c, y, yo).parallel(yo).vectorize(x, vec);
    // Of the pictures first, from level 0 on, then of the results, from the coarsest on.
    const std::size_t steps = levels - 1;
    for (std::size_t l = 0; l < steps; ++l) {
      for (const std::size_t rows : {l, steps + l, 3 * steps - 1 - l})
        expanded[rows].compute_at(results[steps - 1 - l], c).vectorize(x, vec);
    }
  }

  Func blend(const std::vector<Func>& LA, const std::vector<Func>& LB, const std::vector<Func>& GM, int l) {
    Func Res("Res" + std::to_string(l));
    Res(x, y, c) = LA[l](x, y, c) * GM[l](x, y) + LB[l](x, y, c) * (1 - GM[l](x, y));
    return Res;
  }

  std::vector<std::pair<Func, Func>> reduced;  // levels, and their rows at the finer one's width
  std::vector<Func> expanded, results;
};
HALIDE_REGISTER_GENERATOR(PyramidBlend, pyramid_blend)
