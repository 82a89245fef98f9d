#include "plan/plan.h"

#include <algorithm>
#include <map>

#include "plan/march.h"

namespace weft::plan {

std::optional<ir::BorderMode> Kept::border_mode() const {
  return border && !continues ? std::optional(border->mode) : std::nullopt;
}

const Level* KernelPlan::level(LevelKind kind) const {
  const auto found =
      std::find_if(levels.begin(), levels.end(), [&](const Level& l) { return l.kind == kind; });
  return found == levels.end() ? nullptr : &*found;
}

const Kept* KernelPlan::kept_of(const std::string& stage) const {
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.stage == stage; });
  return found == kept.end() ? nullptr : &*found;
}

const Computed* KernelPlan::computed_of(const std::string& stage) const {
  const auto found =
      std::find_if(computed.begin(), computed.end(), [&](const Computed& c) { return c.stage == stage; });
  return found == computed.end() ? nullptr : &*found;
}

bool KernelPlan::has_single_updates() const {
  return several.empty() || several.back().steps > 1 || several.back().steps_from > 0;
}

bool KernelPlan::has_planes_of_threads() const {
  const Level& grid = levels.at(0);
  return grid.kind == LevelKind::Grid && !is_tiled() && grid.extent.size() == 3 && grid.extent[2].is_all();
}

int KernelPlan::rows_of_threads() const {
  const Level& grid = levels.at(0);
  const bool has_rows = grid.kind == LevelKind::Grid && !is_tiled() && !parts && grid.extent.size() == 2;
  return has_rows ? grid.extent[1].fixed() : 1;
}

bool KernelPlan::is_static() const {
  return std::any_of(levels.begin(), levels.end(), [](const Level& l) { return l.order == Order::Static; });
}

bool KernelPlan::moves_rows() const {
  const Level* batch = level(LevelKind::Batch);
  return batch && is_of_lanes() && !is_static() && !is_of_volume() && batch->extent.back().fixed() == step[1];
}

int KernelPlan::rows_of_pass() const {
  const Level* row = is_of_blocks() ? nullptr : level(LevelKind::Row);
  return row ? row->extent.back().fixed() / step[1] : 1;
}

int KernelPlan::warps() const {
  const Level* block = level(LevelKind::Block);
  return is_of_warps() && block ? block->extent.back().fixed() : 1;
}

bool KernelPlan::has_lanes_apart() const {
  return std::any_of(kept.begin(), kept.end(), [](const Kept& k) { return k.lane_pitch != 1; });
}

bool KernelPlan::has_one_rate() const {
  const std::array one{1, 1};
  return step == one && std::all_of(kept.begin(), kept.end(), [&](const Kept& k) { return k.rate == one; });
}

bool KernelPlan::exchanges_rows(const Kept& image) const {
  const bool goes_on = std::any_of(kept.begin(), kept.end(), [](const Kept& k) { return k.continues; });
  return image.in_memory && !is_static() && !goes_on && image.border_mode() != ir::BorderMode::Constant;
}

bool KernelPlan::fetches_ahead(const std::string& image) const {
  constexpr int most_bytes = 16 << 10;  // of a row: the second level of caches has room for many such
  const auto use =
      std::find_if(images.begin(), images.end(), [&](const ImageUse& i) { return i.stage == image; });
  const bool has_next_plane = !is_static() || !is_of_volume();
  if (use == images.end() || use->box.size() < 2 || is_of_blocks() || !is_tiled() || !has_next_plane)
    return false;
  const Kept* rows = kept_of(image);
  const int row = rows ? at_rate(width(), step[0], rows->rate[0]) : width();
  return row * size_of(use->type) <= most_bytes;
}

int Kept::slots() const {
  if (!resident) return rows;
  return std::max(least_rows, *resident + (*resident < rows ? least_rows : 0));
}

int KernelPlan::row_of_lanes(const Kept& source) const {
  const int lanes = level(LevelKind::Warp)->extent.at(0).fixed();  // and the pixels of each
  return lanes * source.type.lanes;
}

std::int64_t KernelPlan::shared_bytes() const {
  if (!is_of_lanes()) return kept_bytes();
  std::int64_t bytes = 0;
  for (const Kept& k : kept)
    bytes += std::int64_t{k.rows - k.resident.value_or(k.rows)} * row_of_lanes(k) * size_of(k.type.scalar);
  return bytes;
}

std::int64_t KernelPlan::kept_bytes() const {
  std::map<int, std::int64_t> of_place;
  for (const Kept& k : kept) of_place[k.place] = std::max(of_place[k.place], k.bytes());
  std::int64_t bytes = parts && is_of_blocks() ? bytes_of_accumulators(*parts) : 0;
  for (const auto& [place, most] : of_place) bytes += most * warps();
  return bytes;
}

}  // namespace weft::plan
