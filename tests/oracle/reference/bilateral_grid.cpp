// The three published bilateral grids.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/oracle/reference/benchmarks.h"

namespace weft::oracle::reference {
namespace {

/// Sums and counts of a grid's cells, (gx, gy, z), 0 outside.
class Cells {
 public:
  Cells(Range x, Range y, Range z) : z_(z), values_(2 * z.size(), x, y) {}
  double get(int c, int x, int y, int z) const {
    return z_.contains(z) ? values_.get(c * z_.size() + z - z_.first, x, y, 0) : 0;
  }
  double& at(int c, int x, int y, int z) { return values_(c * z_.size() + z - z_.first, x, y); }
  Range x() const { return values_.x(); }
  Range y() const { return values_.y(); }
  Range z() const { return z_; }

 private:
  Range z_;
  Grid<double> values_;
};

/// [1 4 6 4 1] along dimension dim (0 is x, 1 is y, 2 is z), for the cells of a box.
Cells blurred(const Cells& in, int dim, Range x, Range y, Range z) {
  const std::array<double, 5> weights = {1, 4, 6, 4, 1};
  Cells out(x, y, z);
  for (int c = 0; c < 2; ++c) {
    for (int i = x.first; i <= x.last; ++i) {
      for (int j = y.first; j <= y.last; ++j) {
        for (int k = z.first; k <= z.last; ++k) {
          for (int d = -2; d <= 2; ++d)
            out.at(c, i, j, k) +=
                weights[d + 2] * in.get(c, i + d * (dim == 0), j + d * (dim == 1), k + d * (dim == 2));
        }
      }
    }
  }
  return out;
}

/// Between the eight cells around (x/8, y/8, zv), in x, then y, then z.
double interpolated(const Cells& cells, int c, int x, int y, int offset_xy, double zv, int offset_z) {
  const auto lerp = [](double a, double b, double w) { return a + w * (b - a); };
  const int xi = x / 8 + offset_xy, yi = y / 8 + offset_xy, zi = static_cast<int>(zv) + offset_z;
  const double xf = x % 8 / 8., yf = y % 8 / 8., zf = zv - static_cast<int>(zv);
  const auto in_x = [&](int y, int z) {
    return lerp(cells.get(c, xi, y, z), cells.get(c, xi + 1, y, z), xf);
  };
  const auto in_y = [&](int z) { return lerp(in_x(yi, z), in_x(yi + 1, z), yf); };
  return lerp(in_y(zi), in_y(zi + 1), zf);
}

double clamped(double v) { return std::clamp(v, 0., 1.); }

/// Windows of rows 8 gx - 4 to 8 gx + last, and columns likewise, of an image whose edges go on forever; the
/// bins are rounded to the nearest, and bin 0 is `offset`.
Cells windowed(const Image& in, int last, int offset) {
  const auto nearest = [](int i, int n) { return std::clamp(i, 0, n - 1); };
  Cells grid({-2, in.rows() / 8 + 4}, {-2, in.columns() / 8 + 4}, {offset, 10 + offset});
  for (int gx = grid.x().first; gx <= grid.x().last; ++gx) {
    for (int gy = grid.y().first; gy <= grid.y().last; ++gy) {
      for (int x = 8 * gx - 4; x <= 8 * gx + last; ++x) {
        for (int y = 8 * gy - 4; y <= 8 * gy + last; ++y) {
          const double v = clamped(in(0, nearest(x, in.rows()), nearest(y, in.columns())));
          const int z = offset + static_cast<int>(10 * v + 0.5);
          grid.at(0, gx, gy, z) += v;
          grid.at(1, gx, gy, z) += 1;
        }
      }
    }
  }
  return grid;
}

Cells blurred_all(const Cells& grid, Range z) {
  const Cells blurz = blurred(grid, 2, grid.x(), grid.y(), z);
  const Cells blurx = blurred(blurz, 0, {0, grid.x().last - 2}, grid.y(), z);
  return blurred(blurx, 1, blurx.x(), {0, grid.y().last - 2}, z);
}

}  // namespace

Image bilateral_grid_h(const Image& in) {
  const Cells blury = blurred_all(windowed(in, 3, 0), {0, 11});
  return Image::of(1, in.x(), in.y(), [&](int, int x, int y) {
    const double zv = 10 * clamped(in(0, x, y)), count = interpolated(blury, 1, x, y, 0, zv, 0);
    return count == 0 ? 0 : interpolated(blury, 0, x, y, 0, zv, 0) / count;
  });
}

Image bilateral_grid_a(const Image& in) {
  const Cells blury = blurred_all(windowed(in, 4, 2), {2, 13});
  return Image::of(1, in.x(), in.y(), [&](int, int x, int y) {
    const double v = in(0, x, y), count = interpolated(blury, 1, x, y, 0, 10 * v, 2);
    return count > 0 ? interpolated(blury, 0, x, y, 0, 10 * v, 2) / count : v;
  });
}

Image bilateral_grid_d(const Image& in) {
  const int R = in.rows(), C = in.columns();
  Cells grid({0, R / 8 + 3}, {0, C / 8 + 3}, {0, 13});
  for (int x = 0; x < R; ++x) {
    for (int y = 0; y < C; ++y) {
      const double v = in(0, x, y);
      const int z = 2 + static_cast<int>(10 * v);
      grid.at(0, x / 8 + 2, y / 8 + 2, z) += v;
      grid.at(1, x / 8 + 2, y / 8 + 2, z) += 1;
    }
  }
  Cells blurs = grid;  // what the source leaves undefined is 0
  for (int dim : {2, 0, 1}) blurs = blurred(blurs, dim, {2, R / 8 + 1}, {2, C / 8 + 1}, {2, 11});
  return Image::of(1, in.x(), in.y(), [&](int, int x, int y) {
    const double v = in(0, x, y), count = interpolated(blurs, 1, x, y, 2, 10 * v, 2);
    return count > 0 ? interpolated(blurs, 0, x, y, 2, 10 * v, 2) / count : v;
  });
}

}  // namespace weft::oracle::reference
