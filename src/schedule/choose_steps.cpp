#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "plan/planner.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"

namespace weft::schedule {
namespace {

constexpr std::array candidates = {2, 4, 8, 16};
// Of the time of single steps: what is saved has to be more than the model may be wrong.
constexpr double enough_saved = 0.1;
// Of a field on CPUs: smaller ones stay in caches from step to step, and tiles would compute their halos for nothing
// (bench/results/2026-11-23-steps-at-once.md).
constexpr std::int64_t least_bytes_of_cores = 8 << 20;

/// The plan of an evolution that takes so many steps at a time; nothing if there is none.
std::optional<plan::KernelPlan> plan_of_steps(const ir::Stage& stage, int steps, const Memory& memory) {
  plan::Choices asked;
  asked.steps = steps;
  return plan::plan_of(*plan::group_of({plan::loop_of(stage)}, memory).group, memory, asked).plan;
}

}  // namespace

Grouping with_steps(const ir::Pipeline& pipeline, Grouping grouping, const Memory& memory,
                    const plan::CostModel& model) {
  std::set<const ir::Evolution*> known;
  for (const ir::StagePtr& stage : pipeline.stages) {
    const auto* evolve = std::get_if<ir::Evolve>(&stage->definition);
    if (!evolve || grouping.kernels.count(stage->name) || !known.insert(evolve->evolution.get()).second)
      continue;
    const auto single = plan_of_steps(*stage, 1, memory);
    double least = 0;
    for (const plan::KernelPlan& update : single->updates) least += model(update);
    std::string prices = fmt::format("1: {:.3g} ms", least * 1e3);
    least *= 1 - enough_saved;
    int best = 1;
    for (const int steps : candidates) {
      const auto several = plan_of_steps(*stage, steps, memory);
      if (!several) break;
      const double cost = model(several->several.at(0)) / steps;
      prices += fmt::format(", {}: {:.3g}", steps, cost * 1e3);
      if (cost < least) least = cost, best = steps;
    }
    if (best == 1) continue;
    plan::Choices& asked = grouping.kernels[stage->name];
    asked.steps = best;
    asked.of_blocks = memory.is_of_blocks();
    if (!memory.is_of_blocks()) asked.steps_from = least_bytes_of_cores;
    grouping.why[stage->name] =
        fmt::format("{}; a step takes least if one kernel takes {} (by the model, {})",
                    always_stored(pipeline, *stage).value_or(""), best, prices);
  }
  return grouping;
}

}  // namespace weft::schedule
