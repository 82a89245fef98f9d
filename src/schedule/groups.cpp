#include "schedule/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "plan/planner.h"
#include "schedule/kernels.h"
#include "schedule/tile_sizes.h"

namespace weft::schedule {
namespace {

/// Those that were asked for.
Tiles tiles_of(const Schedule& schedule) {
  Tiles tiles;
  for (const StagePlan& plan : schedule.stages) {
    if (plan.tile) tiles[plan.stage] = *plan.tile;
  }
  return tiles;
}

/// What cores take of it: stages that a block computes in turn have nothing else in common.
Grouping without_turns(Grouping grouping) {
  std::erase_if(grouping.groups, [&](const std::vector<std::string>& group) {
    return std::any_of(group.begin(), group.end(), [&](const std::string& stage) {
      const auto kernel = grouping.kernels.find(stage);
      return kernel != grouping.kernels.end() && kernel->second.in_turn == true;
    });
  });
  return grouping;
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// Where the groups send each stage; what is in none has a number of its own.
class Membership {
 public:
  Membership(const ir::Pipeline& pipeline, const Groups& groups) : members_(groups.size()) {
    std::unordered_map<std::string, std::size_t> named;
    for (std::size_t g = 0; g < groups.size() && why_.empty(); ++g) {
      if (groups[g].empty()) why_ = "a group has no stages";
      for (const std::string& name : groups[g]) {
        const auto [entry, is_new] = named.emplace(name, g);
        if (is_new) continue;
        why_ = fmt::format("stage '{}' is {}", name,
                           entry->second == g ? "in its group twice" : "in two groups");
      }
    }
    for (const ir::StagePtr& stage : pipeline.stages) {
      const auto found = named.find(stage->name);
      const std::size_t group = found == named.end() ? members_.size() : found->second;
      if (group == members_.size()) members_.emplace_back();
      members_[group].push_back(stage.get());
      group_of_[stage.get()] = group;
      if (found != named.end()) named.erase(found);
    }
    if (named.empty() || !why_.empty()) return;
    std::vector<std::string> stages;
    for (const ir::StagePtr& stage : pipeline.stages) stages.push_back(stage->name);
    why_ = fmt::format("there is no stage '{}'; there are {}",
                       std::min_element(named.begin(), named.end())->first, quoted(stages));
  }

  const std::string& why() const { return why_; }  ///< Empty if the groups make sense.
  /// By group, in the order of the pipeline.
  const std::vector<std::vector<const ir::Stage*>>& members() const { return members_; }
  std::size_t of(const ir::Stage& stage) const { return group_of_.at(&stage); }
  bool together(const ir::Stage& a, const ir::Stage& b) const { return of(a) == of(b); }

 private:
  std::vector<std::vector<const ir::Stage*>> members_;
  std::unordered_map<const ir::Stage*, std::size_t> group_of_;
  std::string why_;
};

class Planning {
 public:
  Planning(const ir::Pipeline& pipeline, const Grouping& grouping, Tiling tiling, const Memory& memory)
      : pipeline_(pipeline),
        grouping_(grouping),
        tiling_(tiling),
        memory_(memory),
        groups_(pipeline, grouping.groups),
        kernels_(pipeline, [&](const ir::Stage& stage, const ir::Stage& reader) {
          return groups_.together(stage, reader);
        }) {}

  ScheduleOrWhy run() {
    if (!groups_.why().empty()) return {std::nullopt, groups_.why()};
    for (const ir::StagePtr& stage : pipeline_.stages) plan(*stage);
    const std::optional<std::vector<std::size_t>> order = order_of_groups();
    if (!order) return {std::nullopt, why_};
    for (const std::size_t group : *order) {
      if (!make_kernel(groups_.members()[group])) return {std::nullopt, why_};
    }
    follow_leaders();
    const Tiles taken = tiles_of(schedule_);
    for (const auto& [result, tile] : grouping_.tiles) {
      if (!taken.count(result))
        return {std::nullopt, fmt::format("there is a tile for '{}', which is not the last stage of a group "
                                          "that keeps rows",
                                          result)};
    }
    for (const auto& [result, choices] : grouping_.kernels) {
      const bool is_stored = std::any_of(schedule_.kernels.begin(), schedule_.kernels.end(),
                                         [&](const plan::KernelPlan& k) { return k.result == result; });
      if (!is_stored)
        return {std::nullopt,
                fmt::format("there is a kernel for '{}', which is not the last stage of a group", result)};
    }
    return {std::move(schedule_), ""};
  }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  void plan(const ir::Stage& stage) {
    const Uses& uses = kernels_.uses(stage);
    if (!kernels_.in_place(stage)) {
      schedule_.stages.push_back({stage.name, true, false, "", why_stored(stage)});
    } else if (uses.consumers.size() == 1) {
      schedule_.stages.push_back(
          {stage.name, false, false, uses.names(),
           fmt::format("its only consumer '{}' reads it at the same pixel: no store, no load",
                       uses.names())});
    } else {
      schedule_.stages.push_back(
          {stage.name, false, false, kernels_.loop_of(stage).name,
           fmt::format("{} read it at the same pixel, in one kernel: no store, no load", uses.names())});
    }
  }

  std::string why_stored(const ir::Stage& stage) const {
    if (const auto known = grouping_.why.find(stage.name); known != grouping_.why.end()) return known->second;
    if (auto why = always_stored(pipeline_, stage)) return *why;
    const auto& members = groups_.members()[groups_.of(stage)];
    if (members.back() != &stage) return fmt::format("{} read it", kernels_.uses(stage).names());
    return members.size() == 1 ? "it is a group by itself" : "it is the last of its group";
  }

  StagePlan& plan_of(const ir::Stage& stage) {
    return *std::find_if(schedule_.stages.begin(), schedule_.stages.end(),
                         [&](const StagePlan& p) { return p.stage == stage.name; });
  }

  /// Groups that have to be done before a group is.
  std::vector<std::set<std::size_t>> groups_before() const {
    std::vector<std::set<std::size_t>> before(groups_.members().size());
    for (const ir::StagePtr& stage : pipeline_.stages) {
      for (const ir::Stage* reader : kernels_.uses(*stage).consumers) {
        if (!groups_.together(*stage, *reader)) before[groups_.of(*reader)].insert(groups_.of(*stage));
      }
    }
    return before;
  }

  /// Each group after the groups that it reads from; where several could be next, the order of their last stages decides. Nothing
  /// if two groups need each other.
  std::optional<std::vector<std::size_t>> order_of_groups() {
    std::vector<std::set<std::size_t>> before = groups_before();
    std::vector<std::size_t> order, left;  // by their last stages
    for (const ir::StagePtr& stage : pipeline_.stages) {
      const std::size_t group = groups_.of(*stage);
      if (groups_.members()[group].back() == stage.get()) left.push_back(group);
    }
    while (!left.empty()) {
      const auto next =
          std::find_if(left.begin(), left.end(), [&](std::size_t g) { return before[g].empty(); });
      if (next == left.end()) {
        refuse_circle(before, left.front());
        return std::nullopt;
      }
      order.push_back(*next);
      for (std::set<std::size_t>& of_group : before) of_group.erase(*next);
      left.erase(next);
    }
    return order;
  }

  /// Names two stages of a circle of groups, which can be reached from that one.
  void refuse_circle(const std::vector<std::set<std::size_t>>& before, std::size_t group) {
    std::set<std::size_t> seen;
    while (seen.insert(group).second) group = *before[group].begin();
    const auto name_of = [&](std::size_t g) { return groups_.members()[g].back()->name; };
    refuse(fmt::format("the group of '{}' reads pixels of the group of '{}', which needs its own in turn",
                       name_of(group), name_of(*before[group].begin())));
  }

  /// Whether something besides the group needs its pixels in memory.
  bool is_stored(const ir::Stage& member) const {
    return schedule::is_stored(pipeline_, kernels_, member,
                               [&](const ir::Stage& reader) { return groups_.together(member, reader); });
  }

  /// The kernel of a group: its stages that are not in place march, if they are several.
  bool make_kernel(const std::vector<const ir::Stage*>& members) {
    const ir::Stage& last = *members.back();
    const bool is_in_turn = asked_of(last).in_turn == true;
    std::vector<plan::Loop> loops;
    for (const plan::Loop& loop : kernels_.loops()) {
      if (!groups_.together(loop.stage(), *members[0])) continue;
      loops.push_back(loop);
      loops.back().is_stored = is_in_turn || is_stored(loop.stage());
    }
    for (const plan::Loop& loop : loops) {
      const ir::Stage& stage = loop.stage();
      const bool is_pure = std::holds_alternative<ir::Pure>(stage.definition);
      if (&stage == &last || is_pure || !loop.is_stored) continue;
      return refuse(
          fmt::format("'{}' has memory of its own ({}), so it must be the last of its group, which '{}' is",
                      stage.name, *always_stored(pipeline_, stage), last.name));
    }
    if (loops.size() > 1 && tiling_ == Tiling::None) {
      return refuse(fmt::format("rows of '{}' would have to be kept for '{}', and no stages march here",
                                loops[0].stage().name, last.name));
    }
    const plan::GroupOrWhy found =
        is_in_turn ? plan::group_in_turn(loops, memory_) : plan::group_of(loops, memory_);
    if (!found.group) return refuse(found.why);
    const plan::Choices asked = choices_for(last, *found.group);
    plan::PlanOrWhy kernel = asked == plan::Choices{} ? plan_in(tiling_, *found.group, memory_)
                                                      : plan::plan_of(*found.group, memory_, asked);
    if (!kernel.plan) return refuse(std::move(kernel.why));
    if (!kernel.why.empty())
      plan_of(last).why += "; it has no tiles of the kind that was asked for: " + kernel.why;
    for (const plan::Loop& loop : loops) {
      if (&loop.stage() == &last) continue;
      if (found.group->values.count(&loop.stage()))
        plan_value(loop.stage(), last);
      else if (loop.is_stored)
        plan_stored(loop.stage(), last);
      else if (kernel.plan->scatter)
        plan_columns(loop.stage(), last);
      else
        plan_rows(loop.stage(), last, *found.group->march.of(loop.stage()), kernel.plan->is_static());
    }
    schedule_.kernels.push_back(*std::move(kernel.plan));
    return true;
  }

  /// The stages of the pipeline that are fields of the same evolution: the first leads. A stage of no evolution alone.
  std::vector<const ir::Stage*> fields_with(const ir::Stage& stage) const {
    const auto* own = std::get_if<ir::Evolve>(&stage.definition);
    if (!own) return {&stage};
    std::vector<const ir::Stage*> fields;
    for (const ir::StagePtr& other : pipeline_.stages) {
      const auto* evolve = std::get_if<ir::Evolve>(&other->definition);
      if (evolve && evolve->evolution == own->evolution) fields.push_back(other.get());
    }
    return fields;
  }
  /// Fields change together, so the plan of one says it for all.
  void follow_leaders() {
    for (const ir::StagePtr& stage : pipeline_.stages) {
      const std::string& leader = fields_with(*stage).front()->name;
      if (leader == stage->name) continue;
      plan::KernelPlan& plan = *std::find_if(schedule_.kernels.begin(), schedule_.kernels.end(),
                                             [&](const auto& k) { return k.result == stage->name; });
      plan.updates.clear(), plan.several.clear();
      plan.evolves_with = leader;
    }
  }

  /// What was asked for of the kernel that stores the stage, or of the evolution that it leads.
  plan::Choices asked_of(const ir::Stage& last) const {
    plan::Choices asked;
    const auto fields = fields_with(last);
    for (const ir::Stage* field : fields) {
      const auto kernel = grouping_.kernels.find(field->name);
      if (kernel == grouping_.kernels.end() || fields.front() != &last) continue;
      asked = kernel->second;
      break;
    }
    if (asked.of_blocks.value_or(memory_.is_of_blocks()) != memory_.is_of_blocks()) asked = {};
    asked.of_blocks.reset();
    return asked;
  }
  /// Likewise, with the tile that was asked for.
  plan::Choices choices_for(const ir::Stage& last, const plan::Group& group) {
    plan::Choices asked = asked_of(last);
    if (const auto tile = grouping_.tiles.find(last.name);
        group.members.size() > 1 && tile != grouping_.tiles.end()) {
      plan_of(last).tile = tile->second;
      asked.width = tile->second.width, asked.height = plan::fixed(tile->second.height);
      asked.traversal = tile->second.traversal;
    }
    return asked;
  }

  void plan_value(const ir::Stage& stage, const ir::Stage& last) {
    StagePlan& plan = plan_of(stage);
    plan.stored = false, plan.into = last.name;
    plan.why = fmt::format("{} read it at the same pixel, in one loop: no store, no load",
                           kernels_.uses(stage).names());
  }

  void plan_stored(const ir::Stage& stage, const ir::Stage& last) {
    StagePlan& plan = plan_of(stage);
    plan.in_rows = true, plan.into = last.name;
    plan.why += fmt::format("; computed with '{}', in one kernel", last.name);
  }

  void plan_columns(const ir::Stage& stage, const ir::Stage& last) {
    StagePlan& plan = plan_of(stage);
    plan.stored = false, plan.in_columns = true, plan.into = last.name;
    plan.why = fmt::format("a thread has the whole columns that its pixels of '{}' are of: no store, no load",
                           last.name);
  }

  void plan_rows(const ir::Stage& stage, const ir::Stage& last, const plan::RollingRows& rows,
                 bool is_static) {
    StagePlan& plan = plan_of(stage);
    plan.stored = false, plan.in_rows = true, plan.into = last.name;
    if (is_static) {
      plan.why = fmt::format(
          "computed before '{}' in each of its tiles, with what lies around them: no store, no load",
          last.name);
      return;
    }
    plan.why = fmt::format(
        "computed {} row{} ahead of '{}', which needs {} of its rows at a time: no store, no load",
        rows.ahead, rows.ahead == 1 ? "" : "s", last.name, rows.rows);
  }

  const ir::Pipeline& pipeline_;
  const Grouping& grouping_;
  const Tiling tiling_;
  const Memory memory_;
  const Membership groups_;
  const Kernels kernels_;
  Schedule schedule_;
  std::string why_;
};

}  // namespace

ScheduleOrWhy schedule_of_groups(const ir::Pipeline& pipeline, const Grouping& grouping, Tiling tiling,
                                 const Memory& memory) {
  const Grouping possible = memory.is_of_blocks() ? grouping : without_turns(grouping);
  ScheduleOrWhy found = Planning(pipeline, possible, tiling, memory).run();
  if (found.schedule) found.schedule->preparation = grouping.preparation;
  return found;
}

Groups groups_of(const Schedule& schedule) {
  std::map<std::string, std::string> last;  // of the group of each stage
  for (auto plan = schedule.stages.rbegin(); plan != schedule.stages.rend(); ++plan)
    last[plan->stage] = plan->has_kernel() ? plan->stage : last.at(plan->into);
  Groups groups;
  for (const StagePlan& kernel : schedule.stages) {
    if (!kernel.has_kernel()) continue;
    auto& group = groups.emplace_back();
    for (const StagePlan& plan : schedule.stages) {
      if (last.at(plan.stage) == kernel.stage) group.push_back(plan.stage);
    }
  }
  return groups;
}

Grouping grouping_of(const Schedule& schedule) {
  return {groups_of(schedule), {}, {}, tiles_of(schedule), {}, schedule.preparation};
}

}  // namespace weft::schedule
