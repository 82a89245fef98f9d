// The third benchmark of the warp-tiling paper: a bilateral filter that blurs a coarse grid of cells of 8x8
// pixels and a tenth of the range of values. Its x is the row: blurx goes down the columns. The grid's
// dimensions are column, row and bin, and its two lanes the sum and the number of the pixels in a cell.
#include <weft/weft.hpp>

#include <functional>
#include <string>

using namespace weft;

namespace {

/// The published programs differ in which pixels are in which cell.
struct Grid {
  Domain window;  ///< Of a cell, around the pixel (8 gx + origin, 8 gy + origin).
  int origin;
  float rounding;  ///< Added to ten times the value, before its fraction is dropped.
  Border edge;     ///< What is around the image.
  Extents cells;   ///< What the result reads, from (0, 0) on.
  int margin;      ///< The cells around them that the blurs read.
  int bins;        ///< Of the blurred grid.
  Border outside;  ///< What the result reads beyond it; nothing, where clamping costs the least.
  bool clamps;     ///< Values beyond 0 and 1 count as these, and 0 is where the grid is empty; else the pixel
                   ///< stays.

  BoxAt box(int margin_x, int margin_y, int depth) const {
    return {{-margin_x, -margin_y, 0}, {cells[0] + 2 * margin_x, cells[1] + 2 * margin_y, depth}};
  }
};

/// Of Halide, the one that all are compared with ("H"); of PolyMage's C++ of 2015, whose cells overlap ("A");
/// and of PolyMage's source of 2016 ("D"), where what it leaves undefined is 0.
Grid grid_of(const std::string& variant, const Extents& image) {
  if (variant == "D")  // -1 is in no bin
    return {Domain(8, 8), 4, 0.f, Border::constant(-1.f), image / 8, 0, 10, Border::constant(0), false};
  const Extents reached{(image[0] + 7) / 8 + 1, (image[1] + 7) / 8 + 1};
  if (variant == "A") return {Domain(9, 9), 0, 0.5f, Border::clamp(), reached, 2, 12, Border::clamp(), false};
  return {Domain(8, 8), 0, 0.5f, Border::clamp(), reached, 2, 12, Border::clamp(), true};
}

/// [1 4 6 4 1]: the sum over f(-2) to f(2).
Expr blurred(const std::function<Expr(int)>& f) {
  return f(-2) + 4.f * f(-1) + 6.f * f(0) + 4.f * f(1) + f(2);
}

}  // namespace

WEFT_PIPELINE(bilateral_grid, {.summary = "smooths and keeps edges, by a coarse grid",
                               .source = "warp-tiling paper",
                               .range = 1}) {
  Image<float> in("in");
  const Option<std::string> variant("variant", "H", {"H", "A", "D"});
  const Grid g = grid_of(variant, in.size());
  const Accessor pixel = in.border(g.edge);
  const Border zero = Border::constant(0);

  Stage grid = stage("grid", g.box(g.margin, g.margin, 11), [&](Var gx, Var gy, Var z) {
    return sum(g.window, [&](Tap t) {
      const Expr read = pixel(8 * gx + g.origin + t.x, 8 * gy + g.origin + t.y);
      const Expr v = g.clamps ? clamp(read, 0.f, 1.f) : read;
      const Expr bin = cast<int>(10.f * v + g.rounding);
      return select(bin == cast<int>(Expr(z)), pack(v, 1.f), 0.f);
    });
  });
  const Accessor cell = grid.border(zero);
  Stage blurz = stage("blurz", g.box(g.margin, g.margin, g.bins),
                      [&](Var x, Var y, Var z) { return blurred([&](int d) { return cell(x, y, z + d); }); });
  const Accessor along_z = blurz.border(zero);
  Stage blurx = stage("blurx", g.box(g.margin, 0, g.bins), [&](Var x, Var y, Var z) {
    return blurred([&](int d) { return along_z(x, y + d, z); });
  });
  const Accessor along_x = blurx.border(zero);
  Stage blury = stage("blury", g.box(0, 0, g.bins), [&](Var x, Var y, Var z) {
    return blurred([&](int d) { return along_x(x + d, y, z); });
  });

  const Accessor b = blury.border(g.outside);
  Stage interpolated = stage("interpolated", in.size(), [&](Var x, Var y) {
    const Expr depth = 10.f * (g.clamps ? clamp(in(x, y), 0.f, 1.f) : in(x, y)), bin = cast<int>(depth);
    const Expr right = cast<float>(x % 8) / 8.f, down = cast<float>(y % 8) / 8.f;
    const auto column = [&](const Index& gx, const Expr& z) {
      return lerp(b(gx, y / 8, z), b(gx, y / 8 + 1, z), down);
    };
    const auto plane = [&](const Expr& z) { return lerp(column(x / 8, z), column(x / 8 + 1, z), right); };
    return lerp(plane(bin), plane(bin + 1), depth - cast<float>(bin));
  });
  const Expr total = interpolated.lane(0), count = interpolated.lane(1);
  Stage filtered = point("filtered", select(count > 0.f, total / count, g.clamps ? Expr(0.f) : Expr(in)));
  return Outputs(filtered).strict();  // the last bit decides in which cell a pixel is
}
