#include "schedule/marching.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>

#include "analysis/footprint.h"
#include "ir/visit.h"

namespace weft::schedule {
namespace {

constexpr int kept_bytes = 32 * 1024;  // of all rows that a strip keeps: a first-level cache
constexpr int least_width = 64, most_width = 2048, width_step = 64;  // of a strip, in pixels
constexpr std::int64_t furthest = 64;  // pixels; wider strips would be computed twice for the most part

/// The distances at which a read finds its pixels of an image; none unless they are the same for all pixels.
std::optional<Window> window_in_image(const ir::Read& read) {
  return read.source->box.size() == 2 ? window_of(analysis::footprint(read)) : std::nullopt;
}

/// Where a border finds the pixels of a window instead, as far from the reader as the window reaches at most:
/// no border but Repeat moves two pixels apart.
Reach with_border(const Reach& reach, ir::BorderMode mode) {
  if (reach == Reach{}) return reach;
  const std::int64_t most = std::max(std::abs(reach.min), std::abs(reach.max));
  switch (mode) {
    case ir::BorderMode::Clamp:
      return {std::min<std::int64_t>(reach.min, 0), std::max<std::int64_t>(reach.max, 0)};
    case ir::BorderMode::Mirror:
    case ir::BorderMode::Mirror101: return {-most, most};
    default: return reach;
  }
}

/// Made of constants and parameters.
bool is_same_everywhere(const ir::Expr& e) {
  bool same = true;
  ir::visit({e}, [&](const ir::Expr& part) {
    const auto& op = part->op;
    same &= std::holds_alternative<ir::Const>(op) || std::holds_alternative<ir::ParamRef>(op) ||
            std::holds_alternative<ir::Cast>(op) || std::holds_alternative<ir::Pack>(op);
  });
  return same;
}

class Marching {
 public:
  explicit Marching(const std::vector<StageReads>& members) : members_(members) {}

  MarchOrWhy run() {
    for (const StageReads& m : members_) {
      for (const ir::Read* read : m.reads) {
        const auto window = window_in_image(*read);
        const bool is_own = window && is_one_pixel(*window) && read->source->box == m.stage->box;
        if (!is_own) kept_.insert(read->source.get());
      }
    }
    for (std::size_t m = members_.size(); m-- > 0;) {  // readers first
      if (!examine(m)) return {std::nullopt, why_};
    }
    March march;
    for (const ir::Stage* image : images_) march.rolling.push_back(rolling_.at(image));
    std::reverse(march.rolling.begin(), march.rolling.end());
    for (std::size_t m = 0; m + 1 < members_.size(); ++m) {
      const auto found = rolling_.find(members_[m].stage);
      if (found == rolling_.end())
        return {std::nullopt, fmt::format("nothing reads '{}'", members_[m].stage->name)};
      march.rolling.push_back(found->second);
    }
    return {std::move(march), ""};
  }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool is_member(const ir::Stage& stage) const {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const StageReads& m) { return m.stage == &stage; });
  }

  bool examine(std::size_t m) {
    const ir::Stage& stage = *members_[m].stage;
    if (!std::holds_alternative<ir::Pure>(stage.definition))
      return refuse(fmt::format("'{}' is no function of one pixel's place", stage.name));
    if (stage.box.size() != 2) return refuse(fmt::format("'{}' has no rows of columns", stage.name));
    for (const ir::Read* read : members_[m].reads) {
      const bool is_scalar = read->source->box.empty();
      if (!is_scalar && !examine(stage, *read)) return false;
    }
    return true;
  }

  bool examine(const ir::Stage& reader, const ir::Read& read) {
    const ir::Stage& source = *read.source;
    const bool from_member = is_member(source);
    std::optional<Window> window = window_in_image(read);
    const auto named = [&](const char* what) {
      return fmt::format("'{}' reads '{}' {}", reader.name, source.name, what);
    };
    if (!window) return refuse(named("not at distances that are the same for all pixels"));
    const bool at_pixel = is_one_pixel(*window);
    if (read.region != source.box) return refuse(named("through a crop"));
    if (!at_pixel && read.border) {
      if (read.border->mode == ir::BorderMode::Repeat && from_member)
        return refuse(named("with the border repeat, from the other end of the image"));
      if (read.border->mode == ir::BorderMode::Constant && !is_same_everywhere(read.border->constant))
        return refuse(named("with a computed border"));
      if (source.box != reader.box) return refuse(named("with a border, and their sizes differ"));
    }
    const bool needs_no_border = at_pixel && source.box == reader.box;
    if (needs_no_border && !from_member && !kept_.count(&source)) return true;  // from memory
    if (from_member && read.border) {
      for (Reach& reach : *window) reach = with_border(reach, read.border->mode);
    }
    return keep(reader, read, *window, needs_no_border);
  }

  /// Adds what the reader needs of a source.
  bool keep(const ir::Stage& reader, const ir::Read& read, const Window& window, bool needs_no_border) {
    const ir::Stage& source = *read.source;
    const bool from_member = is_member(source);
    const auto of_reader = rolling_.find(&reader);
    const Window pixels = of_reader == rolling_.end() ? Window(2) : of_reader->second.window;
    const Window needed = read_around(pixels, window);
    const auto [known, is_new] = rolling_.try_emplace(&source, RollingRows{&read, from_member, needed});
    RollingRows& rows = known->second;
    const bool has_border = read.border && !needs_no_border;
    const std::int64_t oldest = pixels[1].max + window[1].min;
    if (is_new) {
      oldest_[&source] = oldest;
      if (!from_member) images_.push_back(&source);
    } else {
      // Where a read has no border or needs none, another's is as good.
      if (bordered_.count(&source) == 0) rows.read = &read;
      if (has_border && bordered_.count(&source) > 0 && !ir::read_alike(*rows.read, read))
        return refuse(fmt::format("'{}' is read with different borders", source.name));
      rows.window = hull(rows.window, needed);
      oldest_[&source] = std::min(oldest_[&source], oldest);
    }
    if (has_border) bordered_.insert(&source);
    for (const Reach& reach : rows.window) {
      if (reach.min < -furthest || reach.max > furthest)
        return refuse(
            fmt::format("'{}' is needed {} pixels away", source.name, std::max(-reach.min, reach.max)));
    }
    rows.ahead = static_cast<int>(rows.y().max);
    rows.rows = static_cast<int>(rows.ahead - oldest_[&source]) + 1;
    return true;
  }

