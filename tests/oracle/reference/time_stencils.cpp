#include "tests/oracle/reference/time_stencils.h"

#include <algorithm>
#include <utility>

namespace weft::oracle {
namespace {

// ---- edges ----

/// The index that stands for i in 0 … n - 1; -1 for the constant.
std::int64_t inside(std::int64_t i, std::int64_t n, Edge edge) {
  if (i >= 0 && i < n) return i;
  const auto wrapped = [&](std::int64_t period) { return ((i % period) + period) % period; };
  switch (edge) {
    case Edge::Clamp: return i < 0 ? 0 : n - 1;
    case Edge::Repeat: return wrapped(n);
    case Edge::Mirror: {
      const std::int64_t at = wrapped(2 * n);
      return at < n ? at : 2 * n - 1 - at;
    }
    case Edge::Mirror101: {
      if (n == 1) return 0;
      const std::int64_t at = wrapped(2 * n - 2);
      return at < n ? at : 2 * n - 2 - at;
    }
    default: return -1;
  }
}

template <class T>
T read(const Array<T>& a, std::int64_t x, std::int64_t y, std::int64_t z, const Boundary& boundary) {
  x = inside(x, a.extents[0], boundary.edge);
  y = inside(y, a.extents[1], boundary.edge);
  z = inside(z, a.extents[2], boundary.edge);
  return x < 0 || y < 0 || z < 0 ? T(boundary.value) : a.at(x, y, z);
}

/// Calls visit(x, y, z) for the cells that a step computes: all, or those that are not in the halo.
template <class T, class Visit>
void for_each_cell(const Array<T>& a, int rank, int radius, const Boundary& boundary, Visit visit) {
  std::array<std::int64_t, 3> halo{0, 0, 0};
  if (boundary.edge == Edge::Halo) std::fill_n(halo.begin(), rank, radius);
  for (std::int64_t z = halo[2]; z < a.extents[2] - halo[2]; ++z) {
    for (std::int64_t y = halo[1]; y < a.extents[1] - halo[1]; ++y) {
      for (std::int64_t x = halo[0]; x < a.extents[0] - halo[0]; ++x) visit(x, y, z);
    }
  }
}

// ---- the table ----

using Taps = std::vector<WeightedTap>;

WeightedTap at(int x, double weight) { return {{x, 0, 0}, weight}; }
WeightedTap at(int x, int y, double weight) { return {{x, y, 0}, weight}; }
WeightedTap at(int x, int y, int z, double weight) { return {{x, y, z}, weight}; }

/// 3x3 weights, row by row from the north-west.
Taps box2d(const std::array<double, 9>& weights) {
  Taps taps;
  for (int i = 0; i < 9; ++i) taps.push_back(at(i % 3 - 1, i / 3 - 1, weights[i]));
  return taps;
}

/// Three such boxes, from z = -1.
Taps box3d(const std::array<std::array<double, 9>, 3>& planes) {
  Taps taps;
  for (int z = -1; z <= 1; ++z) {
    for (WeightedTap tap : box2d(planes[z + 1])) {
      tap.offset[2] = z;
      taps.push_back(tap);
    }
  }
  return taps;
}

/// c plus an eighth of each second difference (a quarter in one dimension).
Taps heat(int rank) {
  const double weight = rank == 1 ? .25 : .125;
  Taps taps;
  for (int d = 0; d < rank; ++d) {
    for (const auto& [step, factor] : {std::pair(1, 1.), std::pair(0, -2.), std::pair(-1, 1.)}) {
      WeightedTap tap{{0, 0, 0}, factor * weight};
      tap.offset[d] = step;
      taps.push_back(tap);
    }
  }
  taps.push_back(at(0, 1));
  return taps;
}

/// 2.666 c - .166 (the 6 faces) - .0833 (the 12 edges).
Taps poisson() {
  Taps taps{at(0, 2.666)};
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        const int away = x * x + y * y + z * z;
        if (away == 1) taps.push_back(at(x, y, z, -.166));
        if (away == 2) taps.push_back(at(x, y, z, -.0833));
      }
    }
  }
  return taps;
}

std::vector<LinearStencil> one_dimension() {
  return {
      {"jacobi1d3", 1, 1, {at(-1, .33333), at(0, .33333), at(1, .33333)}},
      {"jacobi1d5", 1, 2, {at(-2, .2), at(-1, .2), at(0, .2), at(1, .2), at(2, .2)}},
      {"jacobi1d7", 1, 3, {at(-3, 1), at(-2, 1), at(-1, 1), at(0, 1), at(1, 1), at(2, 1), at(3, 1)}, 7},
      {"heat1d", 1, 1, heat(1)},
      {"upwind", 1, 1, {at(-1, .3), at(0, .7)}},
  };
}

