#include "analysis/bands.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/ranges.h"

namespace weft::analysis {
namespace {

// Fewer rows than cores may have are better divided by points.
constexpr std::int64_t least_rows = 16;

// Copies of a result with a few hundred times fewer pixels than points cost nothing, and points can be taken from several
// places in turn, which do not wait for each other's sums.
constexpr double points_of_a_pixel = 256;
constexpr std::int64_t usual_extent = 1024;

/// Of images of the usual size.
double pixels_of(const ir::Box& box) {
  double pixels = 1;
  for (const ir::Range& range : box)
    pixels *= static_cast<double>(range.extent.evaluate([](const ir::Atom&) { return usual_extent; }));
  return pixels;
}

/// Appends all forms that an index can take; false if it is computed otherwise.
bool find_forms(const ir::Expr& index, std::vector<ir::Affine>& forms) {
  if (const auto* quantity = std::get_if<ir::Quantity>(&index->op)) {
    forms.push_back(quantity->value);
    return true;
  }
  if (const auto* constant = std::get_if<ir::Const>(&index->op)) {
    forms.emplace_back(constant->value.lane[0].i);
    return true;
  }
  const auto* select = std::get_if<ir::Select>(&index->op);
  return select && find_forms(select->a, forms) && find_forms(select->b, forms);
}

bool is_outside(const ir::Affine& index, const ir::Range& range) {
  return surely_not_negative(range.min - index - 1) ||
         surely_not_negative(index - (range.min + range.extent));
}

bool depends_on_others(const ir::Affine& form, int dim) {
  return form.mentions([dim](const ir::Atom& atom) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    return !std::holds_alternative<ir::Size>(atom) && !(coord && coord->dim == dim);
  });
}

/// The forms of all updates' indices in a dimension, without those that are outside; nothing if some index is no form.
std::optional<std::vector<ir::Affine>> indices_of(const ir::Stage& stage, int dim) {
  std::vector<ir::Affine> forms;
  for (const ir::Update& update : std::get<ir::Scatter>(stage.definition).updates) {
    if (!find_forms(update.at[dim], forms)) return std::nullopt;
  }
  std::erase_if(forms, [&](const ir::Affine& form) { return is_outside(form, stage.box[dim]); });
  std::vector<ir::Affine> distinct;
  for (const ir::Affine& form : forms) {
    if (std::find(distinct.begin(), distinct.end(), form) == distinct.end()) distinct.push_back(form);
  }
  return distinct;
}

/// Whether the form is one of the coordinate alone, and grows or falls with it.
bool moves_along(const ir::Affine& form, int along) {
  ir::Scaled scaled;
  return !depends_on_others(form, along) && ir::as_scaled(form, along, &scaled) && scaled.scale != 0;
}

}  // namespace

BandsOrWhy bands_of(const ir::Stage& stage) {
  if (pixels_of(stage.box) * points_of_a_pixel < pixels_of(stage.domain()))
    return {std::nullopt, "it has few pixels for so many points"};
  const int points = static_cast<int>(stage.domain().size());
  bool has_few = false;
  for (int along = points; along-- > 0;) {
    for (int dim = stage.rank(); dim-- > 0;) {
      auto indices = indices_of(stage, dim);
      if (!indices || indices->empty() || !std::all_of(indices->begin(), indices->end(), [&](const auto& i) {
            return moves_along(i, along);
          }))
        continue;
      const ir::Affine& extent = stage.box[dim].extent;
      if (extent.is_constant() && extent.constant() < least_rows) {
        has_few = true;
        continue;
      }
      return {Bands{dim, along, *std::move(indices)}, ""};
    }
  }
  return {std::nullopt,
          has_few ? fmt::format("an index that moves with the points has less than {} values", least_rows)
                  : "no index moves with one coordinate of the points"};
}

}  // namespace weft::analysis