  const std::vector<StageReads>& members_;
  std::map<const ir::Stage*, RollingRows> rolling_;
  std::map<const ir::Stage*, std::int64_t> oldest_;  // the row that some reader reads, from the result's
  std::vector<const ir::Stage*> images_;
  std::set<const ir::Stage*> kept_;  // read in some other way than at the reader's own pixel
  std::set<const ir::Stage*> bordered_;
  std::string why_;
};

}  // namespace

StageReads reads_of(const ir::Stage& stage) {
  StageReads result{&stage, {}};
  for (const ir::Expr& e : ir::reads(stage)) result.reads.push_back(&std::get<ir::Read>(e->op));
  return result;
}

MarchOrWhy march_of(const std::vector<StageReads>& members) { return Marching(members).run(); }

int room_for_rows(const RollingRows& rows) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(rows.rows)));
}

int strip_width(const March& march) {
  int column = 0;  // bytes of all rows
  for (const RollingRows& r : march.rolling) column += room_for_rows(r) * size_of(r.source().type);
  return std::clamp(kept_bytes / std::max(column, 1) / width_step * width_step, least_width, most_width);
}

const RollingRows* March::of(const ir::Stage& source) const {
  const auto found = std::find_if(rolling.begin(), rolling.end(),
                                  [&](const RollingRows& r) { return &r.source() == &source; });
  return found == rolling.end() ? nullptr : &*found;
}

namespace {

/// What stages have to have in common to be computed by one loop.
struct Shape {
  ir::Box box;
  Window window;
  std::optional<bool> has_rows_outside;  ///< Of constants; it does not matter to those read without a border.

  bool fits(const Shape& other) const {
    return box == other.box && window == other.window &&
           (!has_rows_outside || !other.has_rows_outside || has_rows_outside == other.has_rows_outside);
  }
};

Shape shape_of(const ir::Stage& stage, const March& march) {
  const RollingRows* rows = march.of(stage);
  if (!rows) return {stage.box, Window(2), std::nullopt};  // the result
  const auto& border = rows->read->border;
  return {stage.box, rows->window,
          border ? std::optional(border->mode == ir::BorderMode::Constant) : std::nullopt};
}

/// Pixels of several lanes are computed lane by lane, those of several cases in parts of rows, each stage's
/// in its own way.
bool has_simple_pixels(const ir::Stage& stage) {
  return stage.type.lanes == 1 && std::get<ir::Pure>(stage.definition).cases.size() == 1;
}

bool reads(const StageReads& reader, const ir::Stage& source) {
  return std::any_of(reader.reads.begin(), reader.reads.end(),
                     [&](const ir::Read* read) { return read->source.get() == &source; });
}

}  // namespace

std::vector<Pass> passes_of(const std::vector<StageReads>& members, const March& march,
                            const std::set<const ir::Stage*>& values) {
  std::vector<Pass>
      passes;  // the last first, as late as can be, so that what is read at the pixel is with its readers
  std::vector<Shape> shapes;
  std::map<const ir::Stage*, std::size_t> latest;  // for what has been read
  for (auto m = members.rbegin(); m != members.rend(); ++m) {
    const ir::Stage& stage = *m->stage;
    const Shape shape = shape_of(stage, march);
    const auto takes = [&](std::size_t p) {
      return has_simple_pixels(stage) && has_simple_pixels(*passes[p].front()) && shapes[p].fits(shape);
    };
    std::size_t pass = latest[&stage];
    while (pass < passes.size() && !takes(pass)) ++pass;
    if (pass == passes.size()) {
      passes.emplace_back();
      shapes.push_back(shape);
    }
    passes[pass].push_back(&stage);
    if (shape.has_rows_outside) shapes[pass].has_rows_outside = shape.has_rows_outside;
    for (const ir::Read* read : m->reads) {
      const ir::Stage* source = read->source.get();
      latest[source] = std::max(latest[source], pass + (values.count(source) ? 0 : 1));
    }
  }
  std::reverse(passes.begin(), passes.end());
  for (Pass& pass : passes) std::reverse(pass.begin(), pass.end());
  return passes;
}

std::set<const ir::Stage*> values_of_passes(const std::vector<StageReads>& members, const March& march,
                                            std::set<const ir::Stage*> candidates) {
  std::erase_if(candidates, [](const ir::Stage* s) { return !has_simple_pixels(*s); });
  while (true) {
    const std::size_t before = candidates.size();
    for (const Pass& pass : passes_of(members, march, candidates)) {
      for (const StageReads& m : members) {
        if (std::count(pass.begin(), pass.end(), m.stage) > 0) continue;
        std::erase_if(candidates, [&](const ir::Stage* s) {
          return std::count(pass.begin(), pass.end(), s) > 0 && reads(m, *s);
        });
      }
    }
    if (candidates.size() == before) return candidates;
  }
}

}  // namespace weft::schedule
