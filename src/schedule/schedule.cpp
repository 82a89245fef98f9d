#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analysis/footprint.h"
#include "ir/visit.h"
#include "schedule/marching.h"

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

std::string names_of(const std::vector<const ir::Stage*>& stages) {
  std::string names;
  for (const ir::Stage* stage : stages) names += (names.empty() ? "" : ", ") + stage->name;
  return names;
}

/// Whether its value can take the place of every read of it.
bool can_be_in_place(const ir::Stage& stage, const Uses& uses) {
  return uses.at_current_pixel_only && !uses.inside_a_loop &&
         std::get<ir::Pure>(stage.definition).cases.size() == 1;
}

StagePlan plan(const ir::Pipeline& pipeline, const ir::StagePtr& stage, const Uses& uses,
               const std::unordered_map<const ir::Stage*, std::string>& kernels) {
  const auto stored = [&](std::string why) {
    return StagePlan{stage->name, true, false, "", std::move(why)};
  };
  if (ir::is_output(pipeline, *stage)) return stored("it is an output");
  if (std::holds_alternative<ir::Reduce>(stage->definition))
    return stored("a reduction: one value for all its readers");
  if (std::holds_alternative<ir::Scatter>(stage->definition)) return stored("it is scattered into");
  if (std::holds_alternative<ir::Evolve>(stage->definition))
    return stored("it changes in place, step by step");
  if (uses.evolution) return stored(fmt::format("'{}' reads it in its steps", uses.evolution->name));
  const std::string names = names_of(uses.consumers);
  const std::size_t count = uses.consumers.size();
  const std::string& kernel = kernels.at(uses.consumers.at(0));
  const bool in_one_kernel = std::all_of(uses.consumers.begin(), uses.consumers.end(),
                                         [&](const ir::Stage* c) { return kernels.at(c) == kernel; });
  if (!in_one_kernel) return stored(fmt::format("{} stages read it: {}", count, names));
  const std::string who = count == 1 ? fmt::format("'{}' reads", names) : fmt::format("{} read", names);
  if (!uses.at_current_pixel_only) return stored(fmt::format("{} it at other pixels than its own", who));
  if (uses.inside_a_loop)
    return stored(fmt::format("{} it inside a loop, which would compute it again", who));
  if (std::get<ir::Pure>(stage->definition).cases.size() > 1) return stored("it is defined piecewise");
  if (count == 1)
    return {stage->name, false, false, names,
            fmt::format("its only consumer '{}' reads it at the same pixel: no store, no load", names)};
  return {stage->name, false, false, kernel,
          fmt::format("{} read it at the same pixel, in one kernel: no store, no load", names)};
}

/// The stored stages, what is read for each, and for which of them each is read.
class StoredStages {
 public:
  StoredStages(const ir::Pipeline& pipeline, const Schedule& schedule) {
    std::unordered_set<const ir::Stage*> in_place;
    std::unordered_map<std::string, std::vector<const ir::Read*>> of_parts;
    for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
      const ir::Stage& stage = *pipeline.stages[s];
      StageReads reads{&stage, std::move(of_parts[stage.name])};
      for (const ir::Read* read : reads_of(stage).reads) {
        if (!in_place.count(read->source.get())) reads.reads.push_back(read);
      }
      if (schedule.stages[s].in_place()) {
        auto& into = of_parts[schedule.stages[s].into];
        into.insert(into.end(), reads.reads.begin(), reads.reads.end());
        in_place.insert(&stage);
        continue;
      }
      for (const ir::Read* read : reads.reads) readers_[read->source.get()].insert(stages_.size());
      for (const ir::StagePtr& source : ir::sources(stage)) readers_[source.get()].insert(stages_.size());
      stages_.push_back(std::move(reads));
    }
  }

  const std::vector<StageReads>& all() const { return stages_; }
  /// Whether all that read the stage are in the group, and some does.
  bool read_only_in(const std::vector<bool>& group, const ir::Stage& stage) const {
    const auto readers = readers_.find(&stage);
    return readers != readers_.end() && std::all_of(readers->second.begin(), readers->second.end(),
                                                    [&](std::size_t reader) { return group[reader]; });
  }

 private:
  std::vector<StageReads> stages_;
  std::unordered_map<const ir::Stage*, std::unordered_set<std::size_t>> readers_;  // indices of all()
};

// Operations for each byte that is not stored and loaded, from which on a core is busy while memory moves
// them, so that computing a halo twice costs more than is saved. A division or a root counts as several.
constexpr double operations_per_byte = 12;
constexpr int operations_of_division = 8;

/// Why a stage had better be stored, though it could march: a clause, or nothing.
std::optional<std::string> reason_to_store(const ir::Stage& stage) {
  const analysis::Operations operations = analysis::summarize(stage).operations;
  const auto count = operations.alu + operations_of_division * operations.sfu;
  const int bytes = 2 * size_of(stage.type);
  if (static_cast<double>(count) < operations_per_byte * bytes) return std::nullopt;
  return fmt::format("{} operations a pixel take longer than {} bytes to memory and back", count, bytes);
}

