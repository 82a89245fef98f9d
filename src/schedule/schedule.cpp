#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "ir/visit.h"

namespace weft::schedule {
namespace {

/// How the stages of a pipeline read one stage.
struct Uses {
  std::vector<const ir::Stage*> consumers;  // distinct
  bool at_current_pixel_only = true;
  bool inside_a_loop = false;
  const ir::Stage* evolution = nullptr;  // one that reads it in every step
};

/// The reads that occur inside some loop over a window, where computing a producer in place would repeat it.
std::unordered_set<const ir::Node*> reads_inside_loops(const ir::Stage& stage) {
  std::unordered_set<const ir::Node*> inside;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    std::vector<ir::Expr> bodies;
    if (const auto* fold = std::get_if<ir::FoldResult>(&e->op)) bodies = fold->fold->next;
    if (const auto* median = std::get_if<ir::Median>(&e->op)) bodies = {median->value};
    ir::visit(bodies, [&](const ir::Expr& inner) {
      if (std::holds_alternative<ir::Read>(inner->op)) inside.insert(inner.get());
    });
  });
  return inside;
}

std::unordered_map<const ir::Stage*, Uses> uses_of(const ir::Pipeline& pipeline) {
  std::unordered_map<const ir::Stage*, Uses> uses;
  for (const ir::StagePtr& consumer : pipeline.stages) {
    const auto inside = reads_inside_loops(*consumer);
    for (const ir::Expr& e : ir::reads(*consumer)) {
      const auto& read = std::get<ir::Read>(e->op);
      Uses& use = uses[read.source.get()];
      if (use.consumers.empty() || use.consumers.back() != consumer.get())
        use.consumers.push_back(consumer.get());
      use.at_current_pixel_only &= ir::reads_current_pixel(read, consumer->domain());
      use.inside_a_loop |= inside.count(e.get()) > 0;
    }
    if (!std::holds_alternative<ir::Evolve>(consumer->definition)) continue;
    for (const ir::StagePtr& source : ir::sources(*consumer)) {
      uses[source.get()].consumers.push_back(consumer.get());
      uses[source.get()].evolution = consumer.get();
    }
  }
  return uses;
}

StagePlan plan(const ir::Pipeline& pipeline, const ir::StagePtr& stage, const Uses& uses) {
  const auto stored = [&](std::string why) { return StagePlan{stage->name, true, "", std::move(why)}; };
  if (std::find(pipeline.outputs.begin(), pipeline.outputs.end(), stage) != pipeline.outputs.end()) {
    return stored("it is an output");
  }
  if (std::holds_alternative<ir::Reduce>(stage->definition))
    return stored("a reduction: one value for all its readers");
  if (std::holds_alternative<ir::Scatter>(stage->definition)) return stored("it is scattered into");
  if (std::holds_alternative<ir::Evolve>(stage->definition))
    return stored("it changes in place, step by step");
  if (uses.evolution) return stored(fmt::format("'{}' reads it in its steps", uses.evolution->name));
  if (uses.consumers.size() > 1) {
    std::string names;
    for (const ir::Stage* consumer : uses.consumers) names += (names.empty() ? "" : ", ") + consumer->name;
    return stored(fmt::format("{} stages read it: {}", uses.consumers.size(), names));
  }
  const std::string& consumer = uses.consumers.at(0)->name;
  if (!uses.at_current_pixel_only)
    return stored(fmt::format("'{}' reads it at other pixels than its own", consumer));
  if (uses.inside_a_loop)
    return stored(fmt::format("'{}' reads it inside a loop, which would compute it again", consumer));
  if (std::get<ir::Pure>(stage->definition).cases.size() > 1) return stored("it is defined piecewise");
  return {stage->name, false, consumer,
          fmt::format("its only consumer '{}' reads it at the same pixel: no store, no load", consumer)};
}

}  // namespace

const StagePlan& Schedule::of(const std::string& stage) const {
  const auto found =
      std::find_if(stages.begin(), stages.end(), [&](const StagePlan& p) { return p.stage == stage; });
  if (found == stages.end()) throw InternalError("the schedule says nothing about stage '" + stage + "'");
  return *found;
}

Schedule choose(const ir::Pipeline& pipeline) {
  auto uses = uses_of(pipeline);
  Schedule schedule;
  for (const ir::StagePtr& stage : pipeline.stages)
    schedule.stages.push_back(plan(pipeline, stage, uses[stage.get()]));
  return schedule;
}

std::string to_text(const Schedule& schedule) {
  std::size_t width = 0;
  for (const StagePlan& p : schedule.stages) width = std::max(width, p.stage.size());
  std::string text;
  for (const StagePlan& p : schedule.stages) {
    text +=
        fmt::format("{:<{}}  {}: {}\n", p.stage, width, p.stored ? "stored" : "computed in " + p.into, p.why);
  }
  return text;
}

std::string to_json(const Schedule& schedule) {
  auto stages = nlohmann::ordered_json::array();
  for (const StagePlan& p : schedule.stages) {
    nlohmann::ordered_json one{{"stage", p.stage}, {"stored", p.stored}};
    if (!p.stored) one["into"] = p.into;
    one["why"] = p.why;
    stages.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"stages", std::move(stages)}}.dump(2);
}

}  // namespace weft::schedule
