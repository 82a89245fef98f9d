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

// A thread takes them one after the other, so that there should be few points, and many threads.
constexpr std::int64_t most_points_of_column = 256;
constexpr double least_columns = 4096;

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

/// What says where points go along a dimension: one coordinate, in one way.
std::optional<Bands> single_form(const ir::Stage& stage, int dim) {
  const auto indices = indices_of(stage, dim);
  if (!indices || indices->size() != 1) return std::nullopt;
  for (int along = 0; along < static_cast<int>(stage.domain().size()); ++along) {
    if (moves_along(indices->front(), along)) return Bands{dim, along, *indices};
  }
  return std::nullopt;
}

/// Coordinates that lead to one index.
std::int64_t points_of(const Bands& bands) {
  ir::Scaled scaled;
  ir::as_scaled(bands.indices.front(), bands.along, &scaled);
  const std::int64_t scale = std::abs(scaled.scale);
  return (scaled.divisor + scale - 1) / scale;
}

}  // namespace

bool Columns::is_across(int dim) const {
  return std::any_of(across.begin(), across.end(), [dim](const Bands& bands) { return bands.dim == dim; });
}

ColumnsOrWhy columns_of(const ir::Stage& stage, std::int64_t most_bytes) {
  Columns columns{{}, 1, 1};
  ir::Box across;
  std::vector<bool> is_known(stage.domain().size());  // which coordinates of the points say where they go
  for (int dim = 0; dim < stage.rank(); ++dim) {
    std::optional<Bands> bands = single_form(stage, dim);
    if (bands && !is_known[static_cast<std::size_t>(bands->along)]) {
      is_known[static_cast<std::size_t>(bands->along)] = true;
      across.push_back(stage.box[dim]);
      columns.points = std::min(columns.points * points_of(*bands), most_points_of_column + 1);
      columns.across.push_back(*std::move(bands));
      continue;
    }
    const ir::Affine& extent = stage.box[dim].extent;
    if (!extent.is_constant())
      return {std::nullopt, fmt::format("its {} is neither short nor follows one coordinate of the points",
                                        ir::dim_name(dim))};
    columns.pixels = std::min(columns.pixels * std::clamp<std::int64_t>(extent.constant(), 1, most_bytes + 1),
                              most_bytes + 1);
  }
  if (columns.pixels * size_of(stage.type) > most_bytes)
    return {std::nullopt, fmt::format("what goes with one place is more than {} bytes", most_bytes)};
  for (std::size_t d = 0; d < is_known.size(); ++d) {
    const ir::Affine& extent = stage.domain()[d].extent;
    if (is_known[d]) continue;
    if (!extent.is_constant())
      return {std::nullopt,
              fmt::format("points of any {} go to the same place", ir::dim_name(static_cast<int>(d)))};
    columns.points = std::min(columns.points, most_points_of_column + 1) *
                     std::clamp<std::int64_t>(extent.constant(), 1, most_points_of_column + 1);
  }
  if (columns.points > most_points_of_column)
    return {std::nullopt, fmt::format("more than {} points go to the same place", most_points_of_column)};
  if (pixels_of(across) < least_columns)
    return {std::nullopt, fmt::format("it has less than {} places for threads", least_columns)};
  return {std::move(columns), ""};
}

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