std::vector<LinearStencil> two_dimensions() {
  return {
      {"j2d5pt", 2, 1, {at(0, -1, 5.1), at(-1, 0, 12.1), at(0, 15.), at(1, 0, 12.2), at(0, 1, 5.2)}, 118},
      {"j2d9pt",
       2,
       2,
       {at(0, -2, 7.1), at(0, -1, 5.1), at(-2, 0, 9.2), at(-1, 0, 12.1), at(0, 15.), at(1, 0, 12.2),
        at(2, 0, 9.1), at(0, 1, 5.2), at(0, 2, 7.2)},
       118},
      {"j2d9pt_gol", 2, 1, box2d({7.1, 5.1, 9.2, 12.1, 15, 12.2, 9.1, 5.2, 7.2}), 118},
      {"star2d1r", 2, 1, {at(0, -1, .1873), at(-1, 0, .1876), at(0, .25), at(1, 0, .1877), at(0, 1, .1874)}},
      {"star2d2r",
       2,
       2,
       {at(0, -2, .09371), at(0, -1, .09374), at(-2, 0, .09376), at(-1, 0, .09372), at(0, .25001),
        at(1, 0, .09377), at(2, 0, .09373), at(0, 1, .09375), at(0, 2, .09378)}},
      {"box2d1r", 2, 1, box2d({.09371, .09374, .09376, .09372, .25001, .09377, .09373, .09375, .09378})},
      {"jacobi2d", 2, 1, {at(0, .2), at(-1, 0, .2), at(1, 0, .2), at(0, 1, .2), at(0, -1, .2)}},
      {"heat2d", 2, 1, heat(2)},
  };
}

std::vector<LinearStencil> three_dimensions() {
  return {
      {"star3d1r",
       3,
       1,
       {at(0, .25), at(0, 0, -1, .1248), at(0, 0, 1, .1249), at(0, -1, 0, .1250), at(0, 1, 0, .1251),
        at(-1, 0, 0, .1252), at(1, 0, 0, .1253)}},
      {"star3d2r",
       3,
       2,
       {at(0, .25), at(0, 0, -1, .0620), at(0, 0, 1, .0621), at(0, -1, 0, .0622), at(0, 1, 0, .0623),
        at(-1, 0, 0, .0624), at(1, 0, 0, .06245), at(0, 0, -2, .06255), at(0, 0, 2, .0626),
        at(0, -2, 0, .0627), at(0, 2, 0, .0628), at(-2, 0, 0, .0629), at(2, 0, 0, .0630)}},
      {"box3d1r", 3, 1,
       box3d({{{.0371, .0372, .0373, .0374, .0375, .0376, .0377, .0378, .0379},
               {.0351, .0352, .0353, .0354, .0355, .0356, .0357, .0358, .0359},
               {.0361, .0362, .0363, .0364, .0365, .0366, .0367, .0368, .0369}}})},
      {"j3d27pt", 3, 1,
       box3d({{{.500, .700, .900, 1.200, 1.500, 1.201, .901, .701, .501},
               {.510, .710, .910, 1.210, 1.510, 1.211, .911, .711, .511},
               {.520, .720, .920, 1.220, 1.520, 1.221, .921, .721, .521}}}),
       159},
      {"j3d7pt",
       3,
       1,
       {at(1, 0, 0, .161), at(-1, 0, 0, .162), at(0, 1, 0, .163), at(0, -1, 0, .164), at(0, 0, 1, .165),
        at(0, 0, -1, .166), at(0, -1.67)}},
      {"heat3d", 3, 1, heat(3)},
      {"poisson", 3, 1, poisson()},
  };
}

}  // namespace

const std::vector<LinearStencil>& linear_stencils() {
  static const std::vector<LinearStencil> all = [] {
    std::vector<LinearStencil> stencils = one_dimension();
    for (const auto& more : {two_dimensions(), three_dimensions()})
      stencils.insert(stencils.end(), more.begin(), more.end());
    return stencils;
  }();
  return all;
}

// ---- the stencils ----

template <class T>
Array<T> linear(const LinearStencil& stencil, const Array<T>& in, int steps, const Boundary& boundary) {
  Array<T> old = in, next = in;
  for (int t = 0; t < steps; ++t) {
    for_each_cell(
        in, stencil.rank, stencil.radius, boundary, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
          T sum{};
          for (const auto& [offset, weight] : stencil.taps) {
            sum = sum + T(weight) * read(old, x + offset[0], y + offset[1], z + offset[2], boundary);
          }
          next.at(x, y, z) = stencil.divisor == 1 ? sum : sum / T(stencil.divisor);
        });
    std::swap(old, next);
  }
  return old;
}

