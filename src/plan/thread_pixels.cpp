#include "plan/thread_pixels.h"

#include <algorithm>
#include <map>

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
constexpr std::int64_t most_planes_of_thread = 16;
// Where a thread's pixels of all planes are straight-line code.
constexpr std::int64_t most_operations_of_planes = 800;
// A thread has several rows, if it waits for where pixels are: of each it has the addresses of all in registers.
constexpr int usual_rows_of_thread = 4;
constexpr std::int64_t most_found_at_a_time = 32;

/// Whether some window is a loop over its taps: then no columns around a pixel are known by number.
bool loops_over_taps(const Loop& loop, const CodeLimits& limits) {
  bool loops = false;
  for (const ir::Stage* stage : loop.of_windows) {
    ir::visit(ir::expressions(*stage), [&](const ir::Expr& e) {
      const auto* window = std::get_if<ir::FoldResult>(&e->op);
      loops |= std::holds_alternative<ir::Median>(e->op) ||
               (window != nullptr && !is_unrolled_in_thread(*window->fold, limits));
    });
  }
  return loops;
}

/// Whether the pixels are a volume of few planes, which a thread may go through.
bool has_few_planes(const ir::Stage& stage) {
  const ir::Box& box = stage.domain();
  return box.size() == 3 && box[2].min.is_constant() && box[2].extent.is_constant() &&
         box[2].extent.constant() <= most_planes_of_thread;
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

bool has_planes_in_common(const StageReads& stage) {
  if (!has_few_planes(*stage.stage)) return false;
  const auto is_of_plane = [](const ir::Index& index) {
    const auto* affine = std::get_if<ir::Affine>(&index);
    return !affine || ir::mentions_coord(*affine, 2);
  };
  const auto in_common = std::count_if(stage.reads.begin(), stage.reads.end(), [&](const ir::Read* read) {
    return !read->indices.empty() && std::none_of(read->indices.begin(), read->indices.end(), is_of_plane);
  });
  return in_common > 0 && 2 * in_common >= std::ssize(stage.reads);
}

bool shares_planes(const Loop& loop, int pixels) {
  const ir::Stage& stage = loop.stage();
  if (!has_few_planes(stage) || pixel_rows(loop.reads.reads, stage).may_leave()) return false;
  if (loop.operations.alu * pixels * stage.domain()[2].extent.constant() > most_operations_of_planes)
    return false;
  std::map<const ir::Stage*, Reach> planes;
  for (const ir::Read* read : loop.reads.reads) {
    const std::optional<Window> window = window_of(analysis::footprint(*read));
    if (!window || window->size() != 3) continue;
    if ((*window)[0] != Reach{} || (*window)[1] != Reach{}) return false;
    const auto [known, is_new] = planes.try_emplace(read->source.get(), window->back());
    if (!is_new) known->second = analysis::hull({known->second}, {window->back()}).front();
  }
  return std::any_of(planes.begin(), planes.end(),
                     [](const auto& source) { return source.second.extent() > 1; });
}

int rows_of_thread(const StageReads& stage) {
  const auto found = std::count_if(stage.reads.begin(), stage.reads.end(), [](const ir::Read* read) {
    return std::any_of(read->indices.begin(), read->indices.end(),
                       [](const ir::Index& index) { return std::holds_alternative<ir::Expr>(index); });
  });
  int rows = found > 0 ? usual_rows_of_thread : 1;
  while (rows > 1 && rows * found > most_found_at_a_time) rows /= 2;
  return rows;
}

}  // namespace weft::plan
