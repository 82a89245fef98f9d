#include "analysis/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/ranges.h"
#include "ir/print.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

Along make_gather() {
  Along result;
  result.gather = true;
  return result;
}
const Along gather = make_gather();

/// The only coordinate that a form mentions: -1 if none, nothing if several.
std::optional<int> coordinate_of(const ir::Affine& form) {
  int found = -1;
  bool several = false;
  form.mentions([&](const ir::Atom& atom) {
    if (const auto* c = std::get_if<ir::Coord>(&atom)) {
      several |= found >= 0 && found != c->dim;
      found = c->dim;
    }
    return false;
  });
  if (several) return std::nullopt;
  return found;
}

Along along(const ir::Affine& form) {
  const auto coordinate = coordinate_of(form);
  if (!coordinate) return gather;
  ir::Scaled scaled;
  if (!ir::as_scaled(form, *coordinate, &scaled)) return gather;
  const Interval taps = range_over_taps(scaled.rest);
  if (!constant_difference(taps.max, taps.min)) return gather;
  const ir::Affine base = taps.min - taps.min.constant();
  return {false, *coordinate, scaled.scale, scaled.divisor, base, taps.min.constant(), taps.max.constant()};
}

bool same_form(const Along& a, const Along& b) {
  return !a.gather && !b.gather && a.coordinate == b.coordinate && a.scale == b.scale &&
         a.divisor == b.divisor && a.base == b.base;
}

std::string spelt(const Along& a, int dim) {
  if (a.gather) return "?";
  const std::string range = fmt::format("[{}, {}]", a.min, a.max);
  if (a.is_unit(dim)) return range;
  ir::Affine form = a.base;
  if (a.coordinate >= 0) form += ir::Affine(ir::Atom(ir::Coord{a.coordinate})) * a.scale;
  std::string text = form.is_constant(0) ? range : form.to_string() + " + " + range;
  return a.divisor == 1 ? text : fmt::format("({})/{}", text, a.divisor);
}

}  // namespace

bool Along::is_unit(int dim) const {
  return !gather && coordinate == dim && scale == 1 && divisor == 1 && base.is_constant(0);
}

Footprint footprint(const ir::Read& read) {
  Footprint result;
  for (const ir::Index& index : read.indices) {
    const auto* form = std::get_if<ir::Affine>(&index);
    result.push_back(form ? along(*form) : gather);
  }
  return result;
}

Footprint merged(const Footprint& a, const Footprint& b) {
  Footprint result;
  for (std::size_t d = 0; d < a.size(); ++d) {
    Along both = same_form(a[d], b[d]) ? a[d] : gather;
    both.min = std::min(both.min, both.gather ? 0 : b[d].min);
    both.max = std::max(both.max, both.gather ? 0 : b[d].max);
    result.push_back(both);
  }
  return result;
}

std::string window(const Footprint& footprint) {
  std::string text;
  for (const Along& a : footprint) {
    const std::int64_t extent = ir::floor_div(a.max - a.min + a.divisor - 1, a.divisor) + 1;
    text += (text.empty() ? "" : "x") + (a.gather ? "?" : std::to_string(extent));
  }
  return text;
}

std::string offsets(const Footprint& footprint) {
  std::string text;
  bool all_unit = true;
  for (std::size_t d = 0; d < footprint.size(); ++d) all_unit &= footprint[d].is_unit(static_cast<int>(d));
  for (std::size_t d = 0; d < footprint.size(); ++d) {
    text += (d == 0 ? "" : all_unit ? "x" : " x ") + spelt(footprint[d], static_cast<int>(d));
  }
  return text;
}

Pattern pattern(const Footprint& footprint) {
  Pattern result = Pattern::Point;
  for (std::size_t d = 0; d < footprint.size(); ++d) {
    const Along& a = footprint[d];
    const Pattern here = a.gather                          ? Pattern::Gather
                         : !a.is_unit(static_cast<int>(d)) ? Pattern::Scaled
                         : a.min != 0 || a.max != 0        ? Pattern::Local
                                                           : Pattern::Point;
    result = std::max(result, here);
  }
  return result;
}

std::string name_of(Pattern pattern) {
  constexpr const char* names[] = {"point", "local", "scaled", "gather", "global", "scatter", "time"};
  return names[static_cast<int>(pattern)];
}

namespace {

void add_read(const ir::Read& read, StageSummary& summary) {
  auto source = std::find_if(summary.sources.begin(), summary.sources.end(),
                             [&](const SourceSummary& s) { return s.name == read.source->name; });
  const Footprint one = footprint(read);
  if (source == summary.sources.end()) {
    summary.sources.push_back({read.source->name, one, Pattern::Point, {}, false, 0});
    source = summary.sources.end() - 1;
  }
  source->footprint = merged(source->footprint, one);
  source->pattern = pattern(source->footprint);
  source->reads += 1;
  if (!read.border) {
    source->without_border = true;
  } else if (std::find(source->borders.begin(), source->borders.end(), read.border->mode) ==
             source->borders.end()) {
    source->borders.push_back(read.border->mode);
  }
}

}  // namespace

StageSummary summarize(const ir::Stage& stage) {
  StageSummary summary{stage.name,     stage.type, ir::to_string(stage.box),
                       Pattern::Point, {},         operations(stage)};
  for (const ir::Expr& e : ir::reads(stage)) add_read(std::get<ir::Read>(e->op), summary);
  for (const ir::StagePtr& update : ir::updates(stage)) {
    for (const ir::Expr& e : ir::reads(*update)) add_read(std::get<ir::Read>(e->op), summary);
    summary.operations += operations(*update);
  }
  for (const SourceSummary& source : summary.sources)
    summary.pattern = std::max(summary.pattern, source.pattern);
  if (std::holds_alternative<ir::Reduce>(stage.definition)) summary.pattern = Pattern::Global;
  if (std::holds_alternative<ir::Scatter>(stage.definition)) summary.pattern = Pattern::Scatter;
  if (std::holds_alternative<ir::Evolve>(stage.definition)) summary.pattern = Pattern::Time;
  return summary;
}

std::vector<StageSummary> summarize(const ir::Pipeline& pipeline) {
  std::vector<StageSummary> summaries;
  for (const ir::StagePtr& stage : pipeline.stages) summaries.push_back(summarize(*stage));
  return summaries;
}

}  // namespace weft::analysis
