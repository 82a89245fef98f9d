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
      : graph_(graph),
        cost_(cost),
        count_(count),
        limit_(limit),
        groups_of_(graph.size()),
        alone_(graph.size()) {}

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
      if (!can_be_last(left, group.members)) continue;
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

  /// Whether the stages are left, and nothing else that is left reads them.
  bool can_be_last(const Stages& left, const Members& members) const {
    const Stages rest = without(left, members);
    return std::all_of(members.begin(), members.end(), [&](int member) {
      const auto& readers = graph_.readers[member];
      return left[member] && std::none_of(readers.begin(), readers.end(), [&](int r) { return rest[r]; });
    });
  }

  /// All that can be.
  const std::vector<Priced>& groups_of(int result) {
    std::vector<Priced>& groups = groups_of_[result];
    if (!groups.empty()) return groups;
    groups.push_back({{result}, alone(result)});
    Stages in(graph_.size(), false);
    in[result] = true;
    grow(in, groups.front(), result, true, groups);
    return groups;
  }

  double alone(int stage) {
    std::optional<double>& cost = alone_[stage];
    if (cost) return *cost;
    ++found_.asked;
    cost = cost_({stage});
    if (!cost) throw InternalError("a stage that cannot be alone in its group");
    return *cost;
  }

  /// Adds the groups that have those members and more, of stages before `next`. What a group would store costs what it does
  /// whoever else is in the group, so it has to pay at once; and where it does, no groups are looked for that have others
  /// instead, as of many stages that read the same there would be all subsets.
  void grow(Stages& in, Priced group, int next, bool may_store, std::vector<Priced>& groups) {
    const int result = group.members.back();
    for (int stage = next - 1; stage >= 0; --stage) {
      const bool is_local = is_read_only_in(in, stage);
      if (!is_local && !(may_store && may_be_stored(in, stage, result))) continue;
      if (found_.asked >= limit_) {
        found_.is_exact = false;
        return;
      }
      Members larger{stage};
      larger.insert(larger.end(), group.members.begin(), group.members.end());
      ++found_.asked;
      const std::optional<double> cost = cost_(larger);
      if (!cost || (!is_local && *cost >= group.cost + alone(stage))) continue;
      groups.push_back({larger, *cost});
      in[stage] = true;
      grow(in, groups.back(), stage, may_store, groups);
      in[stage] = false;
      may_store &= is_local;
    }
  }

  bool is_read_only_in(const Stages& in, int stage) const {
    const auto& readers = graph_.readers[stage];
    return !graph_.is_stored[stage] && !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](int r) { return in[r]; });
  }
  bool may_be_stored(const Stages& in, int stage, int result) const {
    return has(graph_.with[result], stage) && has_to_do_with(in, stage) &&
           !is_needed_by_way_of_others(in, stage);
  }

  static bool has(const std::vector<int>& stages, int stage) {
    return std::find(stages.begin(), stages.end(), stage) != stages.end();
  }

  /// Whether being in one kernel saves a load.
  bool has_to_do_with(const Stages& in, int stage) const {
    for (int other = stage + 1; other < graph_.size(); ++other) {
      if (in[other] && (has(graph_.readers[stage], other) || has(graph_.alike[other], stage))) return true;
    }
    return false;
  }

  /// Whether a stage that is in reads it by way of one that is not.
  bool is_needed_by_way_of_others(const Stages& in, int stage) const {
    std::vector<int> others;
    Stages seen = in;
    const auto add_readers = [&](int source) {
      for (const int reader : graph_.readers[source]) {
        if (!seen[reader]) others.push_back(reader);
        seen[reader] = true;
      }
    };
    add_readers(stage);
    while (!others.empty()) {
      const int other = others.back();
      others.pop_back();
      const auto& readers = graph_.readers[other];
      if (std::any_of(readers.begin(), readers.end(), [&](int r) { return in[r]; })) return true;
      add_readers(other);
    }
    return false;
  }

  const GroupGraph& graph_;
  const std::function<std::optional<double>(const Members&)>& cost_;
  const std::size_t count_;
  const std::int64_t limit_;
  std::vector<std::vector<Priced>> groups_of_;
  std::vector<std::optional<double>> alone_;
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
