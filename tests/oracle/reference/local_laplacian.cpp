// Local Laplacian filters, each pixel's band of a level by the pyramids of two remapped pictures.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/oracle/reference/benchmarks.h"

namespace weft::oracle::reference {
namespace {

double at_nearest(const Image& image, int c, int x, int y) {
  return image(c, std::clamp(x, 0, image.rows() - 1), std::clamp(y, 0, image.columns() - 1));
}

Image halved(const Image& in) {
  const auto sum = [](auto f) { return (f(-1) + 3 * f(0) + 3 * f(1) + f(2)) / 8; };
  const Image rows = Image::of(in.channels(), {0, (in.rows() + 1) / 2 - 1}, in.y(), [&](int c, int x, int y) {
    return sum([&](int d) { return at_nearest(in, c, 2 * x + d, y); });
  });
  return Image::of(in.channels(), rows.x(), {0, (in.columns() + 1) / 2 - 1}, [&](int c, int x, int y) {
    return sum([&](int d) { return at_nearest(rows, c, x, 2 * y + d); });
  });
}

/// At twice the resolution: between two pixels, three times as much of the nearer one.
double doubled(const Image& coarse, int c, int x, int y) {
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int row = x / 2 + (i == 0       ? 0
                               : x % 2 == 0 ? -1
                                            : 1),
                column = y / 2 + (j == 0       ? 0
                                  : y % 2 == 0 ? -1
                                               : 1);
      sum += (i == 0 ? .75 : .25) * (j == 0 ? .75 : .25) * at_nearest(coarse, c, row, column);
    }
  }
  return sum;
}

std::vector<Image> pyramid(const Image& in, int levels) {
  std::vector<Image> all{in};
  while (static_cast<int>(all.size()) < levels) all.push_back(halved(all.back()));
  return all;
}

}  // namespace

Image local_laplacian(const Image& in, const LocalLaplacianSettings& s) {
  const int last = s.curves - 1, steps = 256;
  // Which place of a curve's table a pixel has is decided in floats.
  const Grid<float> gray = Grid<float>::of(1, in.x(), in.y(), [&](int, int x, int y) {
    const auto channel = [&](int c) { return static_cast<float>(in(c, x, y)); };
    const float red = .299f * channel(0), green = .587f * channel(1), blue = .114f * channel(2);
    const float sum = red + green;
    return sum + blue;
  });
  const Image brightness = Image::of(1, in.x(), in.y(), [&](int, int x, int y) { return gray(0, x, y); });
  const Image remapped = Image::of(s.curves, in.x(), in.y(), [&](int k, int x, int y) {
    const double v = gray(0, x, y), centre = double(k) / last;
    const int place =
        std::clamp(static_cast<int>(gray(0, x, y) * static_cast<float>(last * steps)), 0, last * steps);
    const double distance = (place - steps * k) / double(steps);
    return s.beta * (v - centre) + centre + s.alpha / last * distance * std::exp(-distance * distance / 2);
  });
  const std::vector<Image> own = pyramid(brightness, s.levels), g = pyramid(remapped, s.levels);
  Image out = brightness;
  for (int l = s.levels - 1; l >= 0; --l) {
    const bool is_coarsest = l + 1 == s.levels;
    const Image coarser = out;
    out = Image::of(1, own[l].x(), own[l].y(), [&](int, int x, int y) {
      const double place = own[l](0, x, y) * last;
      const int k = std::clamp(static_cast<int>(place), 0, last - 1);
      const auto band = [&](int curve) {
        return g[l](curve, x, y) - (is_coarsest ? 0 : doubled(g[l + 1], curve, x, y));
      };
      const double band_of_pixel = band(k) + (place - k) * (band(k + 1) - band(k));
      return band_of_pixel + (is_coarsest ? 0 : doubled(coarser, 0, x, y));
    });
  }
  return Image::of(3, in.x(), in.y(), [&](int c, int x, int y) {
    return out(0, x, y) * (in(c, x, y) + .01) / (brightness(0, x, y) + .01);
  });
}

}  // namespace weft::oracle::reference
