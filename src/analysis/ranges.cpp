#include "analysis/ranges.h"

#include <algorithm>
#include <numeric>

namespace weft::analysis {
namespace {

enum class End { Min, Max };

/// `form` with every term replaced by its least or greatest value; floors are monotone in their numerators.
ir::Affine extreme(const ir::Affine& form, End end, const ir::Box* box) {
  ir::Affine result(form.constant());
  for (const auto& [atom, factor] : form.terms()) {
    const End of_atom = factor > 0 ? end : end == End::Min ? End::Max : End::Min;
    const auto value = std::visit(ir::overloaded{
                                      [&](const ir::Coord& c) -> ir::Affine {
                                        if (!box) return ir::Affine(atom);
                                        const ir::Range& range = box->at(c.dim);
                                        return of_atom == End::Min ? range.min : range.min + range.extent - 1;
                                      },
                                      [&](const ir::TapCoord& t) -> ir::Affine {
                                        const TapRange range = tap_range(*t.loop, t.dim);
                                        return of_atom == End::Min ? range.min : range.max;
                                      },
                                      [&](const ir::Size&) -> ir::Affine { return ir::Affine(atom); },
                                      [&](const ir::FloorDiv& f) -> ir::Affine {
                                        return extreme(*f.numerator, of_atom, box).floor_div(f.divisor);
                                      },
                                  },
                                  atom);
    result += value * factor;
  }
  return result;
}

/// A number that every product of nested divisors in `form` divides.
std::int64_t common_divisor_product(const ir::Affine& form) {
  std::int64_t product = 1;
  for (const auto& term : form.terms()) {
    if (const auto* floor = std::get_if<ir::FloorDiv>(&term.atom)) {
      product = std::lcm(product, floor->divisor * common_divisor_product(*floor->numerator));
    }
  }
  return product;
}

/// scale * form without floors, not greater (for End::Min) or not less: n/d - (d-1)/d <= floor(n/d) <= n/d.
ir::Affine without_floors(const ir::Affine& form, std::int64_t scale, End end) {
  ir::Affine result(form.constant() * scale);
  for (const auto& [atom, factor] : form.terms()) {
    const End of_atom = factor > 0 ? end : end == End::Min ? End::Max : End::Min;
    const auto* floor = std::get_if<ir::FloorDiv>(&atom);
    if (!floor) {
      result += ir::Affine(atom) * (factor * scale);
      continue;
    }
    const std::int64_t part = scale / floor->divisor;
    ir::Affine bound = without_floors(*floor->numerator, part, of_atom);
    if (of_atom == End::Min) bound += -(floor->divisor - 1) * part;
    result += bound * factor;
  }
  return result;
}

}  // namespace

TapRange tap_range(const ir::Loop& loop, int dim) {
  TapRange range{loop.domain.points.at(0).at(dim), loop.domain.points[0][dim]};
  for (const auto& point : loop.domain.points) {
    range.min = std::min(range.min, point[dim]);
    range.max = std::max(range.max, point[dim]);
  }
  return range;
}

Interval range_over(const ir::Affine& form, const ir::Box& box) {
  return {extreme(form, End::Min, &box), extreme(form, End::Max, &box)};
}

Interval range_over_taps(const ir::Affine& form) {
  return {extreme(form, End::Min, nullptr), extreme(form, End::Max, nullptr)};
}

std::optional<std::int64_t> constant_difference(const ir::Affine& a, const ir::Affine& b) {
  const ir::Affine difference = a - b;
  if (!difference.is_constant()) return std::nullopt;
  return difference.constant();
}

bool surely_not_negative(const ir::Affine& form) {
  const std::int64_t scale = common_divisor_product(form);
  const ir::Affine bound = without_floors(form, scale, End::Min);
  std::int64_t least = bound.constant();  // of scale * form, at sizes of 1
  for (const auto& [atom, factor] : bound.terms()) {
    if (!std::holds_alternative<ir::Size>(atom) || factor < 0) return false;
    least += factor;
  }
  return least > -scale;  // form is an integer
}

}  // namespace weft::analysis
