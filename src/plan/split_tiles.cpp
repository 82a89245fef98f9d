#include "plan/split_tiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/round_up.h"
#include "ir/affine.h"
#include "ir/print.h"

namespace weft::plan {
namespace {

using analysis::TimeDependence;
using analysis::TimeDependences;

constexpr int shift_unit = 2;                          // shifts are halves of a pixel
constexpr int most_shift = 2 * shift_unit;             // to both sides
constexpr std::size_t most_fields_tried_together = 4;  // 9 shifts of each but the first
constexpr int least_top = 8;                           // pixels, where sizes are chosen

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -ir::floor_div(-a, b); }

/// How far a tile's ends have to lean, in parts of a pixel for each level.
struct Slopes {
  int left = 0, right = 0;
};
Slopes slopes_of(const TimeDependences& needs, int dim, const std::vector<int>& shift, int unit) {
  Slopes slopes;
  const int part = unit / shift_unit;
  for (const TimeDependence& need : needs.all) {
    if (need.ticks == 0) continue;  // a pixel overwrites itself
    const analysis::Reach& o = need.offsets[dim];
    const std::int64_t apart = std::int64_t{shift[need.source] - shift[need.sink]} * part;
    slopes.left = std::max<int>(slopes.left, static_cast<int>(-(o.min * unit + apart) / need.ticks));
    slopes.right = std::max<int>(slopes.right, static_cast<int>((o.max * unit + apart) / need.ticks));
  }
  return slopes;
}

/// Shifts with which tiles lean least, in halves of a pixel; the least of them is 0.
std::vector<int> best_shifts(const TimeDependences& needs, int dim, int unit) {
  const std::size_t fields = needs.level.size();
  std::vector<int> best(fields, 0);
  const auto price = [&](const std::vector<int>& shift) {
    const Slopes slopes = slopes_of(needs, dim, shift, unit);
    int moved = 0;
    for (const int s : shift) moved += std::abs(s);
    return std::pair(slopes.left + slopes.right, moved);
  };
  const auto try_all = [&](auto&& self, std::vector<int>& shift, std::size_t f) -> void {
    if (f == fields) {
      if (price(shift) < price(best)) best = shift;
      return;
    }
    for (shift[f] = -most_shift; shift[f] <= most_shift; ++shift[f]) self(self, shift, f + 1);
    shift[f] = 0;
  };
  std::vector<int> shift(fields, 0);
  if (fields <= most_fields_tried_together) try_all(try_all, shift, 1);
  const int least = *std::min_element(best.begin(), best.end());
  for (int& s : best) s -= least;
  return best;
}

/// The same slopes and shifts in the largest parts of a pixel that do.
void reduce(SplitTiles& tiles) {
  int common = tiles.unit;
  for (const SplitDimension& d : tiles.dims) {
    common = std::gcd(common, std::gcd(d.left, d.right));
    for (const int s : d.shift) common = std::gcd(common, s);
  }
  tiles.unit /= common;
  for (SplitDimension& d : tiles.dims) {
    d.left /= common, d.right /= common;
    for (int& s : d.shift) s /= common;
  }
}

/// The least pitch for tiles of that width at the top.
int least_pitch(const SplitTiles& tiles, const SplitDimension& d, int top) {
  const std::int64_t lean = d.left + d.right, levels = tiles.levels_of_band();
  std::int64_t pitch = top + ceil_div(lean * (levels - 1), tiles.unit);
  if (tiles.scheme == SplitScheme::Fused) {
    // Room for the upright tile of the next band between the inverted ones of this band.
    const std::int64_t left = ceil_div(d.left * levels, tiles.unit),
                       right = ceil_div(d.right * levels, tiles.unit);
    pitch = std::max(pitch, left + right);
  }
  return static_cast<int>(pitch);
}

/// How far the first upright tile reaches before its place at the top of a band.
int most_before(const SplitTiles& tiles, const SplitDimension& d) {
  const std::int64_t levels = tiles.levels_of_band() - 1;
  const int shift = *std::max_element(d.shift.begin(), d.shift.end());
  return static_cast<int>(ceil_div(shift + d.left * levels, tiles.unit));
}

}  // namespace

std::int64_t SplitBound::at(std::int64_t k, std::int64_t d) const {
  return ceil_div(of_tile * k + of_level * d + constant, unit);
}

int SplitTiles::origin_step(const SplitDimension& d) const {
  return scheme == SplitScheme::Fused
             ? static_cast<int>(ceil_div(std::int64_t{d.left} * levels_of_band(), unit))
             : 0;
}

std::pair<SplitBound, SplitBound> ends_of(const SplitTiles& tiles, const SplitDimension& d, bool is_inverted,
                                          std::size_t field) {
  const std::int64_t unit = tiles.unit, pitch = unit * d.pitch, top = unit * d.top, shift = d.shift[field];
  const SplitBound begin{pitch, -d.left, -shift, tiles.unit}, middle{pitch, d.right, top - shift, tiles.unit},
      end{pitch, -d.left, pitch - shift, tiles.unit};
  return is_inverted ? std::pair(middle, end) : std::pair(begin, middle);
}

int first_tile(const SplitTiles& tiles) { return tiles.scheme == SplitScheme::Fused ? -2 : 0; }

int pixels_beyond(const SplitTiles& tiles, const SplitDimension& d) {
  // The tile after the last begins beyond the last pixel, in whatever level.
  return d.wraps ? 0 : most_before(tiles, d) - 1 + (1 - first_tile(tiles)) * d.pitch;
}

int first_on_circle(const SplitTiles& tiles, const SplitDimension& d) { return most_before(tiles, d); }

