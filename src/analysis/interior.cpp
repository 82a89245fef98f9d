#include "analysis/interior.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "analysis/ranges.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

bool mentions_any_coord_but(const ir::Affine& a, int dim) {
  return a.mentions([dim](const ir::Atom& atom) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    return coord && coord->dim != dim;
  });
}

/// Keeps one bound per form up to its constant: the largest lower bound, the smallest upper bound.
void add_bound(std::vector<ir::Affine>& bounds, const ir::Affine& bound, bool is_lower) {
  for (ir::Affine& known : bounds) {
    const ir::Affine difference = bound - known;
    if (!difference.is_constant()) continue;
    if (is_lower ? difference.constant() > 0 : difference.constant() < 0) known = bound;
    return;
  }
  bounds.push_back(bound);
}

/// The form as floor((a*x + r) / d). A sum with floors has no such form: then one that is nowhere larger, or with `above`
/// nowhere smaller, since a floor takes off up to (d - 1) / d. Nothing if dimension `dim` occurs under nested floors.
std::optional<ir::Scaled> scaled_bound(const ir::Affine& form, int dim, bool above) {
  constexpr std::int64_t most_divisor = 1024;
  if (ir::Scaled exact; ir::as_scaled(form, dim, &exact)) return exact;
  const auto floor_in = [&](const ir::Atom& atom) {
    const auto* floor = std::get_if<ir::FloorDiv>(&atom);
    return floor && ir::mentions_coord(*floor->numerator, dim) ? floor : nullptr;
  };
  ir::Scaled bound{0, {}, 1};
  for (const auto& [atom, factor] : form.terms()) {
    if (const ir::FloorDiv* floor = floor_in(atom)) bound.divisor = std::lcm(bound.divisor, floor->divisor);
    if (bound.divisor > most_divisor) return std::nullopt;
  }
  bound.rest = form.constant() * bound.divisor;
  for (const auto& [atom, factor] : form.terms()) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    if (const ir::FloorDiv* floor = floor_in(atom)) {
      ir::Scaled inside;
      if (!ir::as_scaled(*floor->numerator, dim, &inside) || inside.divisor != 1) return std::nullopt;
      const std::int64_t share = factor * (bound.divisor / floor->divisor);
      bound.scale += share * inside.scale, bound.rest += inside.rest * share;
      if ((factor > 0) != above) bound.rest += -share * (floor->divisor - 1);
    } else if (coord && coord->dim == dim) {
      bound.scale += factor * bound.divisor;
    } else {
      bound.rest += ir::Affine(atom) * (factor * bound.divisor);
    }
  }
  return bound;
}

/// Coordinates x with region.min <= floor((a*x + r) / d) < region.min + region.extent, for a > 0:
///     x >= ceil((min*d - r) / a)    and    x <= floor((min + extent) * d - 1 - r) / a)
void add_bounds(Bounds& bounds, const ir::Affine& index, const ir::Range& region, int dim) {
  const ir::Scaled low = *scaled_bound(at_extreme_tap(index, false), dim, false),
                   high = *scaled_bound(at_extreme_tap(index, true), dim, true);
  add_bound(bounds.lower, (region.min * low.divisor - low.rest + (low.scale - 1)).floor_div(low.scale), true);
  add_bound(bounds.upper,
            ((region.min + region.extent) * high.divisor - 1 - high.rest).floor_div(high.scale) + 1, false);
}

}  // namespace

bool stays_inside(const ir::Affine& index, const ir::Range& range, const ir::Box& domain) {
  const analysis::Interval reached = analysis::range_over(index, domain);
  return analysis::surely_not_negative(reached.min - range.min) &&
         analysis::surely_not_negative(range.min + range.extent - 1 - reached.max);
}

ir::Affine at_extreme_tap(const ir::Affine& a, bool largest) {
  ir::Affine result(a.constant());
  for (const auto& [atom, factor] : a.terms()) {
    const bool upwards = (factor > 0) == largest;
    if (const auto* tap = std::get_if<ir::TapCoord>(&atom)) {
      const auto& points = tap->loop->domain.points;
      const auto [low, high] =
          std::minmax_element(points.begin(), points.end(),
                              [&](const auto& p, const auto& q) { return p[tap->dim] < q[tap->dim]; });
      result.add((upwards ? *high : *low)[tap->dim], factor);
    } else if (const auto* floor = std::get_if<ir::FloorDiv>(&atom)) {
      result.add(at_extreme_tap(*floor->numerator, upwards).floor_div(floor->divisor), factor);
    } else {
      result.add(atom, factor);
    }
  }
  return result;
}

