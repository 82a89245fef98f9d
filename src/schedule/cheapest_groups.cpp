#include <fmt/format.h>

#include <algorithm>

#include "schedule/group_search.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"
#include "schedule/tile_sizes.h"

namespace weft::schedule {
namespace {

class CheapestGroups {
 public:
  CheapestGroups(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory,
                 const plan::CostModel& model)
      : pipeline_(pipeline),
        tiling_(tiling),
        memory_(memory),
        model_(model),
        kernels_(pipeline, [](const ir::Stage&, const ir::Stage&) { return true; }),
        loops_(kernels_.loops()) {}

  std::vector<Grouping> run(int count) {
    const GroupSearch found = least_cost_groups(
        graph(), [this](const Members& g) { return cost(g); }, count);
    std::vector<Grouping> groupings;
    for (const PricedGroups& way : found.best) {
      Grouping& grouping = groupings.emplace_back();
      for (const Members& group : way.groups) {
        auto& names = grouping.groups.emplace_back();
        for (const ir::StagePtr& stage : pipeline_.stages) {
          if (has(group, kernels_.loop_of(*stage))) names.push_back(stage->name);
        }
      }
      for (const Members& group : way.groups) {
        const ir::Stage& result = loops_[group.back()].stage();
        for (const int member : group) {
          const ir::Stage& stage = loops_[member].stage();
          if (is_stored(group, member))
            grouping.why[stage.name] = why_not_in_place(pipeline_, kernels_, stage);
        }
        const BestTile tile = best_tile(tiling_, *group_of(group).group, memory_, model_);
        if (tile.asked != plan::Choices{}) grouping.kernels[result.name] = tile.asked;
        grouping.why[result.name] =
            why_not_in_place(pipeline_, kernels_, result) + why_stored(group, way.groups) + tile.why;
      }
      grouping.search = fmt::format("{} groups priced, {} sets of stages left{}", found.asked, found.states,
                                    found.is_exact ? "" : "; not all groups were tried");
    }
    return groupings;
  }

 private:
  GroupGraph graph() const {
    GroupGraph graph{std::vector<std::vector<int>>(loops_.size()), {}, {}, {}};
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      const ir::Stage& stage = loops_[l].stage();
      graph.is_stored.push_back(tiling_ == Tiling::None || stays_stored(pipeline_, stage) ||
                                kernels_.uses(stage).evolution != nullptr);
      for (const ir::Stage* reader : kernels_.uses(stage).consumers)
        graph.readers[l].push_back(number_of(kernels_.loop_of(*reader)));
      auto& with = graph.with.emplace_back();
      auto& alike = graph.alike.emplace_back();
      for (std::size_t earlier = 0; earlier < l; ++earlier) {
        const plan::StageReads& other = loops_[earlier].reads;
        if (tiling_ != Tiling::None && plan::can_be_stored_with(stage, *other.stage))
          with.push_back(static_cast<int>(earlier));
        if (std::any_of(other.reads.begin(), other.reads.end(), [&](const ir::Read* read) {
              return !read->source->box.empty() && plan::reads(loops_[l].reads, *read->source);
            }))
          alike.push_back(static_cast<int>(earlier));
      }
    }
    return graph;
  }

  int number_of(const ir::Stage& stage) const {
    const auto at = std::find_if(loops_.begin(), loops_.end(),
                                 [&](const plan::Loop& loop) { return &loop.stage() == &stage; });
    return static_cast<int>(at - loops_.begin());
  }
  bool has(const Members& group, const ir::Stage& stage) const {
    return std::count(group.begin(), group.end(), number_of(stage)) > 0;
  }
  /// Whether something besides the group needs its pixels in memory.
  bool is_stored(const Members& group, int member) const {
    return schedule::is_stored(pipeline_, kernels_, loops_[member].stage(),
                               [&](const ir::Stage& reader) { return has(group, kernels_.loop_of(reader)); });
  }
  plan::GroupOrWhy group_of(const Members& group) const {
    std::vector<plan::Loop> members;
    for (const int l : group) {
      members.push_back(loops_[l]);
      members.back().is_stored = is_stored(group, l);
    }
    return plan::group_of(members, memory_);
  }

  std::optional<double> cost(const Members& group) const {
    const plan::GroupOrWhy found = group_of(group);
    if (!found.group) return std::nullopt;
    return cost_in(tiling_, *found.group, memory_, model_);
  }

  /// Why a group is not part of that of its readers: the end of a sentence.
  std::string why_stored(const Members& group, const std::vector<Members>& groups) const {
    const ir::Stage& result = loops_[group.back()].stage();
    if (tiling_ == Tiling::None || stays_stored(pipeline_, result)) return "";
    const auto reader = std::find_if(groups.begin(), groups.end(), [&](const Members& other) {
      const auto& readers = kernels_.uses(result).consumers;
      return &other != &group && std::all_of(readers.begin(), readers.end(), [&](const ir::Stage* r) {
        return has(other, kernels_.loop_of(*r));
      });
    });
    if (reader == groups.end()) return "";
    const std::string& last = loops_[reader->back()].stage().name;
    Members both = *reader;
    both.insert(both.end(), group.begin(), group.end());
    std::sort(both.begin(), both.end());
    const plan::GroupOrWhy found = group_of(both);
    if (!found.group) return fmt::format("; it is not computed with '{}', since {}", last, found.why);
    const double apart = *cost(group) + *cost(*reader);
    return fmt::format("; computed with '{}' the two would take {:.0f} % longer", last,
                       100 * (*cost(both) / apart - 1));
  }

  const ir::Pipeline& pipeline_;
  const Tiling tiling_;
  const Memory memory_;
  const plan::CostModel& model_;
  const Kernels kernels_;
  const std::vector<plan::Loop>& loops_;
};

}  // namespace

Grouping cheapest_groups(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory,
                         const plan::CostModel& model) {
  return cheapest_groupings(pipeline, tiling, memory, model, 1).at(0);
}

std::vector<Grouping> cheapest_groupings(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory,
                                         const plan::CostModel& model, int count) {
  return CheapestGroups(pipeline, tiling, memory, model).run(count);
}

}  // namespace weft::schedule