SplitOrWhy split_tiles(const TimeDependences& needs, int steps, const SplitChoices& asked,
                       const std::vector<int>& lengths) {
  const int rank = static_cast<int>(lengths.size());
  if (!needs.why.empty()) return {std::nullopt, needs.why};
  SplitTiles tiles;
  tiles.steps = steps, tiles.levels = needs.levels, tiles.level = needs.level;
  for (const int arrays : needs.arrays) tiles.turn = std::lcm(tiles.turn, arrays);
  if (asked.tiles.empty()) tiles.steps = round_up(steps, tiles.turn);
  std::vector<int> split;
  for (const auto& [dim, extents] : asked.tiles) split.push_back(dim);
  for (int d = 0; d < rank && asked.tiles.empty(); ++d) {
    if (lengths[static_cast<std::size_t>(d)] > 0) split.push_back(d);
  }
  if (split.empty()) return {std::nullopt, "there is no dimension to split"};
  for (const int dim : split) {
    if (dim < 0 || dim >= rank) return {std::nullopt, "it has no dimension " + ir::dim_name(dim)};
  }
  tiles.scheme = asked.scheme.value_or(SplitScheme::Merged);
  tiles.unit = shift_unit;
  for (const TimeDependence& need : needs.all) {
    if (need.ticks > 0) tiles.unit = std::lcm(tiles.unit, shift_unit * need.ticks);
  }
  for (const int dim : split) {
    SplitDimension& d = tiles.dims.emplace_back(SplitDimension{dim});
    const std::vector<int> shift = best_shifts(needs, dim, tiles.unit);
    const Slopes slopes = slopes_of(needs, dim, shift, tiles.unit);
    d.left = slopes.left, d.right = slopes.right;
    for (const int s : shift) d.shift.push_back(s * (tiles.unit / shift_unit));
    d.wraps = needs.wraps[static_cast<std::size_t>(dim)];
  }
  reduce(tiles);
  for (SplitDimension& d : tiles.dims) {
    if (const auto found = asked.tiles.find(d.dim); found != asked.tiles.end()) {
      d.pitch = found->second.pitch, d.top = found->second.top;
      continue;
    }
    // Upright and inverted tiles are equally large where the top is what both lean together.
    const int lean = least_pitch(tiles, d, 0), length = lengths[static_cast<std::size_t>(d.dim)];
    d.top = std::max({least_top, lean, length - lean});
    d.pitch = least_pitch(tiles, d, d.top);
  }
  if (auto why = why_not(tiles)) return {std::nullopt, std::move(*why)};
  return {std::move(tiles), ""};
}

std::optional<std::string> why_not(const SplitTiles& tiles) {
  if (tiles.steps % tiles.turn != 0)
    return fmt::format("bands of {} steps do not leave arrays where they were: they take turns every {}",
                       tiles.steps, tiles.turn);
  for (const SplitDimension& d : tiles.dims) {
    const std::string name = ir::dim_name(d.dim);
    if (d.wraps && tiles.scheme == SplitScheme::Fused)
      return fmt::format("bands of scheme 'fused' move along {}, which goes round by the border 'repeat'",
                         name);
    if (d.top < 1) return fmt::format("split tiles are no pixel wide along {} at the top of a band", name);
    if (const int least = least_pitch(tiles, d, d.top); d.pitch < least)
      return fmt::format(
          "split tiles of {} steps, {} wide along {} at the top, are {} apart, and {} at least", tiles.steps,
          d.top, name, d.pitch, least);
  }
  return std::nullopt;
}

int launches_of(const SplitTiles& tiles) {
  const int dims = static_cast<int>(tiles.dims.size());
  switch (tiles.scheme) {
    case SplitScheme::Colours: return 1 << dims;
    case SplitScheme::Merged: return dims + 1;
    case SplitScheme::Fused: return dims;
  }
  return 0;
}

std::vector<unsigned> colours_of(const SplitTiles& tiles, int launch) {
  const unsigned all = 1U << tiles.dims.size();
  std::vector<unsigned> colours;
  for (unsigned c = 0; c < all; ++c) colours.push_back(c);
  std::stable_sort(colours.begin(), colours.end(),
                   [](unsigned a, unsigned b) { return __builtin_popcount(a) < __builtin_popcount(b); });
  if (tiles.scheme == SplitScheme::Colours) return {colours[static_cast<std::size_t>(launch)]};
  const int inverted = tiles.scheme == SplitScheme::Fused ? launch + 1 : launch;
  std::erase_if(colours, [&](unsigned c) { return __builtin_popcount(c) != inverted; });
  return colours;
}

std::string name_of(SplitScheme scheme) {
  switch (scheme) {
    case SplitScheme::Colours: return "colours";
    case SplitScheme::Merged: return "merged";
    case SplitScheme::Fused: return "fused";
  }
  return "";
}

std::string to_string(const SplitTiles& tiles) {
  const auto in_pixels = [&](int parts) {
    const int common = std::gcd(parts, tiles.unit);
    return tiles.unit == common ? fmt::format("{}", parts / common)
                                : fmt::format("{}/{}", parts / common, tiles.unit / common);
  };
  std::vector<std::string> dims;
  for (const SplitDimension& d : tiles.dims) {
    std::string text = fmt::format("{} every {}, {} at the top, slopes {} and {}", ir::dim_name(d.dim),
                                   d.pitch, d.top, in_pixels(d.left), in_pixels(d.right));
    if (d.wraps) text += ", round";
    dims.push_back(std::move(text));
  }
  return fmt::format("bands of {} steps, {} in {} launch{}; {}", tiles.steps, name_of(tiles.scheme),
                     launches_of(tiles), launches_of(tiles) == 1 ? "" : "es", fmt::join(dims, "; "));
}

}  // namespace weft::plan
