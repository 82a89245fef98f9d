// The fifth benchmark of the warp-tiling paper: from a sensor's raw values to a picture. Its x is the row,
// and i, j are row and column at half the resolution; here the column comes first, as everywhere in Weft.
#include <weft/weft.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <string>

using namespace weft;

namespace {

using Pixel = std::int16_t;

Expr pixel(const Expr& value) { return cast<Pixel>(value); }
Expr avg(const Expr& a, const Expr& b) { return (a + b) / 2; }
Expr dif(const Expr& a, const Expr& b) { return abs(a - b); }

/// The boxes of all stages, in coordinates of the raw image. The result lies `margin` further in than what
/// the stencils read, and sharpening needs `more` around it.
struct Frame {
  Index w, h;
  int more;

  /// From column x0 and row y0 to the column w - x1 and the row h - y1, all within.
  BoxAt full(int x0, int y0, int x1, int y1) const { return {{x0, y0}, {w - x1 - x0 + 1, h - y1 - y0 + 1}}; }
  /// Of pixels that the demosaicking computes.
  BoxAt computed() const { return full(16 - more, 12 - more, 49 - more, 37 - more); }
  /// At half the resolution, `around` pixels more on all sides than the interleaving reads.
  BoxAt half(int around) const {
    const int j = 8 - more - around, i = 6 - more - around;
    return {{j, i}, {(w - 48) / 2 + around - j + 1, (h - 36) / 2 + around - i + 1}};
  }
};
