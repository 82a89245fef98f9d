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
    std::visit(ir::overloaded{
                   [&](const ir::Coord& c) {
                     if (!box) {
                       result.add(atom, factor);
                       return;
                     }
                     const ir::Range& range = box->at(c.dim);
                     result.add(range.min, factor);
                     if (of_atom == End::Max) result.add(range.extent, factor).add(-1, factor);
                   },
                   [&](const ir::TapCoord& t) {
                     const TapRange range = tap_range(*t.loop, t.dim);
                     result.add(of_atom == End::Min ? range.min : range.max, factor);
                   },
                   [&](const ir::Size&) { result.add(atom, factor); },
                   [&](const ir::FloorDiv& f) {
                     result.add(extreme(*f.numerator, of_atom, box).floor_div(f.divisor), factor);
                   },
               },
               atom);
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
      result.add(atom, factor * scale);
      continue;
    }
    const std::int64_t part = scale / floor->divisor;
    ir::Affine bound = without_floors(*floor->numerator, part, of_atom);
    if (of_atom == End::Min) bound += -(floor->divisor - 1) * part;
    result.add(bound, factor);
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

std::optional<std::int64_t> sure_minimum(const ir::Affine& form) {
  const std::int64_t scale = common_divisor_product(form);
  const ir::Affine bound = without_floors(form, scale, End::Min);
  std::int64_t least = bound.constant();  // of scale * form, at sizes of 1
  for (const auto& [atom, factor] : bound.terms()) {
    if (!std::holds_alternative<ir::Size>(atom) || factor < 0) return std::nullopt;
    least += factor;
  }
  return ir::floor_div(least + scale - 1, scale);  // rounded up, as the form is an integer
}

bool surely_not_negative(const ir::Affine& form) { return sure_minimum(form).value_or(-1) >= 0; }

}  // namespace weft::analysis