template <class T>
Array<T> gradient2d(const Array<T>& in, int steps, const Boundary& boundary) {
  Array<T> old = in, next = in;
  for (int t = 0; t < steps; ++t) {
    for_each_cell(in, 2, 1, boundary, [&](std::int64_t x, std::int64_t y, std::int64_t) {
      const T c = old.at(x, y);
      T sum = T(.0001);
      for (const auto& [dx, dy] : {std::pair(0, -1), std::pair(0, 1), std::pair(1, 0), std::pair(-1, 0)}) {
        const T difference = c - read(old, x + dx, y + dy, 0, boundary);
        sum = sum + difference * difference;
      }
      next.at(x, y) = c + T(1) / std::sqrt(sum);
    });
    std::swap(old, next);
  }
  return old;
}

template <class T>
Array<T> twodepth(const Array<T>& in, int steps, const Boundary& boundary) {
  Array<T> older = in, old = in, next = in;
  for (int t = 0; t < steps; ++t) {
    for_each_cell(in, 1, 3, boundary, [&](std::int64_t x, std::int64_t, std::int64_t) {
      next.at(x) = T(.5) * (read(old, x + 1, 0, 0, boundary) + read(older, x - 3, 0, 0, boundary));
    });
    std::swap(older, old);
    std::swap(old, next);
  }
  return old;
}

Array<std::uint8_t> life(const Array<std::uint8_t>& in, int steps, const Boundary& boundary) {
  Array<std::uint8_t> old = in;
  for (std::uint8_t& cell : old.values) cell = cell != 0;
  Array<std::uint8_t> next = old;
  const Boundary alive{boundary.edge, boundary.value != 0 ? 1. : 0.};
  for (int t = 0; t < steps; ++t) {
    for_each_cell(in, 2, 1, boundary, [&](std::int64_t x, std::int64_t y, std::int64_t) {
      int neighbours = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          if (dx != 0 || dy != 0) neighbours += read(old, x + dx, y + dy, 0, alive);
        }
      }
      next.at(x, y) = neighbours == 3 || (neighbours == 2 && old.at(x, y) == 1);
    });
    std::swap(old, next);
  }
  return old;
}

Array<double> diffusion(const Array<std::uint8_t>& in, int steps, double edge, const Boundary& boundary) {
  Array<double> old{in.extents, std::vector<double>(in.values.begin(), in.values.end())};
  Array<double> next = old;
  for (int t = 0; t < steps; ++t) {
    for_each_cell(in, 2, 1, boundary, [&](std::int64_t x, std::int64_t y, std::int64_t) {
      double flow = 0;
      for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const double difference = read(old, x + dx, y + dy, 0, boundary) - old.at(x, y);
        flow += difference / (1 + std::pow(difference / edge, 2));
      }
      next.at(x, y) = old.at(x, y) + flow / 5;
    });
    std::swap(old, next);
  }
  return old;
}

template <class T>
Fields<T> fdtd2d(Fields<T> fields, int steps) {
  auto& [ex, ey, hz] = fields;
  const std::int64_t width = hz.extents[0], height = hz.extents[1];
  for (int t = 0; t < steps; ++t) {
    for (std::int64_t x = 0; x < width; ++x) ey.at(x, 0) = T(t);
    for (std::int64_t y = 1; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x)
        ey.at(x, y) = ey.at(x, y) - T(.5) * (hz.at(x, y) - hz.at(x, y - 1));
    }
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 1; x < width; ++x)
        ex.at(x, y) = ex.at(x, y) - T(.5) * (hz.at(x, y) - hz.at(x - 1, y));
    }
    for (std::int64_t y = 0; y + 1 < height; ++y) {
      for (std::int64_t x = 0; x + 1 < width; ++x) {
        hz.at(x, y) = hz.at(x, y) - T(.7) * (ex.at(x + 1, y) - ex.at(x, y) + ey.at(x, y + 1) - ey.at(x, y));
      }
    }
  }
  return fields;
}

template Array<float> linear(const LinearStencil&, const Array<float>&, int, const Boundary&);
template Array<double> linear(const LinearStencil&, const Array<double>&, int, const Boundary&);
template Array<Magnitude> linear(const LinearStencil&, const Array<Magnitude>&, int, const Boundary&);
template Array<float> gradient2d(const Array<float>&, int, const Boundary&);
template Array<double> gradient2d(const Array<double>&, int, const Boundary&);
template Array<float> twodepth(const Array<float>&, int, const Boundary&);
template Array<double> twodepth(const Array<double>&, int, const Boundary&);
template Array<Magnitude> twodepth(const Array<Magnitude>&, int, const Boundary&);
template Fields<float> fdtd2d(Fields<float>, int);
template Fields<double> fdtd2d(Fields<double>, int);
template Fields<Magnitude> fdtd2d(Fields<Magnitude>, int);

}  // namespace weft::oracle
