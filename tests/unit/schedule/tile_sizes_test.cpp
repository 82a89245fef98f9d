// The sizes of tiles that should take least time, by models made up for each test.
#include "schedule/tile_sizes.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <map>

#include "plan/block_strip.h"
#include "schedule/kernels.h"

namespace weft::schedule {
namespace tile_sizes {

using plan::KernelPlan, plan::LevelKind, plan::Memory;

constexpr double of_static_tiles = 100;

int pixels_of_lane(const KernelPlan& plan) {
  const plan::Level* lane = plan.level(LevelKind::Lane);
  return lane ? lane->extent[0].fixed() : 0;
}

/// Of strips by the pixels of a lane.
plan::CostModel costs(const std::map<int, double>& of_strips, double of_static = of_static_tiles) {
  return [=](const KernelPlan& plan) {
    return plan.is_tiled() && plan.is_static() ? of_static : of_strips.at(pixels_of_lane(plan));
  };
}

/// Of a window of 3x3 floats, whose lanes have room for 4 pixels.
BestTile best(const plan::CostModel& model, Tiling tiling = Tiling::Any) {
  const Image<float> in("in");
  const Stage mean = local("mean", in.border(Border::clamp()), Domain(3, 3), Local::Max);
  const Pipeline pipeline("test", {mean});
  const Memory memory{plan::most_shared_bytes, true, 132};
  const Kernels kernels(pipeline.ir(), [](const ir::Stage&, const ir::Stage&) { return false; });
  return best_tile(tiling, *plan::group_of({kernels.loops().front()}, memory).group, memory, model);
}

TEST(TileSizes, AreThoseOfThePixelsOfALaneThatTakeLeastTime) {
  const BestTile tile = best(costs({{1, 7.5}, {2, 6}, {4, 8}, {8, 9}}));
  EXPECT_EQ(tile.asked.pixels, 2);
  EXPECT_EQ(tile.why, "; lanes with 2 pixels should take 25 % less than with 4");
  EXPECT_EQ(best(costs({{1, 7.5}, {2, 8}, {4, 8}, {8, 7}})).asked.pixels, 8);
}

TEST(TileSizes, AreOfRowsThatMoveUpWhereThatTakesLess) {
  const auto costs_of = [](double moved) {
    return [=](const KernelPlan& plan) -> double {
      if (plan.is_tiled() && plan.is_static()) return of_static_tiles;
      return plan.moves_rows() ? moved : pixels_of_lane(plan) == 2 ? 6 : 8;
    };
  };
  const BestTile tile = best(costs_of(5));
  EXPECT_EQ(tile.asked.pixels, 2) << "as for rows that stay where they are";
  EXPECT_EQ(tile.asked.batch, 1);
  EXPECT_EQ(tile.why,
            "; lanes with 2 pixels whose rows move up should take 38 % less than with 4 whose rows stay");
  EXPECT_EQ(best(costs_of(5.8)).asked.batch, std::nullopt) << "only 3 % less";
}

TEST(TileSizes, StayTheUsualOnesUnlessMuchIsSaved) {
  const BestTile tile = best(costs({{1, 8}, {2, 7.5}, {4, 8}, {8, 9}}));
  EXPECT_EQ(tile.asked, plan::Choices{});
  EXPECT_EQ(tile.why, "");
}

TEST(TileSizes, AreOfStaticTilesThatTakeLessThanTheBestStrips) {
  const std::map<int, double> strips{{1, 8}, {2, 6}, {4, 8}, {8, 9}};
  EXPECT_EQ(best(costs(strips, 5.8)).asked.pixels, 2) << "only 3 % less";
  const BestTile tile = best(costs(strips, 4.5));
  EXPECT_EQ(tile.asked.traversal, plan::Traversal::Static);
  EXPECT_EQ(tile.why, "; static tiles should take 25 % less than strips");
  EXPECT_EQ(best(costs(strips, 4.5), Tiling::March).asked.pixels, 2) << "of strips alone";
}

}  // namespace tile_sizes
}  // namespace weft::schedule
