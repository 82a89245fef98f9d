#include "tests/support/compare.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "ir/value.h"

namespace weft::testing_support {
namespace {

/// 0 for equal values, NaNs included; NaN or infinity where only one of them is a number.
double distance(Scalar s, const ir::Number& a, const ir::Number& b) {
  if (!is_float(s)) {
    if (a.i == b.i) return 0;
    return std::abs(ir::convert(ir::CastMode::Convert, s, Scalar::F64, a).f -
                    ir::convert(ir::CastMode::Convert, s, Scalar::F64, b).f) +
           (size_of(s) == 8 ? 1 : 0);  // neighbouring 64-bit integers may be one double
  }
  if (a.f == b.f || (std::isnan(a.f) && std::isnan(b.f))) return 0;
  return std::abs(a.f - b.f);
}

std::string spell(Scalar s, const ir::Number& n) { return ir::Value{{s, 1}, {n}}.to_string(); }

/// The coordinates and the lane of a scalar of a dense image.
std::string place(const Buffer& image, std::int64_t scalar) {
  std::int64_t pixel = scalar / image.type().lanes;
  std::string text;
  for (const std::int64_t extent : image.extents()) {
    text += (text.empty() ? "(" : ", ") + std::to_string(pixel % extent);
    pixel /= extent;
  }
  text = text.empty() ? "the pixel" : text + ")";
  if (image.type().lanes > 1) text += " lane " + std::to_string(scalar % image.type().lanes);
  return text;
}

}  // namespace

std::string difference(const Buffer& expected, const Buffer& got, const Bound& bound) {
  if (expected.type() != got.type())
    return "pixels are " + name_of(got.type()) + ", expected " + name_of(expected.type());
  if (expected.extents() != got.extents()) return "the sizes differ";
  if (expected.pixels() == 0) return "";
  const Buffer e = expected.packed(), g = got.packed();
  const Scalar scalar = e.type().scalar;
  const std::int64_t count = e.pixels() * e.type().lanes;
  const auto number = [&](const Buffer& image, std::int64_t at) {
    return ir::load(scalar, static_cast<const std::byte*>(image.data()) + at * size_of(scalar));
  };

  std::int64_t different = 0, beyond = 0, first = -1;
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double off = distance(scalar, number(e, i), number(g, i));
    if (off == 0) continue;
    worst = off > worst || std::isnan(off) ? off : worst;
    if (!(off <= bound.largest)) ++beyond;
    if (different++ == 0 || (beyond == 1 && !(off <= bound.largest))) first = i;
  }
  const auto allowed = std::max<std::int64_t>(1, std::llround(bound.share * static_cast<double>(count)));
  if (beyond == 0 && different <= allowed) return "";
  std::ostringstream text;
  text << "at " << place(e, first) << ": expected " << spell(scalar, number(e, first)) << ", got "
       << spell(scalar, number(g, first)) << "; " << different << " of " << count << " differ, by " << worst
       << " at most; allowed are " << bound.largest << " and " << bound.share * 100 << " %";
  return text.str();
}

}  // namespace weft::testing_support
