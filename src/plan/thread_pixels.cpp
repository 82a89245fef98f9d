#include "plan/thread_pixels.h"

#include <algorithm>

#include "analysis/footprint.h"
#include "analysis/interior.h"
#include "ir/visit.h"

namespace weft::plan {
namespace {

constexpr int widest_access = 16;  // bytes
constexpr int pixels_of_three_lanes = 4;
constexpr int most_operations = 400;  // of a thread: beyond, computing hides the loads, and code gets long

bool computes_much(const Loop& loop, int pixels) {
  return loop.has_windows || (loop.operations.alu + 8 * loop.operations.sfu) * pixels > most_operations;
}

}  // namespace

bool is_along_rows(const ir::Read& read, const ir::Stage& stage) {
  if (read.indices.empty() || stage.domain().empty()) return false;
  const analysis::Footprint footprint = analysis::footprint(read);
  const auto is_own = [&](std::size_t d) {
    const analysis::Along& along = footprint[d];
    return along.is_unit(static_cast<int>(d)) && along.min == 0 && along.max == 0;
  };
  const auto stays_inside = [&](std::size_t d) {
    return (is_own(d) && d < stage.domain().size() && stage.domain()[d] == read.region[d]) ||
           analysis::stays_inside(std::get<ir::Affine>(read.indices[d]), read.region[d], stage.domain());
  };
  if (!is_own(0) || (read.border && !stays_inside(0))) return false;
  for (std::size_t d = 1; d < footprint.size(); ++d) {
    const auto* row = std::get_if<ir::Affine>(&read.indices[d]);
    const bool changes_along_x = footprint[d].coordinate == 0;
    if (!row || footprint[d].gather || changes_along_x || ir::mentions_tap(*row)) return false;
    // Without a border it may be read where a case says so, and its row is there only then.
    if (!read.border && !is_own(d) && !stays_inside(d)) return false;
  }
  return true;
}

bool is_of_coarser_image(const ir::Read& read) {
  if (read.source->box.size() < 2 || !read.border) return false;
  const analysis::Along x = analysis::footprint(read).front();
  return !x.gather && x.coordinate == 0 && x.scale == 1 && x.divisor > 1;
}

int pixels_of_access(Type type) { return std::max(widest_access / size_of(type), 1); }

std::optional<int> pixels_of_thread(const Loop& loop) {
  const ir::Stage& stage = loop.stage();
  if (stage.domain().empty()) return std::nullopt;
  int pixels = pixels_of_access(stage.type);
  bool three_lanes = stage.type.lanes == 3, shares = false;
  for (const ir::Read* read : loop.reads.reads) {
    if (read->indices.empty()) continue;
    if (is_of_coarser_image(*read)) {
      shares = true;
      continue;
    }
    if (!is_along_rows(*read, stage)) return std::nullopt;
    pixels = std::min(pixels, pixels_of_access(read->source->type));
    three_lanes |= read->source->type.lanes == 3;
  }
  if (three_lanes) pixels = pixels_of_three_lanes;
  while (shares && pixels > 1 && computes_much(loop, pixels)) pixels /= 2;
  if (shares && pixels == 1) return std::nullopt;
  if (computes_much(loop, pixels)) return std::nullopt;
  return pixels;
}

bool reads_shared_rows(const StageReads& reads) {
  std::vector<std::pair<const ir::Stage*, analysis::Footprint>> sources;
  for (const ir::Read* read : reads.reads) {
    const auto known = std::find_if(sources.begin(), sources.end(),
                                    [&](const auto& s) { return s.first == read->source.get(); });
    if (known == sources.end())
      sources.emplace_back(read->source.get(), analysis::footprint(*read));
    else
      known->second = analysis::merged(known->second, analysis::footprint(*read));
  }
  return std::any_of(sources.begin(), sources.end(), [](const auto& source) {
    if (source.second.size() < 2) return false;
    const analysis::Along& y = source.second[1];
    return y.gather || y.scale <= y.max - y.min + y.divisor - 1;
  });
}

}  // namespace weft::plan
