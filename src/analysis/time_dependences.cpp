#include "analysis/time_dependences.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/evolutions.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

/// A read of a field's past by an update.
struct PastRead {
  std::size_t sink, field;
  int age;
  Window offsets;
};

/// Offsets from the pixel to those that a border finds for a window.
Reach found_by(const std::optional<ir::Border>& border, const Reach& window) {
  if (!border) return window;
  const std::int64_t furthest = std::max(-window.min, window.max);
  switch (border->mode) {
    case ir::BorderMode::Mirror:
    case ir::BorderMode::Mirror101: return {std::min(window.min, -furthest), std::max(window.max, furthest)};
    case ir::BorderMode::Clamp:
      return {std::min<std::int64_t>(window.min, 0), std::max<std::int64_t>(window.max, 0)};
    case ir::BorderMode::Repeat:
    case ir::BorderMode::Constant: return window;
  }
  return window;
}

class Finding {
 public:
  explicit Finding(const ir::Evolution& evolution) : evolution_(evolution) {}

  TimeDependences run() {
    const std::size_t fields = evolution_.fields.size();
    const ir::Box& box = evolution_.fields[0].initial->box;
    found_.wraps.assign(box.size(), false);
    for (std::size_t f = 0; f < fields && found_.why.empty(); ++f) {
      if (evolution_.fields[f].initial->box != box) found_.why = "fields of several sizes change together";
      found_.arrays.push_back(static_cast<int>(arrays_of(evolution_, f)));
      read_by(f);
    }
    if (!found_.why.empty()) return std::move(found_);
    find_levels();
    for (const PastRead& read : reads_) add(read);
    return std::move(found_);
  }

 private:
  void read_by(std::size_t sink) {
    const ir::Stage& update = *evolution_.fields[sink].update;
    for (const ir::Expr& e : ir::reads(update)) {
      const auto& read = std::get<ir::Read>(e->op);
      const auto* past = std::get_if<ir::Past>(&read.source->definition);
      if (!past) continue;
      const std::optional<Window> window = window_of(footprint(read));
      if (!window) {
        found_.why = fmt::format("'{}' reads a field elsewhere than around the pixel", update.name);
        return;
      }
      if (read.border && read.region != read.source->box) {
        found_.why = fmt::format("'{}' reads a crop of a field", update.name);
        return;
      }
      PastRead& one = reads_.emplace_back(PastRead{
          sink, static_cast<std::size_t>(ir::field_of(read.source.get(), evolution_)), past->age, {}});
      for (std::size_t d = 0; d < window->size(); ++d) {
        const Reach& reach = (*window)[d];
        one.offsets.push_back(found_by(read.border, reach));
        const bool goes_round = read.border && read.border->mode == ir::BorderMode::Repeat;
        if (goes_round && reach != Reach{}) found_.wraps[d] = true;
      }
    }
  }

  /// An update comes a tick after those of its step whose values it reads, or that read what it overwrites.
  void find_levels() {
    const std::size_t fields = evolution_.fields.size();
    found_.level.assign(fields, 0);
    for (std::size_t f = 0; f < fields; ++f) {
      for (const PastRead& read : reads_) {
        const bool is_value = read.sink == f && read.age == 0;
        const bool is_overwritten = read.field == f && read.sink < f && read.age >= found_.arrays[f];
        if (is_value) found_.level[f] = std::max(found_.level[f], found_.level[read.field] + 1);
        if (is_overwritten) found_.level[f] = std::max(found_.level[f], found_.level[read.sink] + 1);
      }
    }
    found_.levels = 1 + *std::max_element(found_.level.begin(), found_.level.end());
  }

  void add(const PastRead& read) {
    const int apart = found_.level[read.sink] - found_.level[read.field];
    found_.all.push_back({read.field, read.sink, found_.levels * read.age + apart, read.offsets});
    Window back;
    for (const Reach& reach : read.offsets) back.push_back({-reach.max, -reach.min});
    const int until_overwritten = found_.levels * (found_.arrays[read.field] - read.age) - apart;
    found_.all.push_back({read.sink, read.field, until_overwritten, std::move(back), true});
  }

  const ir::Evolution& evolution_;
  std::vector<PastRead> reads_;
  TimeDependences found_;
};

}  // namespace

TimeDependences time_dependences(const ir::Evolution& evolution) { return Finding(evolution).run(); }

}  // namespace weft::analysis
