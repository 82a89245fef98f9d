// The third benchmark of the warp-tiling paper: a bilateral filter that blurs a coarse grid of cells of 8x8
// pixels and a tenth of the range of values. Its x is the row: blurx goes down the columns. The grid's
// dimensions are column, row and bin, and its two lanes the sum and the number of the pixels in a cell.
#include <weft/weft.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace weft;

namespace {

/// The published programs differ in which pixels are in which cell. Cell (2, 2) is that of pixel (0, 0).
struct Grid {
  Extents cells;   ///< What the result reads, from (2, 2) on.
  int margin;      ///< The cells around them that the blurs read.
  int bins;        ///< Of the blurred grid.
  BoxAt pixels;    ///< Those in the cells; the edges of the image go on.
  int shift;       ///< The pixel x is in the cell (x + shift) / 8 ...
  bool overlap;    ///< ... and if its window has nine pixels, that at its end is also in the cell before.
  float rounding;  ///< Added to ten times the value, before its fraction is dropped.
  Border outside;  ///< What the result reads beyond the cells; nothing, where clamping costs the least.
  bool clamps;     ///< Values beyond 0 and 1 count as these, and 0 is where the grid is empty; else the pixel
                   ///< stays.

  BoxAt box(int margin_x, int margin_y) const {
    return {{2 - margin_x, 2 - margin_y, 0}, {cells[0] + 2 * margin_x, cells[1] + 2 * margin_y, bins}};
  }
};

/// Of Halide, the one that all are compared with ("H"); of PolyMage's C++ of 2015, whose cells overlap ("A");
/// and of PolyMage's source of 2016 ("D"), where what it leaves undefined is 0.
Grid grid_of(const std::string& variant, const Extents& image) {
  if (variant == "D") return {image / 8, 0, 10, {{0, 0}, image}, 16, false, 0.f, Border::constant(0), false};
  const Index columns = (image[0] + 7) / 8 + 1, rows = (image[1] + 7) / 8 + 1;
  const bool a = variant == "A";
  const BoxAt pixels{{-20, -20}, {(columns + 4) * 8 + a, (rows + 4) * 8 + a}};
  return {{columns, rows}, 2, 12, pixels, 20, a, 0.5f, Border::clamp(), !a};
}

/// The cells that the coordinate x is in; -1 is none.
std::vector<Expr> cells_of(const Grid& g, const Index& x) {
  std::vector<Expr> cells{(x + g.shift) / 8};
  if (g.overlap) cells.push_back(select((x + g.shift) % 8 == 0, Expr((x + g.shift) / 8 - 1), -1));
  return cells;
}

/// [1 4 6 4 1]: the sum over f(-2) to f(2).
Expr blurred(const std::function<Expr(int)>& f) {
  return f(-2) + 4.f * f(-1) + 6.f * f(0) + 4.f * f(1) + f(2);
}

}  // namespace

WEFT_PIPELINE(bilateral_grid, {.summary = "smooths and keeps edges, by a coarse grid",
                               .source = "warp-tiling paper",
                               .size = "2560x1536",
                               .range = 1}) {
  Image<float> in("in");
  const Option<std::string> variant("variant", "H", {"H", "A", "D"});
  const Grid g = grid_of(variant, in.size());
  const Accessor pixel = in.border(Border::clamp());
  const Border zero = Border::constant(0);

  const Extents all{g.cells[0] + 4, g.cells[1] + 4, 11};
  Stage grid = scatter("grid", all, Vec<float, 2>{0.f, 0.f}, g.pixels, [&](Var x, Var y) {
    const Expr v = g.clamps ? clamp(pixel(x, y), 0.f, 1.f) : pixel(x, y);
    ScatterUpdates updates;
    for (const Expr& gx : cells_of(g, x)) {
      for (const Expr& gy : cells_of(g, y))
        updates.push_back(add({gx, gy, cast<int>(10.f * v + g.rounding)}, pack(v, 1.f)));
    }
    return updates;
  });
  const Accessor cell = grid.border(zero);
  Stage blurz = stage("blurz", g.box(g.margin, g.margin),
                      [&](Var x, Var y, Var z) { return blurred([&](int d) { return cell(x, y, z + d); }); });
  const Accessor along_z = blurz.border(zero);
  Stage blurx = stage("blurx", g.box(g.margin, 0), [&](Var x, Var y, Var z) {
    return blurred([&](int d) { return along_z(x, y + d, z); });
  });
  const Accessor along_x = blurx.border(zero);
  Stage blury = stage("blury", g.box(0, 0), [&](Var x, Var y, Var z) {
    return blurred([&](int d) { return along_x(x + d, y, z); });
  });

  const Accessor b = blury.border(g.outside);
  Stage interpolated = stage("interpolated", in.size(), [&](Var x, Var y) {
    const Expr depth = 10.f * (g.clamps ? clamp(in(x, y), 0.f, 1.f) : in(x, y)), bin = cast<int>(depth);
    const Expr right = cast<float>(x % 8) / 8.f, down = cast<float>(y % 8) / 8.f;
    const auto column = [&](const Index& gx, const Expr& z) {
      return lerp(b(gx, y / 8 + 2, z), b(gx, y / 8 + 3, z), down);
    };
    const auto plane = [&](const Expr& z) { return lerp(column(x / 8 + 2, z), column(x / 8 + 3, z), right); };
    return lerp(plane(bin), plane(bin + 1), depth - cast<float>(bin));
  });
  const Expr total = interpolated.lane(0), count = interpolated.lane(1);
  Stage filtered = point("filtered", select(count > 0.f, total / count, g.clamps ? Expr(0.f) : Expr(in)));
  return Outputs(filtered).strict();  // the last bit decides in which cell a pixel is
}
