#include "runtime/launch_progress.h"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "host/plan.h"
#include "kernel/evaluate.h"
#include "kernel/visit.h"

namespace weft::runtime {
namespace {

/// Less than anybody sees: such launches are counted whole, since they may be small and many.
constexpr double visible_share = 1e-4;

std::map<kernel::Symbol, double> pixels_of(const kernel::Module& module, const kernel::FieldValues& fields) {
  std::map<kernel::Symbol, double> pixels;
  for (const kernel::Array& array : module.arrays) {
    double count = 1;
    for (const std::int64_t extent : kernel::extents_of(array, fields)) count *= static_cast<double>(extent);
    pixels[array.name] = count;
  }
  return pixels;
}

}  // namespace

LaunchProgress::LaunchProgress(const kernel::Module& module, const ir::Pipeline& pipeline,
                               const ir::Bindings& bindings, RunProgress& progress)
    : progress_(progress) {
  progress_.done = 0, progress_.step = 0, progress_.steps = 0;
  const kernel::FieldValues fields = kernel::field_values(module, pipeline, bindings);
  const std::map<kernel::Symbol, double> pixels = pixels_of(module, fields);
  double total = 0;
  const auto add = [&](const std::vector<kernel::Launch>& launches, std::int64_t times, const Steps& steps) {
    Turns turns{{}, times, steps};
    for (const kernel::Launch& launch : launches) {
      double work = 1;
      const kernel::Uses uses = kernel::uses_of(module, launch.function);
      for (const auto* arrays : {&uses.reads, &uses.writes}) {
        for (const kernel::Symbol& array : *arrays) work += pixels.at(array);
      }
      turns.shares.push_back(work);
      total += work * static_cast<double>(times);
    }
    if (times > 0 && !launches.empty()) turns_.push_back(std::move(turns));
  };
  for (const kernel::Step& step : module.steps) {
    if (const auto* launch = std::get_if<kernel::Launch>(&step)) add({*launch}, 1, {});
    const auto* repeat = std::get_if<kernel::Repeat>(&step);
    if (!repeat) continue;
    const std::int64_t all = kernel::evaluate(repeat->parts.back().to, fields);
    for (const kernel::Turns& part : repeat->parts) {
      const std::int64_t times = kernel::evaluate(host::times_of(part.from, part.to, part.by), fields);
      add(part.launches, times, {kernel::evaluate(part.from, fields), part.by, all});
    }
  }
  for (Turns& turns : turns_) {
    for (double& share : turns.shares) share /= total;
  }
}

void LaunchProgress::begin(std::int64_t iterations) {
  if (turn_ == turns_.size()) return;
  const Turns& turns = turns_[turn_];
  const Steps& steps = turns.steps;
  progress_.steps.store(steps.all, std::memory_order_relaxed);
  progress_.step.store(steps.all > 0 ? steps.before + (time_ + 1) * steps.at_once : 0,
                       std::memory_order_relaxed);
  const double share = turns.shares[launch_];
  per_iteration_ =
      share < visible_share ? 0 : share / static_cast<double>(std::max<std::int64_t>(iterations, 1));
}

void LaunchProgress::advance(std::int64_t iterations) {
  if (per_iteration_ > 0)
    progress_.done.fetch_add(per_iteration_ * static_cast<double>(iterations), std::memory_order_relaxed);
}

void LaunchProgress::end() {
  if (turn_ == turns_.size()) return;
  const Turns& turns = turns_[turn_];
  finished_ += turns.shares[launch_];
  progress_.done.store(std::min(finished_, 1.0), std::memory_order_relaxed);
  if (++launch_ < turns.shares.size()) return;
  launch_ = 0;
  if (++time_ < turns.times) return;
  time_ = 0;
  ++turn_;
}

}  // namespace weft::runtime
