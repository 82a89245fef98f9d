#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/counted.h"
#include "plan/planner.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"

namespace weft::schedule {
namespace {

// Of the time of the kernels: what is saved has to be more than the model may be wrong.
constexpr double enough_saved_in_turn = 0.9;
// Longer runs of kernels have all of a shorter one's work: they take no less where that is far too much for one block.
constexpr double far_too_long = 4;

/// Runs of kernels, as they follow one another, that one block had better compute in turn.
class Turns {
 public:
  Turns(const ir::Pipeline& pipeline, const Schedule& schedule, const Memory& memory,
        const plan::CostModel& model)
      : schedule_(schedule),
        memory_(memory),
        model_(model),
        kernel_of_(kernels_of(schedule)),
        loops_(Kernels(pipeline, [&](const ir::Stage& stage, const ir::Stage& reader) {
                 return kernel_of_.at(stage.name) == kernel_of_.at(reader.name);
               }).loops()) {
    for (const plan::KernelPlan& kernel : schedule.kernels) {
      const bool is_of_pixels = has_pixels_alone(kernel.result);
      costs_.push_back(is_of_pixels ? std::optional(model(kernel)) : std::nullopt);
    }
  }

  struct Run {
    std::size_t first, end;  ///< Of the schedule's kernels.
    double saved;            ///< Of their time.
  };
  /// So that all kernels take least time, first to last.
  std::vector<Run> best() const {
    const std::size_t count = costs_.size();
    std::vector<double> least(count + 1, 0);
    std::vector<Run> last(count + 1);  // last[5]: the run that ends with the fifth kernel
    for (std::size_t end = 1; end <= count; ++end) {
      double apart = costs_[end - 1].value_or(0);
      least[end] = least[end - 1] + apart, last[end] = {end - 1, end, 0};
      for (std::size_t first = end - 1; costs_[end - 1] && first > 0 && costs_[first - 1];) {
        apart += *costs_[--first];
        const std::optional<double> together = cost_in_turn(first, end);
        if (!together || *together > far_too_long * apart) break;
        if (*together > enough_saved_in_turn * apart || least[first] + *together >= least[end]) continue;
        least[end] = least[first] + *together, last[end] = {first, end, 1 - *together / apart};
      }
    }
    std::vector<Run> runs;
    for (std::size_t end = count; end > 0; end = last[end].first) {
      if (last[end].saved > 0) runs.push_back(last[end]);
    }
    return runs;
  }

  /// The names of what the run's kernels compute, in the order of the pipeline.
  std::vector<std::string> stages_of(const Run& run) const {
    std::vector<std::string> names;
    for (const StagePlan& stage : schedule_.stages) {
      const std::size_t kernel = kernel_of_.at(stage.stage);
      if (run.first <= kernel && kernel < run.end) names.push_back(stage.stage);
    }
    return names;
  }

 private:
  static std::map<std::string, std::size_t> kernels_of(const Schedule& schedule) {
    std::map<std::string, std::size_t> kernels;
    for (const std::vector<std::string>& group : groups_of(schedule)) {
      const auto kernel = std::find_if(
          schedule.kernels.begin(), schedule.kernels.end(),
          [&](const plan::KernelPlan& k) { return std::count(group.begin(), group.end(), k.result) > 0; });
      for (const std::string& stage : group)
        kernels[stage] = static_cast<std::size_t>(kernel - schedule.kernels.begin());
    }
    return kernels;
  }

  bool has_pixels_alone(const std::string& result) const {
    const std::size_t kernel = kernel_of_.at(result);
    return std::all_of(loops_.begin(), loops_.end(), [&](const plan::Loop& loop) {
      return kernel_of_.at(loop.stage().name) != kernel ||
             std::holds_alternative<ir::Pure>(loop.stage().definition);
    });
  }

  std::optional<double> cost_in_turn(std::size_t first, std::size_t end) const {
    std::vector<plan::Loop> members;
    for (const plan::Loop& loop : loops_) {
      const std::size_t kernel = kernel_of_.at(loop.stage().name);
      if (first <= kernel && kernel < end) members.push_back(loop);
    }
    const plan::GroupOrWhy group = plan::group_in_turn(std::move(members), memory_);
    if (!group.group) return std::nullopt;
    const plan::PlanOrWhy found = plan::plan_of(*group.group, memory_, {});
    return found.plan ? std::optional(model_(*found.plan)) : std::nullopt;
  }

  const Schedule& schedule_;
  const Memory& memory_;
  const plan::CostModel& model_;
  const std::map<std::string, std::size_t> kernel_of_;  // by stage
  const std::vector<plan::Loop> loops_;
  std::vector<std::optional<double>> costs_;  // of kernels of pixels
};

}  // namespace

Grouping with_turns(const ir::Pipeline& pipeline, Grouping grouping, Tiling tiling, const Memory& memory,
                    const plan::CostModel& model) {
  if (!memory.is_of_blocks()) return grouping;
  const ScheduleOrWhy found = schedule_of_groups(pipeline, grouping, tiling, memory);
  if (!found.schedule) return grouping;  // who asks for it says why
  const Turns turns(pipeline, *found.schedule, memory, model);
  for (const Turns::Run& run : turns.best()) {
    const std::vector<std::string> stages = turns.stages_of(run);
    const std::set<std::string> in_run(stages.begin(), stages.end());
    std::erase_if(grouping.groups,
                  [&](const std::vector<std::string>& group) { return in_run.count(group.front()) > 0; });
    grouping.groups.push_back(stages);
    for (const std::string& stage : stages) grouping.kernels.erase(stage);
    plan::Choices& asked = grouping.kernels[stages.back()];
    asked.of_blocks = true, asked.in_turn = true;
    grouping.why[stages.back()] =
        fmt::format("one block computes {} in turn, which should take {:.0f} % less than {}",
                    counted(std::ssize(stages), "stage"), 100 * run.saved,
                    counted(static_cast<std::int64_t>(run.end - run.first), "kernel"));
  }
  return grouping;
}

}  // namespace weft::schedule
