#include "plan/thread_pixels.h"

#include <algorithm>

#include "analysis/footprint.h"
#include "ir/visit.h"
#include "plan/pixel_rows.h"
#include "plan/window_code.h"

namespace weft::plan {
namespace {

constexpr int widest_access = 16;  // bytes
constexpr int pixels_of_three_lanes = 4;
constexpr int most_operations = 400;  // of a thread: beyond, computing hides the loads, and code gets long
constexpr int most_columns_beside = 8;

/// Whether some window is a loop over its taps: then no columns around a pixel are known by number.
bool loops_over_taps(const Loop& loop, const CodeLimits& limits) {
  if (!loop.has_windows) return false;
  bool loops = !loop.in_place.empty();
  ir::visit(ir::expressions(loop.stage()), [&](const ir::Expr& e) {
    const auto* window = std::get_if<ir::FoldResult>(&e->op);
    loops |= std::holds_alternative<ir::Median>(e->op) ||
             (window != nullptr && !is_unrolled_in_thread(*window->fold, limits));
  });
  return loops;
}

}  // namespace

bool computes_much(const analysis::Operations& operations, int pixels) {
  return (operations.alu + 8 * operations.sfu) * pixels > most_operations;
}

int pixels_of_access(Type type) { return std::max(widest_access / size_of(type), 1); }

std::optional<ThreadPixels> thread_pixels(const Loop& loop, const CodeLimits& limits) {
  const ir::Stage& stage = loop.stage();
  if (stage.domain().empty() || loops_over_taps(loop, limits)) return std::nullopt;
  const PixelRows read = pixel_rows(loop.reads.reads, stage);
  const bool shares = !read.others.empty();
  const bool may_be_together = std::all_of(read.others.begin(), read.others.end(), [](const ir::Read& other) {
    return is_of_coarser_image(other) || is_of_table(other);
  });
  if (!may_be_together) return std::nullopt;
  const bool is_near = std::all_of(read.rows.begin(), read.rows.end(), [](const PixelRow& row) {
    return std::max(-row.columns.min, row.columns.max) <= most_columns_beside;
  });
  if (!is_near || (shares && read.may_leave())) return std::nullopt;

  int pixels = pixels_of_access(stage.type);
  bool three_lanes = stage.type.lanes == 3;
  for (const PixelRow& row : read.rows) {
    pixels = std::min(pixels, pixels_of_access(row.read.source->type));
    three_lanes |= row.read.source->type.lanes == 3;
  }
  if (three_lanes) pixels = pixels_of_three_lanes;
  while ((shares || read.may_leave()) && pixels > 1 && computes_much(loop.operations, pixels)) pixels /= 2;
  if ((shares || read.may_leave()) && pixels == 1) return std::nullopt;
  if (computes_much(loop.operations, pixels)) return std::nullopt;
  return ThreadPixels{pixels, read.columns_beside()};
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
