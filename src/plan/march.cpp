#include "plan/march.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "analysis/footprint.h"
#include "analysis/ranges.h"
#include "ir/visit.h"
#include "rewrite/between_pixels.h"

namespace weft::plan {
namespace {

// Pixels along x, y and z. Beyond, a strip of least width would compute more outside it than in it, and rows would
// leave the caches.
constexpr std::array<std::int64_t, 3> furthest = {128, 64, 64};
constexpr std::size_t most_dims = furthest.size();
constexpr std::int64_t most_rows = 4;  // of a stage in one step

/// A ratio of pixels, of two integers without a common factor.
struct Ratio {
  std::int64_t of_source = 1, of_result = 1;

  Ratio times(std::int64_t scale, std::int64_t divisor) const {
    const std::int64_t n = of_source * scale, d = of_result * divisor, common = std::gcd(n, d);
    return {n / common, d / common};
  }
  bool operator==(const Ratio&) const = default;
};
using Ratios = std::vector<Ratio>;

/// What is needed of a source by what needs so much of the reader, as RollingRows has it.
Reach needed_by(const Reach& reader, const analysis::Along& read) {
  return {ir::floor_div(read.scale * reader.min + read.min, read.divisor),
          ir::floor_div(read.scale * (reader.max - 1) + read.max, read.divisor) + 1};
}

/// How far a read leaves its source before the first pixel and after the last; nothing if that is not known,
/// or further than strips go.
std::optional<Reach> reach_outside(const ir::Read& read, const ir::Stage& reader, int dim) {
  const ir::Range& range = read.region[dim];
  const analysis::Interval reached =
      analysis::range_over(std::get<ir::Affine>(read.indices[dim]), reader.domain());
  const auto surely_before = analysis::sure_minimum(reached.min - range.min);
  const auto surely_after = analysis::sure_minimum(range.min + range.extent - 1 - reached.max);
  if (!surely_before || !surely_after) return std::nullopt;
  const Reach outside{std::max<std::int64_t>(0, -*surely_before), std::max<std::int64_t>(0, -*surely_after)};
  if (std::max(outside.min, outside.max) > furthest[dim]) return std::nullopt;
  return outside;
}

/// Where a border finds pixels instead of those outside: Clamp at the end of the source, Mirror as far from
/// it on the other side. With Repeat those outside are computed.
void add_border(analysis::Along& read, const Reach& outside, ir::BorderMode mode) {
  if (mode == ir::BorderMode::Repeat) return;
  const std::int64_t times = mode == ir::BorderMode::Clamp ? 1 : 2;
  const std::int64_t min = std::min(read.min, read.max - times * outside.max * read.divisor);
  read.max = std::max(read.max, read.min + times * outside.min * read.divisor);
  read.min = min;
}
/// How far both reach, one after the other.
Window both(Window first, const Window& then) {
  for (std::size_t d = 0; d < first.size(); ++d) first[d].min += then[d].min, first[d].max += then[d].max;
  return first;
}

/// Whatever the sizes are that a run is given; pixels of an empty image are 0, and no row of it has any.
bool has_pixels(const ir::Stage& stage) {
  return stage.need || std::all_of(stage.box.begin(), stage.box.end(), [](const ir::Range& range) {
           return analysis::surely_not_negative(range.extent - 1);
         });
}

/// Whether what a stage reads there repeats where the stage does.
bool repeats_with(const ir::Stage& reader, const ir::Read& read) {
  return read.border && read.border->mode == ir::BorderMode::Repeat && read.source->box == reader.box &&
         window_of(analysis::footprint(read));
}

bool is_own_pixel(const analysis::Footprint& footprint) {
  for (int d = 0; d < static_cast<int>(footprint.size()); ++d) {
    if (!footprint[d].is_unit(d) || footprint[d].min != 0 || footprint[d].max != 0) return false;
  }
  return true;
}

/// Whether compilers would have to pick pixels of an uneven number of lanes from a row, or interleave them.
bool steps_over_lanes(const ir::Stage& stage, const ir::Read& read) {
  if (std::has_single_bit(static_cast<unsigned>(stage.type.lanes))) return false;
  const auto footprint = footprint_in_image(read);
  return footprint && !footprint->front().is_unit(0);
}

/// Pixels in each step of the result.
int pixels_of_step(const RollingRows& rows) { return rows.rate[0] * rows.rate[1]; }

bool is_rate(std::int64_t pixels) {
  return pixels <= most_rows && std::has_single_bit(static_cast<std::uint64_t>(pixels));
}

bool has_place(const ir::Affine& a) {
  return a.mentions([](const ir::Atom& atom) { return std::holds_alternative<ir::Coord>(atom); });
}
/// A read at the reader's coordinates, not at computed ones alone.
bool has_place(const ir::Read& read) {
  return std::any_of(read.indices.begin(), read.indices.end(), [](const ir::Index& index) {
    const auto* affine = std::get_if<ir::Affine>(&index);
    return affine && has_place(*affine);
  });
}
bool is_reduction(const ir::Stage& stage) { return std::holds_alternative<ir::Reduce>(stage.definition); }

class Marching {
 public:
  Marching(const std::vector<StageReads>& members, const LaneMarch& lanes)
      : members_(members), lanes_(lanes) {}

