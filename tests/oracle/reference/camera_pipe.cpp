// The camera pipe, stage by stage as in the paper's source.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/oracle/reference/benchmarks.h"

namespace weft::oracle::reference {
namespace {

using Raw = Grid<std::int16_t>;

int avg(int a, int b) { return (a + b) / 2; }
int dif(int a, int b) { return std::abs(a - b); }

/// Red, green and blue at full resolution; the grids cover what the pictures need, and more where that is
/// simpler.
struct Demosaiced {
  Raw red, green, blue;
};

Raw denoised(const Raw& img) {
  const int R = img.rows(), C = img.columns();
  return Raw::of(1, {2, R - 3}, {2, C - 3}, [&](int, int x, int y) {
    const int a = img(0, x - 2, y), b = img(0, x + 2, y), c = img(0, x, y - 2), d = img(0, x, y + 2);
    const int mx = std::max({a, b, c, d}), mn = std::min({a, b, c, d});
    return std::max<int>(mn, std::min<int>(mx, img(0, x, y)));
  });
}

/// Columns y of the even and the odd ones, then rows x likewise.
Raw interleaved(Range x, Range y, const Raw& gr, const Raw& r, const Raw& b, const Raw& gb) {
  return Raw::of(1, x, y, [&](int, int i, int j) {
    const Raw& even = i % 2 == 0 ? gr : b;
    const Raw& odd = i % 2 == 0 ? r : gb;
    return (j % 2 == 0 ? even : odd)(0, i / 2, j / 2);
  });
}

/// For pixels x in `rows`, y in `columns`.
Demosaiced demosaiced(const Raw& img, Range rows, Range columns) {
  const Raw clean = denoised(img);
  const Range i{rows.first / 2, rows.last / 2}, j{columns.first / 2, columns.last / 2};
  const auto wider = [](Range r, int by) { return Range{r.first - by, r.last + by}; };
  const auto channel = [&](int dx, int dy) {
    return Raw::of(1, wider(i, 2), wider(j, 2),
                   [&](int, int i, int j) { return clean(0, 2 * i + dx, 2 * j + dy); });
  };
  const Raw g_gr = channel(0, 0), r_r = channel(0, 1), b_b = channel(1, 0), g_gb = channel(1, 1);

  const Raw g_r = Raw::of(1, wider(i, 1), wider(j, 1), [&](int, int i, int j) {
    const int v = avg(g_gb(0, i - 1, j), g_gb(0, i, j)), vd = dif(g_gb(0, i - 1, j), g_gb(0, i, j));
    const int h = avg(g_gr(0, i, j + 1), g_gr(0, i, j)), hd = dif(g_gr(0, i, j + 1), g_gr(0, i, j));
    return hd < vd ? h : v;
  });
  const Raw g_b = Raw::of(1, wider(i, 1), wider(j, 1), [&](int, int i, int j) {
    const int v = avg(g_gr(0, i + 1, j), g_gr(0, i, j)), vd = dif(g_gr(0, i + 1, j), g_gr(0, i, j));
    const int h = avg(g_gb(0, i, j - 1), g_gb(0, i, j)), hd = dif(g_gb(0, i, j - 1), g_gb(0, i, j));
    return hd < vd ? h : v;
  });

  const Raw r_gr = Raw::of(1, i, j, [&](int, int i, int j) {
    return g_gr(0, i, j) - avg(g_r(0, i, j), g_r(0, i, j - 1)) + avg(r_r(0, i, j - 1), r_r(0, i, j));
  });
  const Raw b_gr = Raw::of(1, i, j, [&](int, int i, int j) {
    return g_gr(0, i, j) - avg(g_b(0, i, j), g_b(0, i - 1, j)) + avg(b_b(0, i, j), b_b(0, i - 1, j));
  });
  const Raw r_gb = Raw::of(1, i, j, [&](int, int i, int j) {
    return g_gb(0, i, j) - avg(g_r(0, i, j), g_r(0, i + 1, j)) + avg(r_r(0, i, j), r_r(0, i + 1, j));
  });
  const Raw b_gb = Raw::of(1, i, j, [&](int, int i, int j) {
    return g_gb(0, i, j) - avg(g_b(0, i, j), g_b(0, i, j + 1)) + avg(b_b(0, i, j), b_b(0, i, j + 1));
  });
  const Raw r_b = Raw::of(1, i, j, [&](int, int i, int j) {
    const int p =
        g_b(0, i, j) - avg(g_r(0, i, j), g_r(0, i + 1, j - 1)) + avg(r_r(0, i, j), r_r(0, i + 1, j - 1));
    const int n =
        g_b(0, i, j) - avg(g_r(0, i, j - 1), g_r(0, i + 1, j)) + avg(r_r(0, i, j - 1), r_r(0, i + 1, j));
    return dif(r_r(0, i, j), r_r(0, i + 1, j - 1)) < dif(r_r(0, i, j - 1), r_r(0, i + 1, j)) ? p : n;
  });
  const Raw b_r = Raw::of(1, i, j, [&](int, int i, int j) {
    const int p =
        g_r(0, i, j) - avg(g_b(0, i, j), g_b(0, i - 1, j + 1)) + avg(b_b(0, i, j), b_b(0, i - 1, j + 1));
    const int n =
        g_r(0, i, j) - avg(g_b(0, i, j + 1), g_b(0, i - 1, j)) + avg(b_b(0, i, j + 1), b_b(0, i - 1, j));
    return dif(b_b(0, i, j), b_b(0, i - 1, j + 1)) < dif(b_b(0, i, j + 1), b_b(0, i - 1, j)) ? p : n;
  });

  return {interleaved(rows, columns, r_gr, r_r, r_b, r_gb), interleaved(rows, columns, g_gr, g_r, g_b, g_gb),
          interleaved(rows, columns, b_gr, b_r, b_b, b_gb)};
}

/// Rows R, G, B; columns R, G, B and the offset.
using Calibration = double[3][4];
const Calibration M3200 = {{1.6697, -0.2693, -0.4004, -42.4346},
                           {-0.3576, 1.0615, 1.5949, -37.1158},
                           {-0.2175, -1.8751, 6.9640, -26.6970}};
const Calibration M7000 = {{2.2997, -0.4478, 0.1706, -39.0923},
                           {-0.3826, 1.5906, -0.2080, -25.4311},
                           {-0.0888, -0.7344, 2.2832, -20.0826}};

using Bytes = Grid<std::uint8_t>;

/// Halide's sharpening of the inner pixels of `in`.
Bytes sharpened(const Bytes& in, double strength) {
  const int s32 = static_cast<int>(std::clamp(32 * strength, 0., 255.));
  const auto round_up = [](int a, int b) { return (a + b + 1) / 2; };
  const auto blur121 = [&](int a, int b, int c) { return round_up(round_up(a, c), b); };
  const auto inner = [](Range r) { return Range{r.first + 1, r.last - 1}; };
  const Bytes vertical = Bytes::of(3, inner(in.x()), in.y(), [&](int c, int x, int y) {
    return blur121(in(c, x - 1, y), in(c, x, y), in(c, x + 1, y));
  });
  return Bytes::of(3, inner(in.x()), inner(in.y()), [&](int c, int x, int y) {
    const int blur = blur121(vertical(c, x, y - 1), vertical(c, x, y), vertical(c, x, y + 1));
    const double sharper = std::floor((in(c, x, y) - blur) * s32 / 32.);
    return std::clamp(in(c, x, y) + sharper, 0., 255.);
  });
}

}  // namespace

std::uint8_t tone_curve(int v, double gamma, double contrast) {
  const double xf = std::clamp(v / 1024., 0., 1.), g = std::pow(xf, 1 / gamma);
  const double b = 2 - std::pow(2, contrast / 100), a = 2 - 2 * b;
  const double z = g > 0.5 ? 1 - (a * (1 - g) * (1 - g) + b * (1 - g)) : a * g * g + b * g;
  return static_cast<std::uint8_t>(std::clamp(256 * z, 0., 255.));
}

Grid<std::uint8_t> camera_pipe(const Raw& raw, const CameraSettings& settings) {
  const int R = raw.rows(), C = raw.columns(), more = settings.sharpen > 0 ? 1 : 0;
  const Range x{12 - more, R - 37 + more}, y{16 - more, C - 49 + more};
  const Demosaiced in = demosaiced(raw, x, y);

  const double alpha = (1 / settings.temperature - 1 / 3200.) / (1 / 7000. - 1 / 3200.);
  const auto m = [&](int k, int column) {
    return static_cast<int>((M3200[k][column] * alpha + M7000[k][column] * (1 - alpha)) * 256);
  };
  Bytes picture = Bytes::of(3, x, y, [&](int c, int x, int y) {
    const int k = 2 - c;  // B, G, R
    const int sum =
        m(k, 3) + m(k, 0) * in.red(0, x, y) + m(k, 1) * in.green(0, x, y) + m(k, 2) * in.blue(0, x, y);
    return tone_curve(static_cast<std::int16_t>(sum / 256), settings.gamma, settings.contrast);
  });
  if (more) picture = sharpened(picture, settings.sharpen);
  return Bytes::of(3, {0, R - 49}, {0, C - 65},
                   [&](int c, int x, int y) { return picture(c, x + 12, y + 16); });
}

}  // namespace weft::oracle::reference
