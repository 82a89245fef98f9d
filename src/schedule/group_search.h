// The groups of least cost, by dynamic programming over the stages that are left.
//
// A group is a stored stage, its result, with stages before it: of a, b, c for example b and c, with c as the result. What
// another group reads of them, too, is stored as well. With L the stages that have no group yet, the last one of them in the
// order of the pipeline, r, is the result of a group, as whatever reads it has a group already:
//
//     F(L) = min over groups G of result r within L:  cost(G) + F(L \ G)
//
// which is exact but for two kinds of groups. Those that store what stages between them and their result read would have
// to come after r. And a stage that a group would store is tried there only if that costs less than being apart; then it
// is in all groups that have more. For the k groupings of least cost, each F is a list of k costs, and the sum takes every
// one of F(L \ G). Compare the down-set form of DP fusion in PolyMage, whose groups come in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace weft::schedule {

/// Stages by number, producers first.
struct GroupGraph {
  std::vector<std::vector<int>> readers;  ///< Of each stage.
  std::vector<bool> is_stored;            ///< Whatever the groups: outputs, reductions, …
  std::vector<std::vector<int>> with;     ///< Earlier stages that a group of that result may store, too.
  std::vector<std::vector<int>> alike;    ///< Earlier stages that read what the stage reads.

  int size() const { return static_cast<int>(readers.size()); }
};

using Members = std::vector<int>;  ///< Producers first; the last is the result.

struct PricedGroups {
  std::vector<Members> groups;  ///< All stages, each in one; by their results.
  double cost = 0;
};

struct GroupSearch {
  std::vector<PricedGroups> best;  ///< The cheapest first; the number that was asked for, if there are.
  std::int64_t states = 0;         ///< Sets of stages left that were met,
  std::int64_t asked = 0;          ///< groups whose cost was asked for.
  bool is_exact = true;            ///< False if the search met its limit and some groups were never tried.
};

/// `cost` is asked once for each group; nothing if the group cannot be, and then none that has it and the
/// same result can. Of groups of one stage the cost has to be known. At most `limit` groups of more are asked
/// for. Finds the `count` groupings of least cost.
GroupSearch least_cost_groups(const GroupGraph& graph,
                              const std::function<std::optional<double>(const Members&)>& cost, int count = 1,
                              std::int64_t limit = 10'000);

}  // namespace weft::schedule