  MarchOrWhy run() {
    for (const StageReads& m : members_) {
      for (const ir::Read* read : m.reads) {
        const auto footprint = footprint_of(*read);
        const bool is_own = footprint && is_own_pixel(*footprint) && read->source->box == m.stage->domain();
        if (footprint && (!is_own || lanes_.keeps_images)) kept_.insert(read->source.get());
      }
    }
    for (bool is_known = false; !is_known;) {  // on the way more turns out to have to be kept
      const std::size_t known = kept_.size();
      rolling_.clear(), ratios_.clear(), oldest_.clear(), images_.clear(), leaving_.clear();
      for (std::size_t m = members_.size(); m-- > 0;) {  // readers first
        if (!examine(m)) return {std::nullopt, why_};
      }
      is_known = kept_.size() == known;
    }
    March march;
    if (!find_step(march)) return {std::nullopt, why_};
    for (const ir::Stage* image : images_) march.rolling.push_back(rolling_.at(image));
    std::reverse(march.rolling.begin(), march.rolling.end());
    for (std::size_t m = 0; m + 1 < members_.size(); ++m) {
      const auto found = rolling_.find(members_[m].stage);
      if (found == rolling_.end())
        return {std::nullopt, fmt::format("nothing reads '{}'", members_[m].stage->name)};
      march.rolling.push_back(found->second);
    }
    set_lanes_apart(march);
    march.in_parts = is_reduction(*members_.back().stage);
    if (march.in_parts && !begins_with_a_step(march)) return {std::nullopt, why_};
    return {std::move(march), ""};
  }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  void set_lanes_apart(March& march) const {
    for (const StageReads& m : members_) {
      const bool steps = std::any_of(m.reads.begin(), m.reads.end(),
                                     [&](const ir::Read* read) { return steps_over_lanes(*m.stage, *read); });
      for (RollingRows& rows : march.rolling) {
        if (!steps || rows.source().type.lanes == 1) continue;
        for (const ir::Read* read : m.reads) {
          if (read->source.get() == &rows.source())
            rows.lanes_apart |= !rewrite::has_parts(*m.stage) || steps_over_lanes(*m.stage, *read);
        }
      }
    }
    // Of the others those that would be taken apart more than once, by readers: these are known.
    for (std::size_t r = march.rolling.size(); r-- > 0;) {
      RollingRows& rows = march.rolling[r];
      int taken_apart = 0;
      for (const StageReads& m : members_) {
        const RollingRows* reader = march.of(*m.stage);
        if (reader && reader->lanes_apart && reads(m, rows.source())) taken_apart += pixels_of_step(*reader);
      }
      rows.lanes_apart |= rows.source().type.lanes > 1 && taken_apart > pixels_of_step(rows);
    }
  }

  std::size_t rank() const { return members_.back().stage->domain().size(); }
  /// The dimension of a step's columns, 0, or of its rows, 1: down the march.
  std::size_t dim_of(int along_step) const { return along_step == 0 ? 0 : rank() - 1; }

  /// Of a source with the dimensions of the result.
  std::optional<analysis::Footprint> footprint_of(const ir::Read& read) const {
    return read.source->box.size() == rank() ? footprint_in_image(read) : std::nullopt;
  }