/// Groups that are as large as pays, from the last stage back.
void march(const ir::Pipeline& pipeline, const std::unordered_map<const ir::Stage*, Uses>& uses,
           Schedule& schedule) {
  const StoredStages stored(pipeline, schedule);
  const std::vector<StageReads>& stages = stored.all();
  std::vector<bool> taken(stages.size(), false);
  const auto plan_of = [&](const ir::Stage& stage) -> StagePlan& {
    return *std::find_if(schedule.stages.begin(), schedule.stages.end(),
                         [&](const StagePlan& p) { return p.stage == stage.name; });
  };
  for (std::size_t result = stages.size(); result-- > 0;) {
    if (taken[result]) continue;
    std::vector<bool> group(stages.size(), false);
    group[result] = true;
    for (std::size_t s = result; s-- > 0;) {
      const ir::Stage& stage = *stages[s].stage;
      if (taken[s] || ir::is_output(pipeline, stage) || !stored.read_only_in(group, stage)) continue;
      StagePlan& plan = plan_of(stage);
      const auto refuse = [&](const std::string& why) {
        plan.why += fmt::format("; it is not computed with '{}', since {}", stages[result].stage->name, why);
      };
      std::vector<StageReads> members{stages[s]};
      for (std::size_t m = s + 1; m <= result; ++m) {
        if (group[m]) members.push_back(stages[m]);
      }
      const MarchOrWhy way = march_of(members);
      if (!way.march) {
        refuse(way.why);
        continue;
      }
      if (const auto why = reason_to_store(stage)) {
        refuse(*why);
        continue;
      }
      group[s] = true;
      taken[s] = true;
    }
    std::vector<StageReads> members;
    std::set<const ir::Stage*> candidates;
    for (std::size_t m = 0; m <= result; ++m) {
      if (!group[m]) continue;
      members.push_back(stages[m]);
      const auto use = uses.find(stages[m].stage);
      if (m != result && can_be_in_place(*stages[m].stage, use->second)) candidates.insert(stages[m].stage);
    }
    if (members.size() == 1) continue;
    const March march = march_of(members).march.value();
    const auto values = values_of_passes(members, march, candidates);
    for (const StageReads& m : members) {
      if (m.stage == stages[result].stage) continue;
      StagePlan& plan = plan_of(*m.stage);
      const RollingRows& rows = *march.of(*m.stage);
      plan.stored = false, plan.in_rows = !values.count(m.stage), plan.into = stages[result].stage->name;
      plan.why = plan.in_rows ? fmt::format(
                                    "computed {} row{} ahead of '{}', which needs {} of its rows at a time: "
                                    "no store, no load",
                                    rows.ahead, rows.ahead == 1 ? "" : "s", plan.into, rows.rows)
                              : fmt::format("{} read it at the same pixel, in one loop: no store, no load",
                                            names_of(uses.at(m.stage).consumers));
    }
  }
}

}  // namespace

std::string StagePlan::where() const {
  if (stored) return "stored";
  return (in_rows ? "in rows of " : "computed in ") + into;
}

const StagePlan& Schedule::of(const std::string& stage) const {
  const auto found =
      std::find_if(stages.begin(), stages.end(), [&](const StagePlan& p) { return p.stage == stage; });
  if (found == stages.end()) throw InternalError("the schedule says nothing about stage '" + stage + "'");
  return *found;
}

Schedule choose(const ir::Pipeline& pipeline, Tiling tiling) {
  auto uses = uses_of(pipeline);
  Schedule schedule;
  std::unordered_map<const ir::Stage*, std::string> kernels;  // the stored stage that each is computed for
  for (auto stage = pipeline.stages.rbegin(); stage != pipeline.stages.rend(); ++stage) {  // readers first
    StagePlan one = plan(pipeline, *stage, uses[stage->get()], kernels);
    kernels[stage->get()] = one.stored ? one.stage : kernels.at(uses[stage->get()].consumers.at(0));
    schedule.stages.push_back(std::move(one));
  }
  std::reverse(schedule.stages.begin(), schedule.stages.end());
  if (tiling == Tiling::Block) march(pipeline, uses, schedule);
  return schedule;
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

std::string to_json(const Schedule& schedule) {
  auto stages = nlohmann::ordered_json::array();
  for (const StagePlan& p : schedule.stages) {
    nlohmann::ordered_json one{{"stage", p.stage}, {"stored", p.stored}};
    if (!p.stored) one["into"] = p.into, one["in_rows"] = p.in_rows;
    one["why"] = p.why;
    stages.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"stages", std::move(stages)}}.dump(2);
}

}  // namespace weft::schedule
