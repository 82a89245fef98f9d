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
         std::size_t count, std::int64_t limit)
      : graph_(graph), cost_(cost), count_(count), limit_(limit), groups_of_(graph.size()) {}

  GroupSearch run() {
    const Stages all(graph_.size(), true);
    const Ways& ways = cheapest(all);
    for (std::size_t rank = 0; rank < ways.size(); ++rank) found_.best.push_back(grouping(all, rank));
    found_.states = static_cast<std::int64_t>(known_.size());
    return std::move(found_);
  }

 private:
  struct Priced {
    Members members;
    double cost;
  };
  /// To group the stages left: the group of the last of them, and a way for what is left then.
  struct Way {
    double cost;
    const Priced* group;  // null if no stages are left
    std::size_t rank_of_rest;
  };
  using Ways = std::vector<Way>;  // the cheapest first, of equal ones the first that was found

  const Ways& cheapest(const Stages& left) {
    static const Ways nothing_left{{0, nullptr, 0}};
    const auto last = std::find(left.rbegin(), left.rend(), true);
    if (last == left.rend()) return nothing_left;
    if (const auto known = known_.find(left); known != known_.end()) return known->second;
    const int result = static_cast<int>(left.rend() - last) - 1;
    Ways ways;
    for (const Priced& group : groups_of(result)) {
      const Ways& rest = cheapest(without(left, group.members));
      for (std::size_t rank = 0; rank < rest.size(); ++rank)
        ways.push_back({group.cost + rest[rank].cost, &group, rank});
    }
    std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.cost < b.cost; });
    if (ways.size() > count_) ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(count_), ways.end());
    return known_[left] = std::move(ways);
  }

  PricedGroups grouping(Stages left, std::size_t rank) {
    PricedGroups found{{}, cheapest(left).at(rank).cost};
    while (const Priced* group = cheapest(left).at(rank).group) {
      found.groups.push_back(group->members);
      rank = cheapest(left).at(rank).rank_of_rest;
      left = without(left, group->members);
    }
    std::reverse(found.groups.begin(), found.groups.end());
    return found;
  }

  static Stages without(Stages left, const Members& members) {
    for (int member : members) left[member] = false;
    return left;
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
  const std::size_t count_;
  const std::int64_t limit_;
  std::vector<std::vector<Priced>> groups_of_;
  std::map<Stages, Ways> known_;
  GroupSearch found_;
};

}  // namespace

GroupSearch least_cost_groups(const GroupGraph& graph,
                              const std::function<std::optional<double>(const Members&)>& cost, int count,
                              std::int64_t limit) {
  return Search(graph, cost, static_cast<std::size_t>(count), limit).run();
}

}  // namespace weft::schedule
