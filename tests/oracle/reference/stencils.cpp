// Unsharp mask and Harris corner.
#include <array>
#include <cmath>

#include "tests/oracle/reference/benchmarks.h"

namespace weft::oracle::reference {

Image unsharp_mask(const Image& in, double threshold, double weight) {
  const int R = in.rows(), C = in.columns();
  const std::array<double, 5> k = {1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.};
  const Image I = padded_with_zeros(in, 2, 2);
  const Image blurx = Image::of(3, {2, R + 1}, {0, C + 3}, [&](int c, int x, int y) {
    double sum = 0;
    for (int d = -2; d <= 2; ++d) sum += k[d + 2] * I(c, x + d, y);
    return sum;
  });
  const Image blury = Image::of(3, {2, R + 1}, {2, C + 1}, [&](int c, int x, int y) {
    double sum = 0;
    for (int d = -2; d <= 2; ++d) sum += k[d + 2] * blurx(c, x, y + d);
    return sum;
  });
  return Image::of(3, {0, R - 1}, {0, C - 1}, [&](int c, int x, int y) {
    const double i = I(c, x + 2, y + 2), blur = blury(c, x + 2, y + 2);
    const double sharpen = (1 + weight) * i - weight * blur;
    return std::abs(i - blur) < threshold ? i : sharpen;
  });
}

Image luminance(const Image& rgb) {
  return Image::of(1, rgb.x(), rgb.y(), [&](int, int x, int y) {
    return .299 * rgb(0, x, y) + .587 * rgb(1, x, y) + .114 * rgb(2, x, y);
  });
}

Image unsharp_mask_halide(const Image& in) {
  const int R = in.rows(), C = in.columns();
  const double sigma = 1.5;
  const auto g = [&](int i) {
    return std::exp(-i * i / (2 * sigma * sigma)) / (std::sqrt(2 * std::acos(-1.)) * sigma);
  };
  const Image gray = luminance(in);
  const Image clamped = padded_with_edges(gray, 3, 3);
  const Image blur_y = Image::of(1, {0, R - 1}, {0, C + 5}, [&](int, int x, int y) {
    double sum = 0;
    for (int d = -3; d <= 3; ++d) sum += g(d) * clamped(0, x + 3 + d, y);
    return sum;
  });
  return Image::of(3, {0, R - 1}, {0, C - 1}, [&](int c, int x, int y) {
    double blur = 0;
    for (int d = -3; d <= 3; ++d) blur += g(d) * blur_y(0, x, y + 3 + d);
    const double ratio = (2 * gray(0, x, y) - blur) / gray(0, x, y);
    return ratio * in(c, x, y);
  });
}

Image harris_corner(const Image& I) {
  const int R = I.rows() - 2, C = I.columns() - 2;
  const Image Iy = Image::of(1, {1, R}, {1, C}, [&](int, int x, int y) {
    return ((I(0, x - 1, y + 1) - I(0, x - 1, y - 1)) + 2 * (I(0, x, y + 1) - I(0, x, y - 1)) +
            (I(0, x + 1, y + 1) - I(0, x + 1, y - 1))) /
           12;
  });
  const Image Ix = Image::of(1, {1, R}, {1, C}, [&](int, int x, int y) {
    return ((I(0, x + 1, y - 1) - I(0, x - 1, y - 1)) + 2 * (I(0, x + 1, y) - I(0, x - 1, y)) +
            (I(0, x + 1, y + 1) - I(0, x - 1, y + 1))) /
           12;
  });
  const auto sum_of_products = [](const Image& a, const Image& b, int x, int y) {
    double sum = 0;
    for (int i = x - 1; i <= x + 1; ++i) {
      for (int j = y - 1; j <= y + 1; ++j) sum += a(0, i, j) * b(0, i, j);
    }
    return sum;
  };
  return Image::of(1, I.x(), I.y(), [&](int, int x, int y) -> double {
    if (x < 2 || x > R - 1 || y < 2 || y > C - 1) return 0;
    const double Sxx = sum_of_products(Ix, Ix, x, y), Syy = sum_of_products(Iy, Iy, x, y);
    const double Sxy = sum_of_products(Ix, Iy, x, y), trace = Sxx + Syy;
    return Sxx * Syy - Sxy * Sxy - 0.04 * trace * trace;
  });
}

}  // namespace weft::oracle::reference
