#include "plan/split_proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/integer_set.h"
#include "ir/print.h"

namespace weft::plan {
namespace {

using analysis::TimeDependence;
using analysis::TimeDependences;

class Proving {
 public:
  Proving(const SplitTiles& tiles, const TimeDependences& needs) : tiles_(tiles), needs_(needs) {}

  SplitProof run() {
    for (const SplitDimension& d : tiles_.dims) {
      for (std::size_t f = 0; f < needs_.level.size(); ++f) {
        lie_side_by_side(d, f);
        cover_image(d, f);
      }
      for (const TimeDependence& need : needs_.all) {
        if (need.ticks == 0) continue;
        come_in_order(d, need);
        if (tiles_.scheme == SplitScheme::Fused) stand_on_inverted_ones(d, need);
      }
    }
    return std::move(proof_);
  }

 private:
  /// Of the tile 0 in a level: where it begins, or the upright one ends, `gap` pixels before the next begins.
  std::string begin(const SplitDimension& d, std::size_t field, const std::string& level) const {
    return text_of(ends_of(tiles_, d, false, field).first, level);
  }
  std::string middle(const SplitDimension& d, std::size_t field, const std::string& level,
                     const std::string& gap) const {
    const std::string usual = text_of(ends_of(tiles_, d, false, field).second, level);
    return d.wraps ? fmt::format("{} + {} - {}", usual, gap, d.pitch) : usual;
  }
  static std::string text_of(const SplitBound& bound, const std::string& level) {
    return fmt::format("floor(({} * ({}) + {}) / {})", bound.of_level, level, bound.constant + bound.unit - 1,
                       bound.unit);
  }
  std::string is_gap(const SplitDimension& d, const std::string& gap) const {
    return fmt::format("{} {} {}", gap, d.wraps ? ">=" : "=", d.pitch);
  }
  std::string is_level(const std::string& level) const {
    return fmt::format("0 <= {} < {}", level, tiles_.levels_of_band());
  }

  void lie_side_by_side(const SplitDimension& d, std::size_t field) {
    const std::string from = begin(d, field, "l"), until = middle(d, field, "l", "g");
    show(fmt::format("tiles along {} do not overlap", ir::dim_name(d.dim)), "l, g",
         fmt::format("{} and {} and ({} > {} or {} > {} + g)", is_level("l"), is_gap(d, "g"), from, until,
                     until, from));
  }

  /// The first tile begins at the first pixel or before, the one after the last behind the last pixel.
  void cover_image(const SplitDimension& d, std::size_t field) {
    const std::string from = begin(d, field, "l"),
                      what = fmt::format("tiles cover all of {}", ir::dim_name(d.dim));
    if (d.wraps) {
      const int first = first_on_circle(tiles_, d);
      return show(what, "l, n",
                  fmt::format("{} and n >= {} and ({} + {} < 0 or {} + {} > n)", is_level("l"), d.pitch,
                              first, from, first, from));
    }
    // An origin lies less than a pitch further right, and another step in the next band.
    const int moved = tiles_.scheme == SplitScheme::Fused ? d.pitch - 1 + tiles_.origin_step(d) : 0;
    const int first = first_tile(tiles_) * d.pitch;
    const std::string last =
        fmt::format("{} * floor((n + {}) / {})", d.pitch, pixels_beyond(tiles_, d), d.pitch);
    show(what, "l, n, o",
         fmt::format("{} and n >= 1 and 0 <= o <= {} and (o + {} + {} > 0 or o + {} + {} + {} < n)",
                     is_level("l"), moved, first, from, first, last, from));
  }

  /// Both in one band.
  void come_in_order(const SplitDimension& d, const TimeDependence& need) {
    const std::string above = "l", below = fmt::format("l + {}", need.ticks);
    const std::string band =
        fmt::format("0 <= l and l + {} < {} and {} and {} and {}", need.ticks, tiles_.levels_of_band(),
                    is_gap(d, "g"), is_gap(d, "h"), is_offset(d, need));
    show(fmt::format("upright tiles need nothing of other tiles along {}", ir::dim_name(d.dim)),
         "l, g, h, x, o",
         fmt::format("{} and {} <= x < {} and not ({} <= x + o < {})", band, begin(d, need.sink, above),
                     middle(d, need.sink, above, "g"), begin(d, need.source, below),
                     middle(d, need.source, below, "g")));
    show(fmt::format("inverted tiles need nothing of other inverted tiles along {}", ir::dim_name(d.dim)),
         "l, g, h, x, o",
         fmt::format("{} and {} <= x < {} + g and not ({} <= x + o < {} + g)", band,
                     middle(d, need.sink, above, "g"), begin(d, need.sink, above),
                     begin(d, need.source, below), middle(d, need.source, below, "h")));
  }

  /// The upright tile of the next band is computed right after the inverted tile of its number: of inverted tiles it
  /// needs no other. `u` levels lie below the sink in its band, so its source is need.ticks - 1 - u below the top.
  void stand_on_inverted_ones(const SplitDimension& d, const TimeDependence& need) {
    const std::string source = fmt::format("{} - u", need.ticks - 1);
    const int moved = tiles_.origin_step(d);
    show(
        fmt::format("upright tiles stand on one inverted tile along {}", ir::dim_name(d.dim)), "l, u, x, o",
        fmt::format(
            "0 <= l and 0 <= u and l + u < {0} and 0 <= {1} < {0} and {2} and {3} + {4} <= x < {3} + {5} and "
            "not ({6} <= x + o < {7} + {8})",
            tiles_.levels_of_band(), source, is_offset(d, need), moved, begin(d, need.sink, "l"),
            middle(d, need.sink, "l", ""), begin(d, need.source, source), d.pitch,
            middle(d, need.source, source, "")));
  }

  std::string is_offset(const SplitDimension& d, const TimeDependence& need) const {
    const analysis::Reach& o = need.offsets[static_cast<std::size_t>(d.dim)];
    return fmt::format("{} <= o <= {}", o.min, o.max);
  }

  void show(const std::string& claim, const std::string& variables, const std::string& violated) {
    if (!proof_.refuted.empty()) return;
    ++proof_.sets;
    const int rank = 1 + static_cast<int>(std::count(variables.begin(), variables.end(), ','));
    const auto example = sets_.least_point(fmt::format("{{ [{}] : {} }}", variables, violated), rank);
    if (example)
      proof_.refuted = fmt::format("it is not so that {}: not for [{}] = {}", claim, variables, *example);
  }

  const SplitTiles& tiles_;
  const TimeDependences& needs_;
  analysis::IntegerSets sets_;
  SplitProof proof_;
};

}  // namespace

SplitProof prove(const SplitTiles& tiles, const TimeDependences& needs) {
  return Proving(tiles, needs).run();
}

}  // namespace weft::plan
