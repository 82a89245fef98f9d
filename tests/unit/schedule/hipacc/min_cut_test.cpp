#include "schedule/hipacc/min_cut.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace weft::schedule::hipacc {
namespace {

double weight_of(const std::vector<WeightedEdge>& edges, const std::vector<bool>& side) {
  double weight = 0;
  for (const WeightedEdge& e : edges) weight += side[e.a] != side[e.b] ? e.weight : 0;
  return weight;
}

/// The least weight of all cuts, each tried.
double least_weight(int vertices, const std::vector<WeightedEdge>& edges) {
  double least = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set + 1 < 1u << vertices; ++set) {
    std::vector<bool> side;
    for (int v = 0; v < vertices; ++v) side.push_back((set >> v & 1) != 0);
    least = std::min(least, weight_of(edges, side));
  }
  return least;
}

TEST(MinCut, IsTheLeastOfAll) {
  std::mt19937 random(7);
  const auto up_to = [&](unsigned n) { return static_cast<int>(random() % (n + 1)); };
  for (int graph = 0; graph < 2000; ++graph) {
    const int vertices = 2 + up_to(7);
    std::vector<WeightedEdge> edges;
    for (int n = up_to(3 * vertices); n > 0; --n) {
      const int a = up_to(vertices - 1), b = up_to(vertices - 1);
      if (a != b) edges.push_back({a, b, 1.0 + up_to(20)});
    }
    const MinCut cut = min_cut(vertices, edges);
    EXPECT_EQ(cut.weight, least_weight(vertices, edges)) << "graph " << graph;
    EXPECT_EQ(cut.phases, vertices - 1);
    ASSERT_FALSE(cut.side.empty());
    ASSERT_LT(cut.side.size(), vertices);
    std::vector<bool> side(vertices, false);
    for (int v : cut.side) side[v] = true;
    EXPECT_EQ(weight_of(edges, side), cut.weight) << "graph " << graph;
  }
}

TEST(MinCut, OfTheExampleInStoerAndWagnersPaper) {
  const std::vector<WeightedEdge> edges = {{0, 1, 2}, {0, 4, 3}, {1, 2, 3}, {1, 4, 2}, {1, 5, 2}, {2, 3, 4},
                                           {2, 6, 2}, {3, 6, 2}, {3, 7, 2}, {4, 5, 3}, {5, 6, 1}, {6, 7, 3}};
  const MinCut cut = min_cut(8, edges);
  EXPECT_EQ(cut.weight, 4);
  EXPECT_EQ(cut.side, (std::vector<int>{2, 3, 6, 7}));
}

TEST(MinCut, OfEqualCutsTakesTheOneByLeastNumbers) {
  EXPECT_EQ(min_cut(3, {{0, 1, 1}, {1, 2, 1}}).side, std::vector<int>{2}) << "a path is cut at its end";
  EXPECT_EQ(min_cut(4, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}}).side, std::vector<int>{3}) << "1, 2, then 3";
}

TEST(MinCut, PartsThatNothingJoinsAreCutForNothing) {
  const MinCut cut = min_cut(4, {{0, 1, 5}, {2, 3, 5}});
  EXPECT_EQ(cut.weight, 0);
  EXPECT_EQ(cut.side, (std::vector<int>{2, 3}));
}

}  // namespace
}  // namespace weft::schedule::hipacc
