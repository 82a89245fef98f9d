#include "schedule/hipacc/block_needs.h"

#include <gtest/gtest.h>

#include "tests/unit/schedule/pipelines.h"

namespace weft::schedule::hipacc {
namespace {

Needs needs(const StageGraph& graph, const std::vector<std::string>& names) {
  return needs_of(graph, members(graph, names), {32, 4});
}

TEST(BlockNeeds, OneStageHasATileOfWhatItReadsThroughAWindow) {
  const StageGraph harris = graph_of_application("harris");
  const Needs local = needs(harris, {"dx"});
  ASSERT_EQ(local.tiles.size(), 1);
  EXPECT_EQ(local.tiles[0].image, "in");
  EXPECT_EQ(local.shared_bytes(), 34 * 6 * 4);
  EXPECT_TRUE(needs(harris, {"sxy"}).tiles.empty());
  EXPECT_EQ(needs(harris, {"hc"}).storage, std::vector<Storage>{Storage::Result});
}

TEST(BlockNeeds, RecomputedStagesLeaveTilesToTheirSources) {
  const StageGraph harris = graph_of_application("harris");
  const Needs fused = needs(harris, {"sxy", "gxy"});
  EXPECT_EQ(fused.storage, (std::vector<Storage>{Storage::Recomputed, Storage::Result}));
  ASSERT_EQ(fused.tiles.size(), 2);
  EXPECT_EQ(fused.tiles[0].image, "dx");
  EXPECT_EQ(fused.tiles[1].image, "dy");
  EXPECT_EQ(fused.shared_bytes(), 2 * 34 * 6 * 4);
}

TEST(BlockNeeds, HalosAddUpAlongChainsOfWindows) {
  const StageGraph harris = graph_of_application("harris");
  const Needs all = needs(harris, {"dx", "dy", "sx", "sy", "sxy", "gx", "gy", "gxy", "hc"});
  EXPECT_EQ(all.shared_bytes(), (36 * 8 + 2 * 34 * 6) * 4) << "of 'in', and of 'dx' and 'dy'";
  EXPECT_EQ(all.shared_bytes_of_each(), 3 * 34 * 6 * 4);
  EXPECT_EQ(all.storage[0], Storage::Tile) << "'dx': its squares are recomputed, it is not";
  EXPECT_EQ(all.storage[1], Storage::Recomputed);
  EXPECT_EQ(all.storage[2], Storage::Registers) << "'gx', which 'hc' reads at its pixel";
}

TEST(BlockNeeds, WindowsWithHolesHaveTilesWithout) {
  const StageGraph night = graph_of_application("night");
  EXPECT_EQ(needs(night, {"atrous1"}).shared_bytes(), 36 * 8 * 12) << "5x5, of three floats";
  EXPECT_EQ(needs(night, {"atrous0", "atrous1"}).shared_bytes(), (38 * 10 + 36 * 8) * 12);
}

TEST(BlockNeeds, WhatATileIsMadeFromPixelByPixelNeedsNone) {
  Image<float> in("in"), other("other", in.size());
  auto src = in.border(Border::clamp());
  Stage a = stage("a", in.size(), [&](Var x, Var y) { return src(x - 1, y) + src(x + 1, y) + other(x, y); });
  Stage b = convolve("b", a.border(Border::clamp()), binomial());
  const Needs fused = needs(graph_of({b}), {"a", "b"});
  ASSERT_EQ(fused.tiles.size(), 2);
  EXPECT_EQ(fused.tiles[0].image, "a");
  EXPECT_EQ(fused.tiles[1].image, "in");
  EXPECT_EQ(fused.tiles[1].bytes, 36 * 6 * 4);
  EXPECT_EQ(fused.tiles[1].bytes_of_each, 34 * 4 * 4);
}

TEST(BlockNeeds, FurtherDimensionsHaveOneThread) {
  Image<float> in("in", 3);
  auto src = in.border(Border::clamp());
  Stage a = stage("a", in.size(), [&](Var x, Var y, Var z) { return src(x, y, z - 1) + src(x, y, z + 1); });
  EXPECT_EQ(needs(graph_of({a}), {"a"}).shared_bytes(), 32 * 4 * 3 * 4);
}

TEST(BlockNeeds, RegistersGrowWithWhatIsKept) {
  const StageGraph unsharp = graph_of_application("unsharp");
  const int one = needs(unsharp, {"blur"}).registers;
  const int all = needs(unsharp, {"blur", "sharpen", "ratio", "out"}).registers;
  EXPECT_GT(all, one);
  EXPECT_LT(all, one + 8) << "bodies follow one another and use the same registers";
  EXPECT_EQ(needs(unsharp, {"blur"}).of({32, 4}).threads, 128);
}

}  // namespace
}  // namespace weft::schedule::hipacc
