#include "schedule/group_search.h"

#include <weft/error.h>

#include <algorithm>
#include <map>

namespace weft::schedule {
namespace {

using Stages = std::vector<bool>;  // by number

class Search {
 public:
  Search(const GroupGraph& graph, const std::function<std::optional<double>(const Members&)>& cost,
         std::int64_t limit)
      : graph_(graph), cost_(cost), limit_(limit), groups_of_(graph.size()) {}

  GroupSearch run() {
    const Stages all(graph_.size(), true);
    found_.cost = least(all);
    Stages left = all;
    while (std::find(left.begin(), left.end(), true) != left.end()) {
      const Priced& best = *known_.at(left).best;
      found_.groups.push_back(best.members);
      for (int member : best.members) left[member] = false;
    }
    std::reverse(found_.groups.begin(), found_.groups.end());
    found_.states = static_cast<std::int64_t>(known_.size());
    return std::move(found_);
  }

 private:
  struct Priced {
    Members members;
    double cost;
  };
  struct State {
    double cost;
    const Priced* best;
  };

  double least(const Stages& left) {
    const auto last = std::find(left.rbegin(), left.rend(), true);
    if (last == left.rend()) return 0;
    if (const auto state = known_.find(left); state != known_.end()) return state->second.cost;
    const int result = static_cast<int>(left.rend() - last) - 1;
    State state{0, nullptr};
    for (const Priced& group : groups_of(result)) {
      Stages rest = left;
      for (int member : group.members) rest[member] = false;
      const double cost = group.cost + least(rest);
      if (!state.best || cost < state.cost) state = {cost, &group};
    }
    known_[left] = state;
    return state.cost;
  }

  /// All that can be: other groups never take the members, whose readers are in this one. So they are the
  /// same whatever is left.
  const std::vector<Priced>& groups_of(int result) {
    std::vector<Priced>& groups = groups_of_[result];
    if (!groups.empty()) return groups;
    ++found_.asked;
    const std::optional<double> alone = cost_({result});
    if (!alone) throw InternalError("a stage that cannot be alone in its group");
    groups.push_back({{result}, *alone});
    Stages in(graph_.size(), false);
    in[result] = true;
    grow(in, {result}, result, groups);
    return groups;
  }

  /// Adds the groups that have `members` and more, of stages before `next`.
  void grow(Stages& in, const Members& members, int next, std::vector<Priced>& groups) {
    for (int stage = next - 1; stage >= 0; --stage) {
      const auto& readers = graph_.readers[stage];
      const bool can_join = !graph_.is_stored[stage] && !readers.empty() &&
                            std::all_of(readers.begin(), readers.end(), [&](int r) { return in[r]; });
      if (!can_join) continue;
      if (found_.asked >= limit_) {
        found_.is_exact = false;
        return;
      }
      Members larger{stage};
      larger.insert(larger.end(), members.begin(), members.end());
      ++found_.asked;
      const std::optional<double> cost = cost_(larger);
      if (!cost) continue;
      groups.push_back({larger, *cost});
      in[stage] = true;
      grow(in, larger, stage, groups);
      in[stage] = false;
    }
  }

  const GroupGraph& graph_;
  const std::function<std::optional<double>(const Members&)>& cost_;
  const std::int64_t limit_;
  std::vector<std::vector<Priced>> groups_of_;
  std::map<Stages, State> known_;
  GroupSearch found_;
};

}  // namespace

GroupSearch least_cost_groups(const GroupGraph& graph,
                              const std::function<std::optional<double>(const Members&)>& cost,
                              std::int64_t limit) {
  return Search(graph, cost, limit).run();
}

}  // namespace weft::schedule
