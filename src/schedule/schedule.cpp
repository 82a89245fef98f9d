#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/groups.h"

namespace weft::schedule {

std::string StagePlan::where() const {
  if (tile)
    return fmt::format("stored in {} of {}x{}", tile->traversal == Traversal::March ? "strips" : "tiles",
                       tile->width, tile->height);
  if (stored) return has_kernel() ? "stored" : "stored with " + into;
  return (in_rows ? "in rows of " : in_columns ? "in columns of " : "computed in ") + into;
}

const StagePlan& Schedule::of(const std::string& stage) const {
  const auto found =
      std::find_if(stages.begin(), stages.end(), [&](const StagePlan& p) { return p.stage == stage; });
  if (found == stages.end()) throw InternalError("the schedule says nothing about stage '" + stage + "'");
  return *found;
}

const plan::KernelPlan& Schedule::kernel_of(const std::string& stage) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const plan::KernelPlan& k) { return k.result == stage; });
  if (found == kernels.end()) throw InternalError("the schedule has no kernel for stage '" + stage + "'");
  return *found;
}

Schedule choose(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory) {
  ScheduleOrWhy chosen =
      schedule_of_groups(pipeline, largest_groups(pipeline, tiling, memory), tiling, memory);
  if (!chosen.schedule) throw InternalError("groups that were chosen are not legal: " + chosen.why);
  return std::move(*chosen.schedule);
}

std::string to_text(const Schedule& schedule) {
  std::size_t width = 0;
  for (const StagePlan& p : schedule.stages) width = std::max(width, p.stage.size());
  std::string text;
  for (const StagePlan& p : schedule.stages) {
    text += fmt::format("{:<{}}  {}: {}\n", p.stage, width, p.where(), p.why);
  }
  return text;
}

}  // namespace weft::schedule