  bool is_member(const ir::Stage& stage) const {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const StageReads& m) { return m.stage == &stage; });
  }

  /// Where it is computed beyond its ends, since it repeats.
  const RollingRows* continued(const ir::Stage& stage) const {
    const auto found = rolling_.find(&stage);
    return found != rolling_.end() && found->second.continues ? &found->second : nullptr;
  }

  bool examine(std::size_t m) {
    const ir::Stage& stage = *members_[m].stage;
    const bool is_last = m + 1 == members_.size();
    const bool is_pure = std::holds_alternative<ir::Pure>(stage.definition);
    if (!is_pure && !(is_last && is_reduction(stage)))
      return refuse(fmt::format("'{}' is no function of one pixel's place", stage.name));
    if (stage.domain().size() < 2 || stage.domain().size() > most_dims ||
        (!is_pure && stage.domain().size() > 2))
      return refuse(fmt::format("'{}' has no rows of columns", stage.name));
    if (stage.domain().size() != rank())
      return refuse(fmt::format("'{}' has {} dimensions, and '{}' {}", stage.name, stage.domain().size(),
                                members_.back().stage->name, rank()));
    if (members_[m].has_places && continued(stage))
      return refuse(fmt::format("'{}' is read with the border repeat, and depends on where its pixels are",
                                stage.name));
    for (const ir::Read* read : members_[m].reads) {
      const bool is_scalar = read->source->box.empty();
      if (!is_scalar && !examine(stage, *read)) return false;
    }
    return std::all_of(members_[m].outcomes.begin(), members_[m].outcomes.end(),
                       [&](const ir::Read* outcome) { return examine(stage, *outcome); });
  }

  bool examine(const ir::Stage& reader, const ir::Read& read) {
    const ir::Stage& source = *read.source;
    const bool from_member = is_member(source);
    std::optional<analysis::Footprint> footprint = footprint_of(read);
    const auto named = [&](const std::string& what) {
      return fmt::format("'{}' reads '{}' {}", reader.name, source.name, what);
    };
    if (!footprint && (from_member || kept_.count(&source)))
      return refuse(named("not at distances that are the same for all pixels"));
    const bool is_own = footprint && is_own_pixel(*footprint) && source.box == reader.domain();
    if (continued(reader) && has_place(read) && !is_own && !repeats_with(reader, read))
      return refuse(named("without repeating it, and is itself read with the border repeat"));
    if (!footprint) return true;  // from memory
    if (read.region != source.box) return refuse(named("through a crop"));
    Window outside(rank());
    if (read.border && !is_own) {
      if (read.border->mode == ir::BorderMode::Constant && !ir::is_same_everywhere(read.border->constant))
        return refuse(named("with a computed border"));
      for (std::size_t d = 0; d < rank(); ++d) {
        const auto reach = reach_outside(read, reader, d);
        if (!reach) return refuse(named(fmt::format("from more than {} pixels outside", furthest[d])));
        outside[d] = *reach;
      }
    }
    if (from_member && read.border && !is_own && read.border->mode != ir::BorderMode::Constant) {
      if (source.box != reader.domain() && !has_pixels(source))
        return refuse(named("with a border, and may find it empty; never_empty() would say that it is not"));
      for (std::size_t d = 0; d < rank(); ++d) add_border((*footprint)[d], outside[d], read.border->mode);
    }
    if (const RollingRows* repeating = continued(reader)) outside = both(outside, repeating->outside);
    if (is_own && !from_member &&
        !kept_.count(&source)) {  // from memory, unless pixels beyond its ends are needed
      if (outside != Window(rank())) kept_.insert(&source);
      return true;
    }
    return keep(reader, read, *footprint, outside);
  }

