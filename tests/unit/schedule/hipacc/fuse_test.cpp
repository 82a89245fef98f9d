// The searches on the applications of the Hipacc thesis, chapter 3.
#include "schedule/hipacc/fuse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/schedule/pipelines.h"

namespace weft::schedule::hipacc {
namespace {

BenefitModel model_of(const char* board) {
  BenefitModel model;
  model.costs = machine::access_costs(machine::board(board));
  return model;
}

Partition fused(const StageGraph& graph, Fusion fusion, const char* board = "gtx680") {
  FusionLimits limits;
  limits.architecture = &machine::board(board).architecture();
  return fuse(graph, fusion, limits, model_of(board));
}

/// "dx, sx+gx"
std::string groups_of(const Partition& partition) {
  std::vector<std::string> groups;
  for (const Group& group : partition.groups) {
    std::vector<std::string> names;
    for (const GroupMember& member : group.members) names.push_back(member.stage);
    groups.push_back(fmt::format("{}", fmt::join(names, "+")));
  }
  return fmt::format("{}", fmt::join(groups, ", "));
}
std::string groups_of(const std::string& application, Fusion fusion, const char* board = "gtx680") {
  return groups_of(fused(graph_of_application(application), fusion, board));
}

/// "sy+gy: 2": what was cut off, and the weight in epsilons.
std::string cuts_of(const Partition& partition) {
  std::vector<std::string> cuts;
  for (const Cut& cut : partition.cuts)
    cuts.push_back(fmt::format("{}: {:g}", fmt::join(cut.side, "+"), cut.weight / epsilon));
  return fmt::format("{}", fmt::join(cuts, " | "));
}

constexpr const char* harris_groups = "dx, sx+gx, dy, sy+gy, sxy+gxy, hc";

TEST(MinCutFusion, OfHarrisCorners) {
  const Partition partition = fused(graph_of_application("harris"), Fusion::MinCut);
  EXPECT_EQ(groups_of(partition), harris_groups);
  EXPECT_EQ(partition.benefit(), 912);
  EXPECT_EQ(partition.saved(), 912);
  EXPECT_EQ(cuts_of(partition), "sy+gy: 2 | dy: 1 | hc: 2 | sxy+gxy: 1 | sx+gx: 1");
  EXPECT_EQ(partition.cuts[0].why,
            "resources: 3 tiles in shared memory are 3.00 times what one stage has; 2 are allowed");
  EXPECT_EQ(partition.cuts[1].why, "external output: 'sy' reads 'dy', too");
  EXPECT_EQ(partition.groups[1].why, "'sx' recomputed");
}

TEST(MinCutFusion, OfHarrisCornersWithoutALimitOnSharedMemoryIsOneKernel) {
  FusionLimits limits;
  limits.shared_growth = 5;
  const Partition partition =
      fuse(graph_of_application("harris"), Fusion::MinCut, limits, model_of("gtx680"));
  EXPECT_EQ(partition.groups.size(), 1);
  EXPECT_TRUE(partition.cuts.empty());
}

TEST(MinCutFusion, OfHarrisCornersIsTheSameOnEveryBoard) {
  for (const machine::Board& board : machine::boards())
    EXPECT_EQ(groups_of("harris", Fusion::MinCut, std::string(board.name).c_str()), harris_groups)
        << board.name;
  EXPECT_EQ(fused(graph_of_application("harris"), Fusion::MinCut, "h200").benefit(), 617 + 617 + 545);
}

TEST(MinCutFusion, OfTheOtherApplicationsOfTheThesis) {
  EXPECT_EQ(groups_of("shitomasi", Fusion::MinCut), "dx, sx+gx, dy, sy+gy, sxy+gxy, st");
  EXPECT_EQ(groups_of("sobel", Fusion::MinCut), "dx+dy+mag");
  EXPECT_EQ(groups_of("unsharp", Fusion::MinCut), "blur+sharpen+ratio+out");
  EXPECT_EQ(groups_of("enhance", Fusion::MinCut), "mean+bright+gamma");
  EXPECT_EQ(groups_of("night", Fusion::MinCut), "atrous0, atrous1+scoto");
}

TEST(MinCutFusion, TheGradientsOfSobelPayOnlyTogether) {
  const Partition partition = fused(graph_of_application("sobel"), Fusion::MinCut);
  ASSERT_EQ(partition.groups.size(), 1);
  EXPECT_EQ(partition.benefit(), 2 * epsilon) << "no edge is a pair that may be fused";
  EXPECT_EQ(partition.saved(), 800);
  EXPECT_EQ(partition.groups[0].why, "'dx' and 'dy' in registers");
  EXPECT_EQ(partition.groups[0].shared_bytes, 34 * 6 * 4) << "both read one tile of the image";
}

TEST(MinCutFusion, OfUnsharpSharesTheInput) {
  const Partition partition = fused(graph_of_application("unsharp"), Fusion::MinCut);
  EXPECT_EQ(partition.benefit(), 3 * 400);
  for (const EdgeBenefit& edge : partition.edges) EXPECT_TRUE(edge.legal) << edge.from << ": " << edge.why;
}

TEST(MinCutFusion, NightSplitsWhereRecomputationCostsMost) {
  const StageGraph night = graph_of_application("night");
  for (double t_s : {2.0, 4.0, 8.0, 30.0}) {
    BenefitModel model = model_of("gtx680");
    model.costs.shared.value = t_s;
    const Partition partition = fuse(night, Fusion::MinCut, {}, model);
    EXPECT_EQ(groups_of(partition), "atrous0, atrous1+scoto") << t_s;
    ASSERT_EQ(partition.edges.size(), 2);
    EXPECT_EQ(partition.edges[0].scenario, Scenario::LocalToLocal);
    EXPECT_EQ(partition.edges[0].terms.window, 49);
    EXPECT_TRUE(partition.edges[0].legal) << partition.edges[0].why;
    EXPECT_LT(partition.edges[0].terms.benefit(), 0);
    EXPECT_EQ(partition.edges[0].weight, epsilon);
    EXPECT_EQ(partition.edges[1].weight, 400);
    ASSERT_EQ(partition.cuts.size(), 1);
    EXPECT_TRUE(partition.cuts[0].why.starts_with("loss: 'atrous0' in 'atrous1' is "))
        << partition.cuts[0].why;
  }
}

TEST(MinCutFusion, LargeTilesMustNotCostAPointStageItsOccupancy) {
  const StageGraph deep = graph_of_application("night", {.options = {{"levels", "4"}}, .image_types = {}});
  const Partition partition = fused(deep, Fusion::MinCut);
  EXPECT_EQ(groups_of(partition), "atrous0, atrous1, atrous2, atrous3, scoto");
  EXPECT_EQ(partition.edges.back().why, "resources: occupancy would fall from 100 % to 25 %");
  EXPECT_EQ(groups_of(fuse(deep, Fusion::MinCut)), "atrous0, atrous1, atrous2, atrous3+scoto")
      << "without a GPU";
}

TEST(BasicFusion, FindsPairsAlongEdgesOnly) {
  EXPECT_EQ(groups_of("harris", Fusion::Basic), harris_groups);
  EXPECT_EQ(groups_of("enhance", Fusion::Basic), "mean+bright+gamma");
  EXPECT_EQ(groups_of("sobel", Fusion::Basic), "dx, dy, mag") << "'mag' reads two images";
  EXPECT_EQ(groups_of("unsharp", Fusion::Basic), "blur, sharpen, ratio, out") << "all read the input, too";
}

TEST(BasicFusion, AListThatIsIllegalIsTwoLists) {
  EXPECT_EQ(groups_of("night", Fusion::Basic), "atrous0, atrous1+scoto");
  EXPECT_TRUE(fused(graph_of_application("night"), Fusion::Basic).cuts.empty());
}

TEST(NoFusion, LeavesEveryStageAlone) {
  const Partition partition = fused(graph_of_application("sobel"), Fusion::None);
  EXPECT_EQ(groups_of(partition), "dx, dy, mag");
  EXPECT_EQ(partition.benefit(), 0);
  EXPECT_EQ(partition.edges.size(), 2) << "what it could have saved is said all the same";
}

TEST(Fusion, IsSaidByName) {
  for (Fusion fusion : {Fusion::None, Fusion::Basic, Fusion::MinCut})
    EXPECT_EQ(fusion_named(name_of(fusion)), fusion);
  EXPECT_FALSE(fusion_named("dp"));
}

TEST(Fusion, OfEveryApplicationCoversItsStages) {
  for (const auto& [name, application] : applications()) {
    if (application.about.refused) continue;
    const StageGraph graph = graph_of_application(name);
    for (Fusion fusion : {Fusion::Basic, Fusion::MinCut}) {
      const Partition partition = fused(graph, fusion);
      std::size_t stages = 0;
      for (const Group& group : partition.groups) stages += group.members.size();
      EXPECT_EQ(stages, graph.vertices.size()) << name;
      EXPECT_FALSE(to_text(partition).empty());
    }
  }
}

TEST(Partition, IsPrintedAsText) {
  EXPECT_EQ(
      to_text(fused(graph_of_application("sobel"), Fusion::MinCut)),
      R"(fusion mincut: 3 stages in 1 group, 2 eps clocks per pixel saved (beta, Eq. 3.1); 800 with edges that are illegal by themselves
  t_g 400, t_s 28, c_ALU 4, c_SFU 24, gamma 0 clocks; blocks of 32x4 threads

  edge       scenario        is       weight  benefit  delta  phi  gamma  cost_op  nALU  nSFU  IS  sz  because
  dx -> mag  local-to-point  illegal  eps     400      400    0    0      52       13    0     1   -   external input: 'mag' reads 'dy', which 'dx' does not read
  dy -> mag  local-to-point  illegal  eps     400      400    0    0      52       13    0     1   -   external input: 'mag' reads 'dx', which 'dy' does not read

  group  weight  saved  shared  registers  stages     because
  1      2 eps   800    816 B   23         dx+dy+mag  'dx' and 'dy' in registers
)");
}

TEST(Partition, IsPrintedAsJson) {
  const auto json = nlohmann::json::parse(to_json(fused(graph_of_application("harris"), Fusion::MinCut)));
  EXPECT_EQ(json["fusion"], "mincut");
  EXPECT_EQ(json["benefit"], 912);
  EXPECT_EQ(json["model"]["global"]["value"], 400);
  EXPECT_EQ(json["limits"]["occupancy_kept"], 0.5);
  ASSERT_EQ(json["edges"].size(), 10);
  EXPECT_EQ(json["edges"][0]["scenario"], "local-to-point");
  EXPECT_EQ(json["edges"][0]["legality"], "illegal");
  ASSERT_EQ(json["cuts"].size(), 5);
  EXPECT_EQ(json["cuts"][0]["side"], (std::vector<std::string>{"sy", "gy"}));
  EXPECT_EQ(json["cuts"][0]["weight"], 2 * epsilon);
  EXPECT_EQ(json["groups"][1]["stages"][0]["storage"], "recomputed");
  EXPECT_EQ(json["groups"][1]["weight"], 328);
}

}  // namespace
}  // namespace weft::schedule::hipacc
