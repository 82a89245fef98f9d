#include "tests/support/images.h"

#include <cmath>
#include <limits>
#include <random>

#include "ir/value.h"

namespace weft::testing_support {
namespace {

// The distributions of <random> differ between libraries; its engines do not.
using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

double unit(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Stores make(x, y), a Number of the image's scalar type, in every lane of every pixel.
template <class Make>
Buffer filled(Type type, const std::vector<std::int64_t>& extents, Make make) {
  Buffer image = Buffer::allocate(type, extents);
  auto* at = static_cast<std::byte*>(image.data());
  const std::int64_t width = image.rank() > 0 ? image.extent(0) : 1;
  for (std::int64_t pixel = 0; pixel < image.pixels(); ++pixel) {
    for (int lane = 0; lane < type.lanes; ++lane, at += size_of(type.scalar))
      ir::store(type.scalar, at, make(pixel % width, pixel / width));
  }
  return image;
}

ir::Number from_double(Scalar s, double value) {
  return ir::convert(ir::CastMode::Saturate, Scalar::F64, s, {.f = value});
}

}  // namespace

Buffer picture(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  Random random(seed);
  return filled(type, extents, [&](std::int64_t x, std::int64_t y) {
    const double gradient = 60.0 + static_cast<double>((3 * x + 5 * y) % 97);
    const double edge = (x / 9 + y / 7) % 2 == 0 ? 80.0 : 0.0;
    const std::int64_t rare = below(random, 16);
    const double value = rare == 0 ? 0.0 : rare == 1 ? 255.0 : gradient + edge + 18.0 * (unit(random) - 0.5);
    return from_double(type.scalar, value);
  });
}

Buffer noise(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  Random random(seed);
  const Scalar s = type.scalar;
  return filled(type, extents, [&](std::int64_t, std::int64_t) -> ir::Number {
    if (s == Scalar::Bool) return {.i = below(random, 2)};
    if (is_float(s)) return from_double(s, std::ldexp(static_cast<double>(below(random, 2001) - 1000), -4));
    switch (below(random, 12)) {
      case 0: return {.i = 0};
      case 1: return {.i = 1};
      case 2: return ir::convert(ir::CastMode::Convert, Scalar::I64, s, {.i = -1});
      case 3: return ir::least({s, 1}).lane[0];
      case 4: return ir::largest({s, 1}).lane[0];
      default:
        return ir::convert(ir::CastMode::Convert, Scalar::U64, s, {.i = static_cast<std::int64_t>(random())});
    }
  });
}

Buffer extreme_floats(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  Random random(seed);
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double special[] = {inf, -inf, std::nan(""), 0.0, -0.0, 0x1p-149, -0x1p-1074, 0x1p-24};
  return filled(type, extents, [&](std::int64_t, std::int64_t) -> ir::Number {
    double value = 0;
    switch (below(random, 4)) {
      case 0: value = special[below(random, 8)]; break;
      case 1: value = static_cast<double>(below(random, 600) - 300) + 0.5; break;  // ties
      case 2: {  // around ±2^k, the ends of the integers
        const double end = std::ldexp(below(random, 2) ? 1.0 : -1.0, static_cast<int>(below(random, 66)));
        value = end + static_cast<double>(below(random, 5) - 2) * 0.5;
        break;
      }
      default: value = std::ldexp(unit(random) - 0.5, static_cast<int>(below(random, 160)) - 60);
    }
    return ir::convert(ir::CastMode::Convert, Scalar::F64, type.scalar, {.f = value});
  });
}

}  // namespace weft::testing_support
