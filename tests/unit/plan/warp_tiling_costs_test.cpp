// The paper's cost function, by the numbers that it prints and those that follow from them.
#include "plan/warp_tiling_costs.h"

#include <gtest/gtest.h>

namespace weft::plan {
namespace {

const machine::Board& gtx = machine::board("gtx1080ti");

/// Of the paper's section 3: 16 points a thread, blocks of 64x4 threads, 24 registers.
WarpTiling blur(double share) {
  WarpTiling tiling;
  tiling.tile = {16, 1, 1}, tiling.block = {64, 4, 1};
  tiling.buffers = {{4, {2, 0, 0}}};
  tiling.share = share, tiling.registers = 24;
  tiling.points = 4096. * 4096 * 3;
  tiling.overlap = 2 / 512.;
  return tiling;
}

TEST(WarpTiling, DividesABlockAmongWarpsAlongXFirst) {
  EXPECT_EQ(warp_sizes({16, 8, 1}), (Points{16, 2, 1})) << "section 4 of the paper";
  EXPECT_EQ(warp_sizes({64, 4, 1}), (Points{32, 1, 1}));
  EXPECT_EQ(warp_sizes({4, 4, 8}), (Points{4, 4, 2}));
}

TEST(WarpTiling, HasTheBandwidthOfAWarp) {
  EXPECT_NEAR(warp_bandwidth(gtx) / 1e9, 4.32, 0.01);
  EXPECT_NEAR(warp_bandwidth(machine::board("v100")) / 1e9, 5.61, 0.01);
}

TEST(WarpTiling, OfABlurIsThatOfThePaper) {
  const WarpTilingCost c = warp_tiling_cost(blur(0), gtx);
  EXPECT_EQ(c.shared_bytes, 16448);
  EXPECT_EQ(c.blocks_at_a_time, 5);
  EXPECT_EQ(c.registers, 24);
  EXPECT_EQ(c.occupancy, 0.625);
  EXPECT_NEAR(c.unallocated_shared, 0.163411, 1e-6);
  EXPECT_EQ(c.unused_registers, 0.53125);
  EXPECT_EQ(c.overlap, 0.00390625);
  EXPECT_EQ(c.blocks, 439) << "438.857 on each multiprocessor";
  EXPECT_EQ(c.extra_blocks, 4);
  EXPECT_NEAR(c.cost, 0.5 * 0.375 + 20 * 0.163411 + 2 * 0.53125 + 100 * 0.00390625 + 4, 1e-4);
}

TEST(WarpTiling, HalfInRegistersLeavesRoomForMoreWarps) {
  const WarpTilingCost c = warp_tiling_cost(blur(0.5), gtx);
  EXPECT_EQ(c.shared_bytes, 8224);
  EXPECT_EQ(c.blocks_at_a_time, 11);
  EXPECT_NEAR(c.registers, 32.0312, 1e-4);
  EXPECT_NEAR(c.occupancy, 0.999024, 1e-6);
  EXPECT_NEAR(c.unallocated_shared, 0.0797526, 1e-6);
  EXPECT_NEAR(c.unused_registers, 0, 1e-9);
}

TEST(WarpTiling, ThatDoesNotFitCostsInfinitelyMuch) {
  WarpTiling tiling = blur(0);
  tiling.buffers.assign(4, tiling.buffers[0]);
  EXPECT_EQ(warp_tiling_cost(tiling, gtx).cost, std::numeric_limits<double>::infinity())
      << "64 KB of shared memory";
  tiling = blur(0);
  tiling.registers = 256;
  EXPECT_EQ(warp_tiling_cost(tiling, gtx).cost, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace weft::plan
