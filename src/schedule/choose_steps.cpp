#include <fmt/format.h>

#include <array>
#include <limits>
#include <set>
#include <utility>

#include "plan/planner.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"

namespace weft::schedule {
namespace {

constexpr std::array steps_of_overlap = {2, 4, 6, 8, 16};
constexpr std::array steps_of_split = {4, 8, 16, 32};
// Of the time of single steps: what is saved has to be more than the model may be wrong.
constexpr double enough_saved_by_steps = 0.1;
// Split tiles save what others compute again, and wait more often; no GPU has confirmed their prices, and on CPUs they were
// no faster where the model said so (bench/results/2026-11-25-split-tiles.md).
constexpr double enough_saved_by_split = 0.25;
// More steps at a time ask less of memory, which the cores share: on CPUs they may cost a little more by the model, which has
// two cores (bench/results/2026-11-27-neighbours.md). Not in volumes, whose tiles become smaller with each step: 6 steps of heat3d
// in doubles take 1.2 times as long as 4 (bench/results/2026-11-27-more-rows.md).
constexpr double worth_of_memory = 0.05;
// Of a field on CPUs: smaller ones stay in caches from step to step, and tiles would compute their halos for nothing
// (bench/results/2026-11-23-steps-at-once.md).
constexpr std::int64_t least_bytes_of_cores = 8 << 20;

/// What may be asked for of an evolution, and what a step of it should take: seconds.
struct Candidate {
  plan::Choices asked;
  double cost;
};

class Choosing {
 public:
  Choosing(const ir::Stage& stage, const Memory& memory, const plan::CostModel& model)
      : group_(*plan::group_of({plan::loop_of(stage)}, memory).group),
        memory_(memory),
        model_(model),
        is_of_volume_(stage.box.size() > 2) {
    plan::Choices single;
    single.steps = 1;
    double cost = 0;
    const plan::PlanOrWhy found = plan::plan_of(group_, memory, single);
    for (const plan::KernelPlan& update : found.plan->updates) cost += model(update);
    best_ = {single, cost};
    prices_ = fmt::format("1: {:.3g} ms", cost * 1e3);
  }

  /// A forced kind is chosen even where single steps should take less time.
  void consider(StepTiles tiles, bool is_forced) {
    if (is_forced) best_.cost = std::numeric_limits<double>::max();
    if (tiles != StepTiles::Split) {
      for (const int steps : steps_of_overlap) {
        if (!price({.steps = steps}, fmt::format("{}", steps))) break;
      }
    }
    if (tiles != StepTiles::Overlap) {
      for (const int steps : steps_of_split) {
        if (!price({.steps = steps, .split = plan::SplitChoices{}}, fmt::format("{} split", steps))) break;
      }
    }
  }

  const plan::Choices& asked() const { return best_.asked; }
  const std::string& prices() const { return prices_; }
  const std::string& why_none() const { return why_none_; }

 private:
  /// False if there is no such plan.
  bool price(const plan::Choices& asked, const std::string& name) {
    const plan::PlanOrWhy found = plan::plan_of(group_, memory_, asked);
    if (!found.plan) {
      if (why_none_.empty()) why_none_ = found.why;
      return false;
    }
    const plan::KernelPlan& several = found.plan->several.at(0);
    const double cost = model_(several) / several.steps;
    prices_ += fmt::format(", {}: {:.3g}", name, cost * 1e3);
    if (cost < best_.cost * (1 - to_be_saved_by(asked))) best_ = {asked, cost};
    return true;
  }

  /// Of the time of the best so far.
  double to_be_saved_by(const plan::Choices& asked) const {
    if (asked.split && !best_.asked.split) return enough_saved_by_split;
    if (best_.asked.steps == 1) return enough_saved_by_steps;
    return memory_.is_of_blocks() || asked.split || is_of_volume_ ? 0 : -worth_of_memory;
  }

  const plan::Group group_;
  const Memory& memory_;
  const plan::CostModel& model_;
  const bool is_of_volume_;
  Candidate best_;
  std::string prices_, why_none_;
};

}  // namespace

Grouping with_steps(const ir::Pipeline& pipeline, Grouping grouping, const Memory& memory,
                    const plan::CostModel& model, StepTiles tiles) {
  const bool is_forced = tiles != StepTiles::Any;
  std::set<const ir::Evolution*> known;
  for (const ir::StagePtr& stage : pipeline.stages) {
    const auto* evolve = std::get_if<ir::Evolve>(&stage->definition);
    if (!evolve || grouping.kernels.count(stage->name) || !known.insert(evolve->evolution.get()).second)
      continue;
    Choosing choosing(*stage, memory, model);
    choosing.consider(tiles, is_forced);
    const std::string stored = always_stored(pipeline, *stage).value_or("");
    if (choosing.asked().steps == 1) {
      if (is_forced)
        grouping.why[stage->name] = fmt::format("{}; it takes single steps: {}", stored, choosing.why_none());
      continue;
    }
    plan::Choices& asked = grouping.kernels[stage->name] = choosing.asked();
    asked.of_blocks = memory.is_of_blocks();
    if (!memory.is_of_blocks() && !is_forced) asked.steps_from = least_bytes_of_cores;
    grouping.why[stage->name] =
        fmt::format("{}; a step takes least if one kernel takes {}{} (by the model, {})", stored,
                    *asked.steps, asked.split ? " in split tiles" : "", choosing.prices());
  }
  return grouping;
}

}  // namespace weft::schedule
