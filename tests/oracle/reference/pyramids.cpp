// Multiscale interpolation and pyramid blending.
#include <array>
#include <vector>

#include "tests/oracle/reference/benchmarks.h"

namespace weft::oracle::reference {
namespace {

/// A level of the interpolation, [4][h + 2][w + 2]: `value` inside, 0 in a frame of 1.
template <class Value>
Image framed(int h, int w, Value value) {
  return Image::of(4, {0, h + 1}, {0, w + 1}, [&](int c, int x, int y) -> double {
    return x >= 1 && x <= h && y >= 1 && y <= w ? value(c, x, y) : 0;
  });
}

}  // namespace

Image multiscale_interp(const Image& in, int levels, bool squared) {
  const auto h = [&](int l) { return in.rows() >> l; };
  const auto w = [&](int l) { return in.columns() >> l; };
  const Image I = padded_with_zeros(in, 1, 1);
  std::vector<Image> D{framed(h(0), w(0), [&](int c, int x, int y) {
    return c == 3 && !squared ? I(3, x, y) : I(c, x, y) * I(3, x, y);
  })};
  for (int l = 1; l < levels; ++l) {
    const Image& fine = D[l - 1];
    const Image Dx = framed(h(l), w(l - 1), [&](int c, int x, int y) {
      return (fine(c, 2 * x - 2, y) + 2 * fine(c, 2 * x - 1, y) + fine(c, 2 * x, y)) / 4;
    });
    D.push_back(framed(h(l), w(l), [&](int c, int x, int y) {
      return (Dx(c, x, 2 * y - 2) + 2 * Dx(c, x, 2 * y - 1) + Dx(c, x, 2 * y)) / 4;
    }));
  }
  Image T = D[levels - 1];
  for (int l = levels - 2; l >= 0; --l) {
    const Image Ux = framed(h(l), w(l + 1), [&](int c, int x, int y) {
      return (T(c, (x + 1) / 2, y) + T(c, (x + 2) / 2, y)) / 2;
    });
    T = framed(h(l), w(l), [&](int c, int x, int y) {
      const double up = (Ux(c, x, (y + 1) / 2) + Ux(c, x, (y + 2) / 2)) / 2;
      return D[l](c, x, y) + (1 - D[l](3, x, y)) * up;
    });
  }
  return Image::of(3, in.x(), in.y(), [&](int c, int x, int y) {
    const double alpha = T(3, x + 1, y + 1);
    return alpha == 0 ? 0 : T(c, x + 1, y + 1) / alpha;
  });
}

// ---- pyramid blending ----

namespace {

constexpr int levels = 4;

/// R and C, the size of the padded images.
struct Padded {
  int R, C;
  static int margin(int l) { return 1 << (5 - l); }
  Range rows(int l) const { return {margin(l) - 1, (R >> l) - margin(l) + 2}; }
  Range columns(int l) const { return {margin(l) - 1, (C >> l) - margin(l) + 2}; }
};

std::vector<Image> gaussian_pyramid(const Padded& size, const Image& in) {
  const std::array<double, 5> k5 = {1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.};
  std::vector<Image> G{in};
  for (int l = 1; l < levels; ++l) {
    const Range rows{l, (size.R >> l) - 2};
    const Image Dx =
        Image::of(in.channels(), rows, {l - 1, (size.C >> (l - 1)) - 2}, [&](int c, int x, int y) {
          double sum = 0;
          for (int d = -2; d <= 2; ++d) sum += k5[d + 2] * G[l - 1](c, 2 * x + d, y);
          return sum;
        });
    G.push_back(Image::of(in.channels(), rows, {l, (size.C >> l) - 2}, [&](int c, int x, int y) {
      double sum = 0;
      for (int d = -2; d <= 2; ++d) sum += k5[d + 2] * Dx(c, x, 2 * y + d);
      return sum;
    }));
  }
  return G;
}

template <class F>
double up_sampled(int n, F f) {
  if (n % 2 == 0) return (f(n / 2 - 1) + 6 * f(n / 2) + f(n / 2 + 1)) / 8;
  return (f((n - 1) / 2) + f((n + 1) / 2)) / 2;
}

/// Level l + 1 at the resolution of level l.
Image up(const Padded& size, int l, const Image& coarse) {
  const Image Ux = Image::of(coarse.channels(), size.rows(l), size.columns(l + 1), [&](int c, int x, int y) {
    return up_sampled(x, [&](int n) { return coarse(c, n, y); });
  });
  return Image::of(coarse.channels(), size.rows(l), size.columns(l),
                   [&](int c, int x, int y) { return up_sampled(y, [&](int n) { return Ux(c, x, n); }); });
}

std::vector<Image> laplacian_pyramid(const Padded& size, const std::vector<Image>& G) {
  std::vector<Image> L;
  for (int l = 0; l < levels - 1; ++l) {
    const Image coarse = up(size, l, G[l + 1]);
    L.push_back(Image::of(coarse.channels(), coarse.x(), coarse.y(),
                          [&](int c, int x, int y) { return G[l](c, x, y) - coarse(c, x, y); }));
  }
  L.push_back(G[levels - 1]);
  return L;
}

}  // namespace

Image pyramid_blend(const Image& A, const Image& B, const Image& mask) {
  const Padded size{A.rows() + 60, A.columns() + 60};
  const auto LA = laplacian_pyramid(size, gaussian_pyramid(size, padded_with_edges(A, 31, 29)));
  const auto LB = laplacian_pyramid(size, gaussian_pyramid(size, padded_with_edges(B, 31, 29)));
  const auto GM = gaussian_pyramid(size, padded_with_edges(mask, 31, 29));
  const auto blended = [&](int l) {
    return Image::of(3, size.rows(l), size.columns(l), [&](int c, int x, int y) {
      return LA[l](c, x, y) * GM[l](0, x, y) + LB[l](c, x, y) * (1 - GM[l](0, x, y));
    });
  };
  Image O = blended(levels - 1);
  for (int l = levels - 2; l >= 0; --l) {
    const Image coarse = up(size, l, O), Res = blended(l);
    O = Image::of(3, size.rows(l), size.columns(l),
                  [&](int c, int x, int y) { return Res(c, x, y) + coarse(c, x, y); });
  }
  return Image::of(3, A.x(), A.y(), [&](int c, int x, int y) { return O(c, x + 31, y + 31); });
}

}  // namespace weft::oracle::reference
