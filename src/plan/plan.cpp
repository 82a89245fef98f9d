#include "plan/plan.h"

#include <algorithm>
#include <map>

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

bool KernelPlan::is_static() const {
  return std::any_of(levels.begin(), levels.end(), [](const Level& l) { return l.order == Order::Static; });
}

std::int64_t KernelPlan::kept_bytes() const {
  std::map<int, std::int64_t> of_place;
  for (const Kept& k : kept) of_place[k.place] = std::max(of_place[k.place], k.bytes());
  std::int64_t bytes = parts && is_of_blocks() ? bytes_of_accumulators(*parts) : 0;
  for (const auto& [place, most] : of_place) bytes += most;
  return bytes;
}

Choices choices_of(const KernelPlan& plan) {
  Choices choices;
  choices.of_blocks = plan.is_of_blocks();
  const Level* lane = plan.level(LevelKind::Lane);
  if (lane) choices.pixels = lane->extent.at(0).fixed();
  if (plan.passes.size() == 1) choices.keeps_rows = plan.is_tiled();
  if (!plan.is_tiled()) return choices;
  if (!plan.parts) {
    choices.width = plan.width(), choices.height = plan.height();
    choices.traversal = plan.is_static() ? Traversal::Static : Traversal::March;
  }
  if (const Level* block = plan.level(LevelKind::Block); block && !plan.parts)
    choices.columns = block->extent.at(0).fixed();
  if (const Level* batch = plan.level(LevelKind::Batch)) choices.batch = batch->extent.at(1).fixed();
  for (const Kept& k : plan.kept) choices.kept[k.stage] = {k.rows, k.in_memory};
  return choices;
}

Choices choices_of(const Tile& tile) {
  Choices choices;
  choices.width = tile.width, choices.height = fixed(tile.height), choices.traversal = tile.traversal;
  return choices;
}

}  // namespace weft::plan
