// The iterated stencils as plain loops over arrays, without Weft: what Weft's applications are compared with.
// Every step reads one array and writes another. The sources are PolyBench, Pluto, AN5D (Matsumura et al.,
// 2020) and StencilGen; in three dimensions their i, j, k are z, y, x, in two their i, j are y, x.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::oracle {

/// A number that only grows: the sum of magnitudes that a computation adds up, whatever cancels. A float
/// result is off by a few roundings of that, not of itself.
struct Magnitude {
  double value = 0;
  Magnitude() = default;
  explicit Magnitude(double v) : value(std::abs(v)) {}
  friend Magnitude operator+(Magnitude a, Magnitude b) { return Magnitude(a.value + b.value); }
  friend Magnitude operator-(Magnitude a, Magnitude b) { return a + b; }
  friend Magnitude operator*(Magnitude a, Magnitude b) { return Magnitude(a.value * b.value); }
  friend Magnitude operator/(Magnitude a, Magnitude b) { return Magnitude(a.value / b.value); }
};

/// Up to three dimensions, x first and fastest; those that an array does not have are 1.
template <class T>
struct Array {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::vector<T> values;

  T& at(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0) {
    return values[(z * extents[1] + y) * extents[0] + x];
  }
  const T& at(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0) const {
    return values[(z * extents[1] + y) * extents[0] + x];
  }
};

/// What happens at the edges: the outer cells keep their values (a halo), or reads beyond the edge give
/// another pixel or a constant.
enum class Edge { Halo, Clamp, Mirror, Mirror101, Repeat, Constant };
struct Boundary {
  Edge edge = Edge::Halo;
  double value = 0;  ///< Constant
};

struct WeightedTap {
  std::array<int, 3> offset;  ///< x, y, z
  double weight;
};
/// new = (sum of weight * old at the offset, in this order) / divisor.
struct LinearStencil {
  std::string name;
  int rank, radius;  ///< The radius is the width of the halo, in every dimension.
  std::vector<WeightedTap> taps;
  double divisor = 1;
};
/// All but those below.
const std::vector<LinearStencil>& linear_stencils();

// After `steps` steps. T is float, double or Magnitude.

template <class T>
Array<T> linear(const LinearStencil& stencil, const Array<T>& in, int steps, const Boundary& boundary);

/// 2-D: c + 1 / sqrt(0.0001 + (c-n)^2 + (c-s)^2 + (c-e)^2 + (c-w)^2); float and double.
template <class T>
Array<T> gradient2d(const Array<T>& in, int steps, const Boundary& boundary);

/// 1-D: half the sum of the right neighbour one step before and the third to the left two steps before.
/// Before the first step it was always like the input. The halo is 3 wide.
template <class T>
Array<T> twodepth(const Array<T>& in, int steps, const Boundary& boundary);

/// Conway's game of life: what is not 0 is alive; 0 and 1 come back.
Array<std::uint8_t> life(const Array<std::uint8_t>& in, int steps, const Boundary& boundary);

/// Perona and Malik's anisotropic diffusion with c(s) = 1 / (1 + (s / edge)^2), a fifth of each difference to a step. It comes back
/// unrounded.
Array<double> diffusion(const Array<std::uint8_t>& in, int steps, double edge, const Boundary& boundary);

/// PolyBench's fdtd-2d: electric fields along x and y, and the magnetic field; all of one size. Row 0 of ey
/// is the number of the step.
template <class T>
struct Fields {
  Array<T> ex, ey, hz;
};
template <class T>
Fields<T> fdtd2d(Fields<T> fields, int steps);

}  // namespace weft::oracle
