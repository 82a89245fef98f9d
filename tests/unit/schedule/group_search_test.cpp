// The search for the groups of least cost, against trying everything.
#include "schedule/group_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace weft::schedule {
namespace {

using Cost = std::function<std::optional<double>(const Members&)>;

GroupGraph graph_of(int stages, const std::vector<std::pair<int, int>>& edges,
                    const std::set<int>& stored = {}) {
  const std::vector<std::vector<int>> nobody(stages);
  GroupGraph graph{nobody, std::vector<bool>(stages, false), nobody, nobody};
  for (const auto& [from, to] : edges) graph.readers[from].push_back(to);
  for (const int s : stored) graph.is_stored[s] = true;
  graph.is_stored[stages - 1] = true;
  return graph;
}

/// All stages may be stored with all others.
GroupGraph with_several_stored(GroupGraph graph) {
  for (int s = 0; s < graph.size(); ++s) {
    for (int earlier = 0; earlier < s; ++earlier) {
      graph.with[s].push_back(earlier);
      graph.alike[s].push_back(earlier);
    }
  }
  return graph;
}

std::string text_of(const std::vector<Members>& groups) {
  std::string text;
  for (const Members& group : groups) {
    text += text.empty() ? "" : " |";
    for (const int member : group) text += (text.empty() ? "" : " ") + std::to_string(member);
  }
  return text;
}

const Cost per_group = [](const Members&) { return std::optional(1.0); };

TEST(GroupSearch, OneGroupWhereThatIsCheapest) {
  const GroupGraph chain = graph_of(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(text_of(least_cost_groups(chain, per_group).best.at(0).groups), "0 1 2 3");
  const GroupGraph diamond = graph_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(text_of(least_cost_groups(diamond, per_group).best.at(0).groups), "0 1 2 3");
}

TEST(GroupSearch, StagesThatOthersReadAreStored) {
  // 0 → 1 → 2 (an output), 1 → 3
  const GroupGraph graph = graph_of(4, {{0, 1}, {1, 2}, {1, 3}}, {2});
  EXPECT_EQ(text_of(least_cost_groups(graph, per_group).best.at(0).groups), "0 1 | 2 | 3");
}

TEST(GroupSearch, AGroupStoresSeveralOfItsStages) {
  // 0 → 1 → 2 (an output), 1 → 3
  const GroupGraph graph = with_several_stored(graph_of(4, {{0, 1}, {1, 2}, {1, 3}}, {2}));
  EXPECT_EQ(text_of(least_cost_groups(graph, per_group).best.at(0).groups), "0 1 2 3");
  const Cost at_most_two = [](const Members& group) {
    return group.size() > 2 ? std::nullopt : std::optional(1.0);
  };
  EXPECT_EQ(text_of(least_cost_groups(graph, at_most_two).best.at(0).groups), "0 1 | 2 3");
}

TEST(GroupSearch, NoGroupNeedsWhatNeedsIt) {
  // 0 → 1 → 2, 0 → 2: 0 and 2 are no group without 1.
  const GroupGraph graph = with_several_stored(graph_of(3, {{0, 1}, {1, 2}, {0, 2}}));
  const Cost cost = [](const Members& g) -> std::optional<double> { return g == Members{0, 2} ? 0 : 5; };
  const GroupSearch found = least_cost_groups(graph, cost);
  EXPECT_EQ(text_of(found.best.at(0).groups), "0 1 2");
}

TEST(GroupSearch, StagesThatHaveNothingInCommonStayApart) {
  GroupGraph graph = with_several_stored(graph_of(2, {}, {0, 1}));
  EXPECT_EQ(text_of(least_cost_groups(graph, per_group).best.at(0).groups), "0 1");
  graph.alike[1].clear();
  EXPECT_EQ(text_of(least_cost_groups(graph, per_group).best.at(0).groups), "0 | 1");
}

TEST(GroupSearch, GroupsThatCannotBeAreLeftOut) {
  const GroupGraph chain = graph_of(4, {{0, 1}, {1, 2}, {2, 3}});
  const Cost at_most_two = [](const Members& group) {
    return group.size() > 2 ? std::nullopt : std::optional(1.0);
  };
  EXPECT_EQ(text_of(least_cost_groups(chain, at_most_two).best.at(0).groups), "0 1 | 2 3");
}

TEST(GroupSearch, LooksBeyondTheBestGroupOfTheLastStage) {
  // Taking 2 into the group of 3 saves most there, but leaves 0 and 1 where they cannot join it.
  const GroupGraph chain = graph_of(4, {{0, 1}, {1, 2}, {2, 3}});
  const Cost cost = [](const Members& g) -> std::optional<double> {
    if (g.size() > 3) return std::nullopt;
    if (g == Members{2, 3}) return 5;
    if (g == Members{1, 2, 3}) return 20;
    if (g == Members{0, 1, 2}) return 1;
    return 6.0 * static_cast<double>(g.size());
  };
  const GroupSearch found = least_cost_groups(chain, cost);
  EXPECT_EQ(text_of(found.best.at(0).groups), "0 1 2 | 3");
  EXPECT_EQ(found.best.at(0).cost, 7);
}

TEST(GroupSearch, SaysWhenItMetItsLimit) {
  std::vector<std::pair<int, int>> edges;
  for (int s = 0; s < 20; ++s) edges.emplace_back(s, 20);
  const GroupGraph fan = graph_of(21, edges);
  EXPECT_EQ(least_cost_groups(fan, per_group, 1, 1000).is_exact, false);
  EXPECT_EQ(least_cost_groups(graph_of(3, {{0, 1}, {1, 2}}), per_group, 1, 1000).is_exact, true);
}

TEST(GroupSearch, FindsTheNextBestToo) {
  // Each pair of neighbours in one group or not: eight ways.
  const GroupGraph chain = graph_of(4, {{0, 1}, {1, 2}, {2, 3}});
  const Cost cost = [](const Members& g) {
    double sum = 10;
    for (const int member : g) sum += member == g.back() ? 0 : 1 << member;  // 1, 2 and 4 to join
    return std::optional(sum);
  };
  const GroupSearch all = least_cost_groups(chain, cost, 100);
  ASSERT_EQ(all.best.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = 0;
    for (const Members& group : all.best[i].groups) sum += *cost(group);
    EXPECT_EQ(all.best[i].cost, sum);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_LE(all.best[j].cost, all.best[i].cost);
      EXPECT_NE(text_of(all.best[j].groups), text_of(all.best[i].groups));
    }
  }
  EXPECT_EQ(text_of(all.best[0].groups), "0 1 2 3");
  EXPECT_EQ(text_of(all.best[1].groups), "0 1 2 | 3") << "17 - 4 + 10";
  const GroupSearch three = least_cost_groups(chain, cost, 3);
  ASSERT_EQ(three.best.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(text_of(three.best[i].groups), text_of(all.best[i].groups));
}

/// The least cost of all ways to put each stage that can be into the group of its readers, or not.
double least_of_all(const GroupGraph& graph, const Cost& cost) {
  std::optional<double> least;
  for (unsigned choice = 0; choice < 1u << graph.size(); ++choice) {
    std::vector<int> result_of(graph.size());
    bool is_possible = true;
    for (int s = graph.size() - 1; s >= 0 && is_possible; --s) {
      const auto& readers = graph.readers[s];
      result_of[s] = s;
      if (!(choice >> s & 1)) continue;
      is_possible = !graph.is_stored[s] && !readers.empty() &&
                    std::all_of(readers.begin(), readers.end(),
                                [&](int r) { return result_of[r] == result_of[readers[0]]; });
      if (is_possible) result_of[s] = result_of[readers[0]];
    }
    if (!is_possible) continue;
    double sum = 0;
    for (int r = 0; r < graph.size() && is_possible; ++r) {
      if (result_of[r] != r) continue;
      Members group;
      for (int s = 0; s <= r; ++s) {
        if (result_of[s] == r) group.push_back(s);
      }
      const auto one = cost(group);
      is_possible = one.has_value();
      sum += one.value_or(0);
    }
    if (is_possible && (!least || sum < *least)) least = sum;
  }
  return *least;
}

/// Where groups may store several stages, no more than that, and each group comes after those that it reads.
void expect_the_least_of_all(bool several_stored) {
  int fewer = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int stages = 2 + static_cast<int>(random() % 9);
    std::vector<std::pair<int, int>> edges;
    for (int to = 1; to < stages; ++to) {
      for (int from = 0; from < to; ++from) {
        if (random() % 3 == 0) edges.emplace_back(from, to);
      }
    }
    std::set<int> stored;
    for (int s = 0; s < stages; ++s) {
      if (random() % 8 == 0) stored.insert(s);
    }
    GroupGraph graph = graph_of(stages, edges, stored);
    if (several_stored) graph = with_several_stored(std::move(graph));
    const std::size_t most = 1 + random() % 6;
    const Cost cost = [&](const Members& g) -> std::optional<double> {
      if (g.size() > most) return std::nullopt;
      std::size_t key = seed;
      for (const int member : g) key = key * 1000003 + static_cast<std::size_t>(member) + 1;
      return 1 + static_cast<double>(std::mt19937(static_cast<unsigned>(key))() % 100) *
                     static_cast<double>(g.size());
    };
    const GroupSearch found = least_cost_groups(graph, cost);
    const double least = least_of_all(graph, cost);
    EXPECT_LE(found.best.at(0).cost, least) << "seed " << seed;
    if (!several_stored) EXPECT_EQ(found.best.at(0).cost, least) << "seed " << seed;
    fewer += found.best.at(0).cost < least ? 1 : 0;
    std::vector<int> result_of(stages);
    for (const Members& group : found.best.at(0).groups) {
      for (const int member : group) result_of[member] = group.back();
    }
    for (const auto& [from, to] : edges) EXPECT_LE(result_of[from], result_of[to]) << "seed " << seed;
    std::vector<int> all;
    double sum = 0;
    for (const Members& group : found.best.at(0).groups) {
      all.insert(all.end(), group.begin(), group.end());
      sum += *cost(group);
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), static_cast<std::size_t>(stages)) << "seed " << seed;
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end()) << "seed " << seed;
    EXPECT_EQ(sum, found.best.at(0).cost) << "seed " << seed;
  }
  if (several_stored) EXPECT_GT(fewer, 50) << "less than without";
}

TEST(GroupSearch, AsksForFewGroupsOfManyThatReadTheSame) {
  std::set<int> all;
  for (int s = 0; s < 40; ++s) all.insert(s);
  const GroupSearch found = least_cost_groups(with_several_stored(graph_of(40, {}, all)), per_group);
  EXPECT_EQ(found.best.at(0).groups.size(), 1u);
  EXPECT_LT(found.asked, 1000) << "of 2^39";
}

TEST(GroupSearch, IsTheLeastOfAll) { expect_the_least_of_all(false); }
TEST(GroupSearch, IsNoMoreWhereGroupsStoreSeveral) { expect_the_least_of_all(true); }

}  // namespace
}  // namespace weft::schedule
