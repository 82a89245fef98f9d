#include <fmt/format.h>

#include <algorithm>

#include "schedule/group_costs.h"
#include "schedule/group_search.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"
#include "schedule/marching.h"

namespace weft::schedule {
namespace {

class CheapestGroups {
 public:
  CheapestGroups(const ir::Pipeline& pipeline, Tiling tiling)
      : pipeline_(pipeline),
        tiling_(tiling),
        kernels_(pipeline, [](const ir::Stage&, const ir::Stage&) { return true; }),
        sizes_(nominal_sizes(pipeline)) {
    for (const ir::StagePtr& stage : pipeline.stages)
      operations_[&kernels_.loop_of(*stage)] += operations_of(*stage);
  }

  Grouping run() {
    const GroupSearch found = least_cost_groups(graph(), [this](const Members& g) { return cost(g); });
    Grouping grouping;
    for (const Members& group : found.groups) {
      auto& names = grouping.groups.emplace_back();
      for (const ir::StagePtr& stage : pipeline_.stages) {
        if (has(group, kernels_.loop_of(*stage))) names.push_back(stage->name);
      }
    }
    for (const Members& group : found.groups) {
      const ir::Stage& result = *loops()[group.back()].stage;
      grouping.why[result.name] =
          why_not_in_place(pipeline_, kernels_, result) + why_stored(group, found.groups);
    }
    grouping.search = fmt::format("{} groups priced, {} sets of stages left{}", found.asked, found.states,
                                  found.is_exact ? "" : "; not all groups were tried");
    return grouping;
  }

 private:
  const std::vector<StageReads>& loops() const { return kernels_.loops(); }

  GroupGraph graph() const {
    GroupGraph graph{std::vector<std::vector<int>>(loops().size()), {}};
    for (std::size_t l = 0; l < loops().size(); ++l) {
      const ir::Stage& stage = *loops()[l].stage;
      graph.is_stored.push_back(tiling_ == Tiling::None || always_stored(pipeline_, stage).has_value() ||
                                kernels_.uses(stage).evolution != nullptr);
      for (const ir::Stage* reader : kernels_.uses(stage).consumers)
        graph.readers[l].push_back(number_of(kernels_.loop_of(*reader)));
    }
    return graph;
  }

  int number_of(const ir::Stage& stage) const {
    const auto at = std::find_if(loops().begin(), loops().end(),
                                 [&](const StageReads& loop) { return loop.stage == &stage; });
    return static_cast<int>(at - loops().begin());
  }
  bool has(const Members& group, const ir::Stage& stage) const {
    return std::count(group.begin(), group.end(), number_of(stage)) > 0;
  }
  std::vector<StageReads> members_of(const Members& group) const {
    std::vector<StageReads> members;
    for (const int l : group) members.push_back(loops()[l]);
    return members;
  }

  std::optional<double> cost(const Members& group) const {
    const std::vector<StageReads> members = members_of(group);
    if (members.size() == 1) return cost_of(members, {}, operations_, sizes_).total;
    const MarchOrWhy found = march_of(members);
    if (!found.march) return std::nullopt;
    return cost_of(members, *found.march, operations_, sizes_).total;
  }

  /// Why a group is not part of that of its readers: the end of a sentence.
  std::string why_stored(const Members& group, const std::vector<Members>& groups) const {
    const ir::Stage& result = *loops()[group.back()].stage;
    if (tiling_ == Tiling::None || always_stored(pipeline_, result)) return "";
    const auto reader = std::find_if(groups.begin(), groups.end(), [&](const Members& other) {
      const auto& readers = kernels_.uses(result).consumers;
      return &other != &group && std::all_of(readers.begin(), readers.end(), [&](const ir::Stage* r) {
        return has(other, kernels_.loop_of(*r));
      });
    });
    if (reader == groups.end()) return "";
    const std::string& last = loops()[reader->back()].stage->name;
    Members both = *reader;
    both.insert(both.end(), group.begin(), group.end());
    std::sort(both.begin(), both.end());
    const MarchOrWhy found = march_of(members_of(both));
    if (!found.march) return fmt::format("; it is not computed with '{}', since {}", last, found.why);
    const double apart = *cost(group) + *cost(*reader);
    return fmt::format("; computed with '{}' the two would take {:.0f} % longer", last,
                       100 * (*cost(both) / apart - 1));
  }

  const ir::Pipeline& pipeline_;
  const Tiling tiling_;
  const Kernels kernels_;
  const ir::Sizes sizes_;
  std::map<const ir::Stage*, double> operations_;  // of each loop, a pixel
};

}  // namespace

Grouping cheapest_groups(const ir::Pipeline& pipeline, Tiling tiling) {
  return CheapestGroups(pipeline, tiling).run();
}

}  // namespace weft::schedule
