#include "fuzz/images.h"

#include <cmath>
#include <limits>

#include "ir/value.h"

namespace weft::fuzz {
namespace {

double modest(Random& random) {
  const double v = (2 * random.uniform() - 1) * largest_modest;
  return random.bits() % 3 == 0 ? v : std::round(v * 16) / 16;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Few of them, as one spreads over all that is computed from it.
double special(Random& random) {
  constexpr double those[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  const std::uint64_t bits = random.bits();
  return bits % 16 < 3 ? those[bits % 16] : modest(random);
}

double extreme(Random& random) {
  constexpr double special[] = {infinity,   -infinity, std::numeric_limits<double>::quiet_NaN(),
                                0.0,        -0.0,      0x1p-149,
                                -0x1p-1074, 0x1p-24};
  switch (random.bits() % 6) {
    case 0: return special[random.bits() % 8];
    case 1: return std::round(modest(random) * 40) + 0.5;  // ties
    case 2: {
      const double end = std::ldexp(random.bits() % 2 ? 1.0 : -1.0, static_cast<int>(random.bits() % 66));
      return end + 0.5 * (static_cast<double>(random.bits() % 5) - 2);
    }
    case 3: return std::ldexp(modest(random), static_cast<int>(random.bits() % 160) - 80);
    default: return modest(random);
  }
}

double any_float(const Image& image, Random& random) {
  if (image.extreme) return extreme(random);
  return image.special ? special(random) : modest(random);
}

ir::Number any_integer(Scalar s, Random& random) {
  const Type type{s, 1};
  switch (random.bits() % 12) {
    case 0: return ir::Value::integer(type, 0).lane[0];
    case 1: return ir::Value::integer(type, 1).lane[0];
    case 2: return ir::Value::integer(type, -1).lane[0];
    case 3: return ir::least(type).lane[0];
    case 4: return ir::largest(type).lane[0];
    case 5: return ir::Value::integer(type, static_cast<std::int64_t>(random.bits() % 16)).lane[0];
    default: return ir::Value::integer(type, static_cast<std::int64_t>(random.bits())).lane[0];
  }
}

}  // namespace

Buffer random_pixels(const Image& image, const std::vector<std::int64_t>& extents, Random& random) {
  Buffer buffer = Buffer::allocate(image.type, extents);
  const Scalar s = image.type.scalar;
  auto* at = static_cast<std::byte*>(buffer.data());
  for (std::int64_t i = 0; i < buffer.pixels() * image.type.lanes; ++i, at += size_of(s)) {
    if (s == Scalar::Bool)
      ir::store(s, at, {.i = static_cast<std::int64_t>(random.bits() >> 63)});
    else if (is_float(s))
      ir::store(s, at, ir::Value::real({s, 1}, any_float(image, random)).lane[0]);
    else
      ir::store(s, at, any_integer(s, random));
  }
  return buffer;
}

}  // namespace weft::fuzz