  /// Adds what the reader needs of a source.
  bool keep(const ir::Stage& reader, const ir::Read& read, const analysis::Footprint& footprint,
            const Window& outside) {
    const ir::Stage& source = *read.source;
    const auto of_reader = rolling_.find(&reader);
    const bool is_result = of_reader == rolling_.end();
    Window needed(rank());
    Ratios ratios(rank());
    for (std::size_t d = 0; d < rank(); ++d) {
      const analysis::Along& along = footprint[d];
      const std::int64_t first = d == 0 ? lanes_.first_column : 0;
      needed[d] = needed_by(is_result ? Reach{first, first} : of_reader->second.window[d], along);
      ratios[d] = (is_result ? Ratio{} : ratios_.at(&reader)[d]).times(along.scale, along.divisor);
    }
    const std::int64_t first_row = is_result ? 0 : of_reader->second.down().max;  // of a step
    const analysis::Along& down = footprint.back();
    const std::int64_t oldest = ir::floor_div(down.scale * first_row + down.min, down.divisor);
    const auto [known, is_new] =
        rolling_.try_emplace(&source, RollingRows{read, is_member(source), {1, 1}, needed, outside});
    RollingRows& rows = known->second;
    const bool leaves = outside != Window(rank());
    const bool repeats = leaves && (continued(reader) || read.border->mode == ir::BorderMode::Repeat);
    if (is_new) {
      oldest_[&source] = oldest;
      ratios_[&source] = ratios;
      if (!rows.is_member) images_.push_back(&source);
    } else {
      if (ratios_.at(&source) != ratios)
        return refuse(fmt::format("'{}' is needed at two scales", source.name));
      const auto left = leaving_.find(&source);
      if (leaves && left != leaving_.end() &&
          (left->second != repeats || !(repeats || ir::read_alike(rows.read, read))))
        return refuse(fmt::format("'{}' is read with different borders", source.name));
      // Where a read has no border or needs none, another's is as good.
      if (!rows.read.border || leaves) rows.read = read;
      rows.window = hull(rows.window, needed);
      for (std::size_t d = 0; d < rank(); ++d)
        rows.outside[d] = {std::max(rows.outside[d].min, outside[d].min),
                           std::max(rows.outside[d].max, outside[d].max)};
      oldest_[&source] = std::min(oldest_[&source], oldest);
    }
    if (leaves) leaving_[&source] = repeats;
    if (repeats) rows.read.border = ir::Border{ir::BorderMode::Repeat, nullptr};
    // Where no read leaves, no border is met. Columns beyond the ends, which nobody needs, are those of the nearest pixel: that
    // at the other end is in no tile.
    const bool meets_none = !leaving_.count(&source) && rows.read.border;
    if (meets_none && rows.read.border->mode == ir::BorderMode::Repeat)
      rows.read.border = ir::Border{ir::BorderMode::Clamp, nullptr};
    rows.continues |= rows.is_member && repeats;
    for (std::size_t d = 0; d < rank(); ++d) {
      const Reach& reach = rows.window[d];
      if (reach.min < -furthest[d] || reach.max > furthest[d])
        return refuse(
            fmt::format("'{}' is needed {} pixels away", source.name, std::max(-reach.min, reach.max)));
    }
    return true;
  }

  /// All that rows are kept of, in an order that does not change from run to run.
  std::vector<const ir::Stage*> sources() const {
    std::vector<const ir::Stage*> sources = images_;
    for (const StageReads& m : members_) {
      if (rolling_.count(m.stage)) sources.push_back(m.stage);
    }
    return sources;
  }

  /// The smallest step in which all compute whole rows and columns.
  bool find_step(March& march) {
    for (const ir::Stage* source : sources()) {  // in an order that does not change from run to run
      const Ratios& ratios = ratios_.at(source);
      for (std::size_t d = 1; d + 1 < rank(); ++d) {
        if (ratios[d] != Ratio{})
          return refuse(fmt::format("'{}' is a volume of another resolution", source->name));
      }
      for (int s = 0; s < 2; ++s)
        march.step[s] = static_cast<int>(std::lcm<std::int64_t>(march.step[s], ratios[dim_of(s)].of_result));
    }
    for (const ir::Stage* source : sources()) {
      RollingRows& rows = rolling_.at(source);
      for (int s = 0; s < 2; ++s) {
        const Ratio& ratio = ratios_.at(source)[dim_of(s)];
        const std::int64_t rate = ratio.of_source * march.step[s] / ratio.of_result;
        if (!is_rate(rate) || !is_rate(march.step[s]))
          return refuse(fmt::format("'{}' is needed at a scale that is no power of two up to {}",
                                    source->name, most_rows));
        rows.rate[s] = static_cast<int>(rate);
      }
      rows.ahead = static_cast<int>(rows.down().max);
      rows.rows = static_cast<int>(rows.ahead - oldest_.at(source)) + rows.rate[1];
    }
    return true;
  }

