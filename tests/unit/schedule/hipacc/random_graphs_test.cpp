// What holds for the groups of every graph: of made-up ones, and of random pipelines.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "machine/board.h"
#include "schedule/hipacc/fuse.h"
#include "tests/support/combinations.h"

namespace weft::schedule::hipacc {
namespace {

using analysis::Pattern;

constexpr unsigned part = testing_support::instrumented ? 4 : 1;  // of the seeds

/// Up to nine stages of two sizes. Each reads up to three that precede it, or one of two inputs.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    for (int count = 1 + up_to(8); count > 0; --count) add_stage();
    for (Vertex& vertex : graph_.vertices) vertex.is_output |= one_in(12);
    for (int v = 0; v < static_cast<int>(graph_.vertices.size()); ++v)
      graph_.vertices[v].is_output |= graph_.consumers(v).empty();
  }
  StageGraph graph() const { return graph_; }

 private:
  int up_to(unsigned n) { return static_cast<int>(random_() % (n + 1)); }
  bool one_in(unsigned n) { return random_() % n == 0; }

  void add_stage() {
    const int to = static_cast<int>(graph_.vertices.size());
    Vertex vertex;
    vertex.name = "s" + std::to_string(to);
    vertex.operations.alu = up_to(12);
    vertex.operations.sfu = one_in(4) ? 1 : 0;
    const ir::Affine width = one_in(10) ? 50 : 100;
    vertex.box = {{0, width}, {0, width}};
    std::set<int> producers;
    for (int n = 1 + up_to(2); n > 0; --n) producers.insert(up_to(to) - 1);
    for (int producer : producers) vertex.reads.push_back(read_of(producer));
    vertex.pattern = Pattern::Point;
    for (const ImageRead& read : vertex.reads) vertex.pattern = std::max(vertex.pattern, read.pattern);
    if (one_in(15)) vertex.pattern = Pattern::Global;
    for (int producer : producers) {
      if (producer >= 0) graph_.edges.push_back({producer, to});
    }
    graph_.vertices.push_back(std::move(vertex));
  }

  ImageRead read_of(int producer) {
    ImageRead read;
    read.producer = producer;
    read.image = producer < 0 ? one_in(5) ? "other" : "in" : "s" + std::to_string(producer);
    read.pattern = one_in(12) ? Pattern::Scaled : one_in(3) ? Pattern::Local : Pattern::Point;
    if (read.pattern == Pattern::Point) read.window = {{0, 0}, {0, 0}};
    if (read.pattern == Pattern::Local) read.window = {{-1, 1}, {-up_to(2), 1}};
    return read;
  }

  std::mt19937 random_;
  StageGraph graph_;
};

/// The group of each vertex.
std::vector<int> groups_of(const StageGraph& graph, const Partition& partition) {
  std::vector<int> groups(graph.vertices.size(), -1);
  for (std::size_t g = 0; g < partition.groups.size(); ++g) {
    for (const GroupMember& member : partition.groups[g].members) {
      for (std::size_t v = 0; v < graph.vertices.size(); ++v) {
        if (graph.vertices[v].name != member.stage) continue;
        EXPECT_EQ(groups[v], -1) << member.stage << " is in two groups";
        groups[v] = static_cast<int>(g);
      }
    }
  }
  return groups;
}

/// Whether the groups can run one after another: then no path leaves one and comes back.
bool can_be_ordered(const StageGraph& graph, const std::vector<int>& groups, std::size_t count) {
  std::set<int> done;
  for (std::size_t round = 0; round < count; ++round) {
    for (int g = 0; g < static_cast<int>(count); ++g) {
      bool ready = true;
      for (const Edge& edge : graph.edges)
        ready &= groups[edge.to] != g || groups[edge.from] == g || done.contains(groups[edge.from]);
      if (ready) done.insert(g);
    }
  }
  return done.size() == count;
}

void expect_sound(const StageGraph& graph, Fusion fusion, const FusionLimits& limits) {
  const Partition partition = fuse(graph, fusion, limits);
  const std::vector<int> groups = groups_of(graph, partition);
  EXPECT_TRUE(std::none_of(groups.begin(), groups.end(), [](int g) { return g < 0; }))
      << "a stage is missing";
  EXPECT_TRUE(can_be_ordered(graph, groups, partition.groups.size()));
  for (std::size_t g = 0; g < partition.groups.size(); ++g) {
    std::vector<int> members;
    for (std::size_t v = 0; v < groups.size(); ++v) {
      if (groups[v] == static_cast<int>(g)) members.push_back(static_cast<int>(v));
    }
    const auto found = objection(graph, members, limits);
    EXPECT_FALSE(found) << found->why;
  }
  double inside = 0, all = 0, cut = 0;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const EdgeBenefit& benefit = partition.edges[e];
    EXPECT_GE(benefit.weight, epsilon);
    all += benefit.weight;
    if (groups[graph.edges[e].from] != groups[graph.edges[e].to]) continue;
    inside += benefit.weight;
    EXPECT_FALSE(benefit.is_loss);
  }
  EXPECT_EQ(partition.benefit(), inside);
  for (const Cut& one : partition.cuts) cut += one.weight;
  if (fusion == Fusion::MinCut) EXPECT_NEAR(inside + cut, all, 1e-6) << "Eq. 3.16";
}

TEST(RandomGraphs, GroupsAreLegalAndCoverAllStages) {
  FusionLimits limits;
  unsigned larger = 0;
  for (unsigned seed = 0; seed < 3000 / part; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StageGraph graph = RandomGraph(seed).graph();
    limits.architecture = seed % 2 == 0 ? nullptr : &machine::architecture(3, 0);
    for (Fusion fusion : {Fusion::None, Fusion::Basic, Fusion::MinCut}) expect_sound(graph, fusion, limits);
    const Partition partition = fuse(graph, Fusion::MinCut, limits);
    larger += std::any_of(partition.groups.begin(), partition.groups.end(),
                          [](const Group& group) { return group.members.size() > 2; });
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(larger, 50 / part) << "graphs in which more than a pair is fused";
}

TEST(RandomPipelines, GroupsAreLegalAndCoverAllStages) {
  FusionLimits limits;
  limits.architecture = &machine::architecture(7, 5);
  unsigned fused = 0;
  for (std::uint64_t seed = 0; seed < 400 / part; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fuzz::Recipe recipe = fuzz::random_recipe(seed);
    const StageGraph graph = graph_of(fuzz::build(recipe).ir());
    for (Fusion fusion : {Fusion::Basic, Fusion::MinCut}) expect_sound(graph, fusion, limits);
    fused += fuse(graph, Fusion::MinCut, limits).groups.size() < graph.vertices.size();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(fused, 40 / part);
}

}  // namespace
}  // namespace weft::schedule::hipacc