bool is_at_tap(const ir::Read& read, const ir::Loop& loop, std::int64_t stride) {
  if (static_cast<int>(read.indices.size()) != loop.domain.rank) return false;
  for (int d = 0; d < loop.domain.rank; ++d) {
    const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
    if (!index || index->constant() != 0 || index->terms().size() != 2) return false;
    bool coord = false, tap = false;
    for (const auto& [atom, factor] : index->terms()) {
      const auto* c = std::get_if<ir::Coord>(&atom);
      const auto* t = std::get_if<ir::TapCoord>(&atom);
      coord |= c && c->dim == d && factor == 1;
      tap |= t && t->dim == d && t->loop.get() == &loop && factor == (d == 0 ? stride : 1);
    }
    if (!coord || !tap) return false;
  }
  return true;
}

Access access_of(const ir::Read& read) {
  for (std::size_t d = 0; d < read.indices.size(); ++d) {
    const auto* index = std::get_if<ir::Affine>(&read.indices[d]);
    if (!index) return Access::Mapped;
    const int dim = static_cast<int>(d);
    const std::optional<ir::Scaled> bound = scaled_bound(at_extreme_tap(*index, false), dim, false);
    if (!bound || (d == 0 && bound->scale <= 0)) return Access::Mapped;
    if (d > 0 && ir::mentions_coord(*index, 0)) return Access::Mapped;
    const bool constant_border = read.border && read.border->mode == ir::BorderMode::Constant;
    if (d > 0 && constant_border && (bound->scale <= 0 || mentions_any_coord_but(*index, dim)))
      return Access::Mapped;
  }
  return Access::Direct;
}

bool Interior::is_everything() const {
  return x.lower.empty() &&
         std::all_of(outer.begin(), outer.end(), [](const Bounds& b) { return b.lower.empty(); });
}

Interior interior_of(const ir::Stage& stage) {
  Interior interior;
  const std::size_t rank = stage.domain().size();
  interior.outer.resize(rank > 1 ? rank - 1 : 0);
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (!read.border || read.indices.empty() || access_of(read) == Access::Mapped) continue;
    const auto add = [&](Bounds& bounds, int d) {
      const auto& index = std::get<ir::Affine>(read.indices[d]);
      if (!stays_inside(index, read.region[d], stage.domain())) add_bounds(bounds, index, read.region[d], d);
    };
    add(interior.x, 0);
    if (read.border->mode != ir::BorderMode::Constant) continue;
    for (std::size_t d = 1; d < read.indices.size(); ++d) {
      if (d >= rank) continue;
      add(interior.outer[d - 1], static_cast<int>(d));
    }
  }
  return interior;
}

namespace {

/// Whether both find the same beyond a row. Constants do if they are numbers.
bool are_alike(const ir::Border& a, const ir::Border& b) {
  if (a.mode != b.mode) return false;
  if (a.mode != ir::BorderMode::Constant) return true;
  const auto* one = std::get_if<ir::Const>(&a.constant->op);
  const auto* other = std::get_if<ir::Const>(&b.constant->op);
  return one && other && one->value == other->value;
}

}  // namespace

const ir::Border* border_of_rows(const ir::Stage& stage) {
  const ir::Border* border = nullptr;
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (read.indices.empty()) continue;
    if (access_of(read) == Access::Mapped) return nullptr;
    const auto& index = std::get<ir::Affine>(read.indices[0]);
    const ir::Affine x = ir::Affine(ir::Atom(ir::Coord{0}));
    const ir::Affine first = at_extreme_tap(index, false) - x, last = at_extreme_tap(index, true) - x;
    if (!first.is_constant() || !last.is_constant()) return nullptr;
    if (stays_inside(index, read.region[0], stage.domain()) && first == last && first.constant() == 0)
      continue;
    const bool is_beside = read.border && read.region[0] == stage.domain()[0];
    if (!is_beside || (border && !are_alike(*border, *read.border))) return nullptr;
    border = &*read.border;
  }
  return border;
}

}  // namespace weft::analysis
