// The sixth benchmark of the warp-tiling paper: two images are blended by a mask, each band of frequencies
// over a width of its own. Its x is the row: Dx, Ux and Cx change the height.
//
// The images are continued beyond their edges so far that no level needs a border of its own. Coordinates are
// those of the continued images, as in the paper.
#include <weft/weft.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace weft;

namespace {

/// The boxes of the levels of an image that is continued by `before` and `after` pixels.
struct Frame {
  Extents image;
  int levels;

  int before() const { return (2 << levels) - 1; }
  int after() const { return (2 << levels) - 3; }
  /// The extent of level l in a dimension.
  Index extent(int dim, int l) const { return (image[dim] + before() + after()) / (std::int64_t{1} << l); }

  struct Range {
    Index first, last;  // within
  };
  /// Where the blurred level l is defined.
  Range defined(int dim, int l) const { return {l, extent(dim, l) - 2}; }
  /// What the result needs of level l.
  Range needed(int dim, int l) const {
    const int margin = 2 << (levels - l);
    return {margin - 1, extent(dim, l) - margin + 2};
  }
};

BoxAt box(const Frame::Range& x, const Frame::Range& y) {
  return {{x.first, y.first}, {x.last - x.first + 1, y.last - y.first + 1}};
}

/// "Dx1_A" is a function of level 1 of the image A.
std::string name_of(const std::string& function, int level, const std::string& image = "") {
  return function + std::to_string(level) + (image.empty() ? "" : "_" + image);
}

/// [1 4 6 4 1] / 16 around f(n).
Expr blurred(const Index& n, const std::function<Expr(const Index&)>& f) {
  return (f(n - 2) + 4.f * f(n - 1) + 6.f * f(n) + 4.f * f(n + 1) + f(n + 2)) / 16.f;
}

/// f at twice the resolution: (f(n/2 - 1) + 6 f(n/2) + f(n/2 + 1)) / 8 where n is even, and where it is odd
/// (f((n - 1)/2) + f((n + 1)/2)) / 2. Both are this formula.
Expr doubled(const Index& n, const std::function<Expr(const Index&)>& f) {
  return (f((n - 1) / 2) + 3.f * f(n / 2) + 3.f * f((n + 1) / 2) + f(n / 2 + 1)) / 8.f;
}

/// A level of a pyramid: a stage, or the continued image.
using Level = std::function<Expr(const Index& x, const Index& y)>;

Level as_level(const Stage& stage) {
  return [stage](const Index& x, const Index& y) { return stage(x, y); };
}

/// All levels of a Gaussian pyramid: each is the one before, blurred, at every other pixel.
std::vector<Level> gaussian(const Frame& frame, const AnyImage& image, const std::string& name) {
  const Accessor edge = image.border(Border::clamp());
  const int before = frame.before();
  std::vector<Level> G{[=](const Index& x, const Index& y) { return edge(x - before, y - before); }};
  for (int l = 1; l < frame.levels; ++l) {
    const Level fine = G.back();
    Stage Dx =
        stage(name_of("Dx", l, name), box(frame.defined(0, l - 1), frame.defined(1, l)),
              [&](Var x, Var y) { return blurred(2 * y, [&](const Index& n) { return fine(x, n); }); });
    G.push_back(as_level(
        stage(name_of("Dy", l, name), box(frame.defined(0, l), frame.defined(1, l)),
              [&](Var x, Var y) { return blurred(2 * x, [&](const Index& n) { return Dx(n, y); }); })));
  }
  return G;
}

/// combine(x, y, the coarse level at twice the resolution), for what the result needs of level l.
Stage with_coarse(const Frame& frame, int l, const Level& coarse, const std::string& rows,
                  const std::string& name, const std::function<Expr(Var, Var, const Expr&)>& combine) {
  Stage Ux = stage(rows, box(frame.needed(0, l + 1), frame.needed(1, l)),
                   [&](Var x, Var y) { return doubled(y, [&](const Index& n) { return coarse(x, n); }); });
  return stage(name, box(frame.needed(0, l), frame.needed(1, l)), [&](Var x, Var y) {
    return combine(x, y, doubled(x, [&](const Index& n) { return Ux(n, y); }));
  });
}

/// What each level of G has that the next coarser one has not; the last one is kept.
std::vector<Level> laplacian(const Frame& frame, const std::vector<Level>& G, const std::string& name) {
  std::vector<Level> L;
  for (int l = 0; l < frame.levels - 1; ++l) {
    L.push_back(as_level(with_coarse(frame, l, G[l + 1], name_of("Ux", l, name), name_of("L", l, name),
                                     [&](Var x, Var y, const Expr& up) { return G[l](x, y) - up; })));
  }
  L.push_back(G.back());
  return L;
}

}  // namespace

WEFT_PIPELINE(pyramid_blend, {.summary = "blends two pictures by a mask, without a seam",
                              .source = "warp-tiling paper",
                              .size = "3840x2160",
                              .range = 1}) {
  Image<Vec<float, 3>> A("A"), B("B", A.size());
  Image<float> M("M", A.size());
  const Option<int> levels("levels", 4, {1, 2, 3, 4});  // as far as the continued images reach
  const Frame frame{A.size(), levels};

  const auto GM = gaussian(frame, M, "M");
  const auto LA = laplacian(frame, gaussian(frame, A, "A"), "A");
  const auto LB = laplacian(frame, gaussian(frame, B, "B"), "B");
  const auto blend = [&](int l) {
    return stage(name_of("Res", l), box(frame.needed(0, l), frame.needed(1, l)), [&](Var x, Var y) {
      const Expr m = GM[l](x, y);
      return LA[l](x, y) * m + LB[l](x, y) * (1.f - m);
    });
  };

  Stage O = blend(levels - 1);
  for (int l = levels - 2; l >= 0; --l) {
    Stage Res = blend(l);
    O = with_coarse(frame, l, as_level(O), name_of("Cx", l), name_of("O", l),
                    [&](Var x, Var y, const Expr& up) { return Res(x, y) + up; });
  }
  return O;
}
