#include <weft/weft.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string>

using namespace weft;

namespace {

/// a,b,tx,d,e,ty: (x, y) -> (a x + b y + tx, d x + e y + ty)
using AffineMap = std::array<float, 6>;

AffineMap parsed(const std::string& text) {
  AffineMap m{};
  const char *at = text.data(), *const end = text.data() + text.size();
  for (std::size_t i = 0; i < m.size(); ++i) {
    const auto [after, error] = std::from_chars(at, end, m[i]);
    const bool last = i + 1 == m.size();
    if (error != std::errc() || (last ? after != end : after == end || *after != ','))
      throw Error("option matrix=" + text + " is not six numbers a,b,tx,d,e,ty");
    at = after + 1;
  }
  return m;
}

/// The coefficients of the cubic B-spline through the pixels: per direction, the inverse filter
/// sqrt(3) z^|k| with z = sqrt(3) - 2, which is cut off at |k| = 12.
Stage coefficients(const std::string& name, const Source& image, const Border& border) {
  const Mask inverse = Mask::from(25, 1, [](int k, int) {
    return static_cast<float>(std::sqrt(3.) * std::pow(std::sqrt(3.) - 2, std::abs(k)));
  });
  Stage rows = convolve(name + "_x", image.border(border), inverse);
  return convolve(name, rows.border(border), inverse.transposed());
}

/// The cubic B-spline with the given coefficients, at a place.
Expr spline_at(const Accessor& c, const Expr& u, const Expr& v) {
  const auto weights = [](const Expr& f) {
    const Expr g = 1.f - f;
    return std::array<Expr, 4>{g * g * g / 6.f, 2.f / 3.f - f * f * (1.f - f / 2.f),
                               2.f / 3.f - g * g * (1.f - g / 2.f), f * f * f / 6.f};
  };
  const Expr left = floor(u), above = floor(v), x = cast<int>(left), y = cast<int>(above);
  const std::array<Expr, 4> wx = weights(u - left), wy = weights(v - above);
  Expr total = 0.f;
  for (int j = 0; j < 4; ++j) {
    Expr row = 0.f;
    for (int i = 0; i < 4; ++i) row = row + wx[i] * c(x + (i - 1), y + (j - 1));
    total = total + wy[j] * row;
  }
  return total;
}

}  // namespace

WEFT_PIPELINE(spline,
              {.summary = "squared differences of two images, one of them moved by a matrix, on all levels",
               .source = "Hipacc thesis, ch. 4",
               .size = "2048x2048",
               .white = 255 * 255}) {
  Image<float> a("a"), b("b", a.size());
  const Option<int> levels("levels", 4);
  const AffineMap m = parsed(Option<std::string>("matrix", "1,0,0,0,1,0"));
  const Border border = border_option("mirror");

  const auto reduce = binomial_reduce(border);
  const Pyramid ga("a", a, levels, reduce), gb("b", b, levels, reduce);
  const Pyramid differences("d", levels, [&](const std::string& name, int level) -> Source {
    const auto moved = coefficients(name + "_spline", gb[level], border).border(border);
    const float shrink = std::ldexp(1.f, -level);
    return stage(name, ga[level].size(), [&](Var x, Var y) {
      const Expr there =
          spline_at(moved, m[0] * x + m[1] * y + m[2] * shrink, m[3] * x + m[4] * y + m[5] * shrink);
      const Expr d = ga[level](x, y) - there;
      return d * d;
    });
  });
  return differences.collapse("out", expand_and_add(border));
}