  /// Where the parts begin, strips have to.
  bool begins_with_a_step(const March& march) {
    const ir::Stage& result = *members_.back().stage;
    for (int d = 0; d < 2; ++d) {
      const ir::Affine& begin = result.domain()[d].min;
      if (begin.floor_div(march.step[d]) * march.step[d] != begin)
        return refuse(fmt::format("'{}' begins at a coordinate that its steps of {} {} do not divide",
                                  result.name, march.step[d], d == 0 ? "columns" : "rows"));
    }
    return true;
  }

  const std::vector<StageReads>& members_;
  const LaneMarch lanes_;
  std::map<const ir::Stage*, RollingRows> rolling_;
  std::map<const ir::Stage*, Ratios> ratios_;        // of their pixels to the result's
  std::map<const ir::Stage*, std::int64_t> oldest_;  // the row that some reader reads in the step 0
  std::vector<const ir::Stage*> images_;
  std::set<const ir::Stage*> kept_;           // read in some other way than at the reader's own pixel
  std::map<const ir::Stage*, bool> leaving_;  // what is read beyond its ends: whether it repeats
  std::string why_;
};

}  // namespace

std::optional<analysis::Footprint> footprint_in_image(const ir::Read& read) {
  const std::size_t dims = read.source->box.size();
  if (dims < 2 || dims > most_dims) return std::nullopt;
  analysis::Footprint footprint = analysis::footprint(read);
  for (std::size_t d = 0; d < dims; ++d) {
    const analysis::Along& along = footprint[d];
    const bool moves = !along.gather && along.coordinate == static_cast<int>(d) && along.scale > 0;
    if (!moves || !along.base.is_constant() || along.base.constant() != 0) return std::nullopt;
  }
  return footprint;
}

StageReads reads_of(const ir::Stage& stage) {
  StageReads result{&stage, {}};
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto* quantity = std::get_if<ir::Quantity>(&e->op);
    result.has_places |= quantity && has_place(quantity->value);
  });
  for (const ir::Expr& e : ir::reads(stage)) result.reads.push_back(&std::get<ir::Read>(e->op));
  return result;
}

MarchOrWhy march_of(const std::vector<StageReads>& members) { return march_of(members, {}); }

MarchOrWhy march_of(const std::vector<StageReads>& members, const LaneMarch& lanes) {
  return Marching(members, lanes).run();
}

std::optional<ir::BorderMode> RollingRows::border() const {
  return read.border && !continues ? std::optional(read.border->mode) : std::nullopt;
}

bool is_of_volumes(const March& march) {
  return !march.rolling.empty() && march.rolling.front().window.size() > 2;
}

int lines_at_most(const March& march, int most) {
  std::int64_t lines = most;
  for (const RollingRows& r : march.rolling) {
    const ir::Affine& extent = r.source().box[1].extent;
    if (extent.is_constant()) lines = std::clamp<std::int64_t>(extent.constant(), 1, lines);
  }
  return static_cast<int>(lines);
}

int rows_before(const March& march, bool of_members) {
  std::int64_t steps = 0;
  for (const RollingRows& r : march.rolling) {
    if (of_members && !r.is_member) continue;
    steps = std::max(steps, ir::floor_div(r.ahead - r.down().min + r.rate[1] - 1, r.rate[1]));
  }
  return static_cast<int>(steps) * march.step[1];
}

const RollingRows* March::of(const ir::Stage& source) const {
  const auto found = std::find_if(rolling.begin(), rolling.end(),
                                  [&](const RollingRows& r) { return &r.source() == &source; });
  return found == rolling.end() ? nullptr : &*found;
}

bool March::has_lanes_apart() const {
  return std::any_of(rolling.begin(), rolling.end(),
                     [](const RollingRows& rows) { return rows.lanes_apart; });
}

bool March::has_one_rate() const {
  const std::array one{1, 1};
  return step == one &&
         std::all_of(rolling.begin(), rolling.end(), [&](const RollingRows& r) { return r.rate == one; });
}

bool reads(const StageReads& reader, const ir::Stage& source) {
  return std::any_of(reader.reads.begin(), reader.reads.end(),
                     [&](const ir::Read* read) { return read->source.get() == &source; });
}

}  // namespace weft::plan
