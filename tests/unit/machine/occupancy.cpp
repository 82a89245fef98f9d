// Occupancies that publications state, and those that tell one rule from another.
#include "machine/occupancy.h"

#include "machine/board.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::machine {
namespace {

const Architecture& gtx680() { return board("gtx680").architecture(); }
const Architecture& rtx2080() { return board("rtx2080").architecture(); }
const Architecture& gtx1080ti() { return board("gtx1080ti").architecture(); }

double percent(const Architecture& a, const BlockNeeds& needs) {
  return 100 * occupancy(a, needs).fraction();
}

TEST(Occupancy, OfBorderKernelsOnKeplerIsAsPublished) {
  // The publication does not state the size of its blocks; three sizes reproduce all of its rows.
  const std::pair<int, double> published[] = {{32, 100}, {40, 75}, {18, 100}, {63, 50}};
  std::vector<int> sizes;
  for (int threads = 32; threads <= 1024; threads += 32) {
    if (std::all_of(std::begin(published), std::end(published), [&](const auto& row) {
          return percent(gtx680(), {.threads = threads, .registers = row.first}) == row.second;
        }))
      sizes.push_back(threads);
  }
  EXPECT_EQ(sizes, (std::vector{128, 256, 512}));
}

TEST(Occupancy, OfBorderKernelsOnTuringIsFull) {
  for (const int registers : {32, 40, 63})
    EXPECT_EQ(percent(rtx2080(), {.threads = 128, .registers = registers}), 100) << registers;
}

TEST(Occupancy, TellsHowManyPixelsFillATuring) {
  const int blocks = occupancy(rtx2080(), {.threads = 128, .registers = 32}).blocks;
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(board("rtx2080").multiprocessors * blocks * 128, 47104);
  EXPECT_EQ(
      board("rtx2080").multiprocessors * occupancy(rtx2080(), {.threads = 256, .registers = 32}).blocks * 5,
      920);
}

TEST(Occupancy, OfComplementaryKernelsOnTuring) {
  const Occupancy point = occupancy(rtx2080(), {.threads = 640, .registers = 23});
  EXPECT_EQ(point.blocks, 1);
  EXPECT_EQ(point.warps(), 20);
  EXPECT_EQ(point.fraction(), 0.625);
  BlockNeeds local{.threads = 256, .registers = 34, .static_shared = 26 * KiB};
  EXPECT_EQ(occupancy(rtx2080(), local).blocks, 2);
  local.carve_out = 32 * KiB;
  EXPECT_EQ(occupancy(rtx2080(), local).blocks, 1);
}

TEST(Occupancy, OfWarpTilesOnPascalIsAsPublished) {
  const Occupancy tile = occupancy(gtx1080ti(), {.threads = 256, .registers = 24, .static_shared = 16448});
  EXPECT_EQ(tile.blocks, 5);
  EXPECT_EQ(tile.fraction(), 0.625);
  EXPECT_EQ(tile.binding(), Limit::SharedMemory);
  const Occupancy hybrid = occupancy(gtx1080ti(), {.threads = 256, .registers = 32, .static_shared = 8256});
  EXPECT_EQ(hybrid.blocks, 8);
  EXPECT_EQ(hybrid.fraction(), 1);
}

TEST(Occupancy, CountsWarpsNotShareOfBlocks) {
  // The published formula, blocks over the most blocks, would say one half.
  EXPECT_EQ(occupancy(gtx680(), {.threads = 256, .registers = 32}).fraction(), 1);
}

TEST(Occupancy, NamesWhatBinds) {
  const Architecture& hopper = architecture(9, 0);
  EXPECT_EQ(occupancy(hopper, {.threads = 1024, .registers = 16}).binding(), Limit::Warps);
  EXPECT_EQ(occupancy(hopper, {.threads = 256, .registers = 64}).binding(), Limit::Registers);
  EXPECT_EQ(occupancy(hopper, {.threads = 128, .registers = 16, .dynamic_shared = 50000}).binding(),
            Limit::SharedMemory);
  EXPECT_EQ(occupancy(hopper, {.threads = 32, .registers = 16}).binding(), Limit::Blocks);
  EXPECT_EQ(occupancy(hopper, {.threads = 32, .registers = 16, .barriers = 3}).binding(), Limit::Barriers);
  EXPECT_EQ(
      occupancy(architecture(10, 0), {.threads = 32, .registers = 16, .virtual_resources = 8}).binding(),
      Limit::VirtualResources);
  EXPECT_EQ(occupancy(hopper, {.threads = 64, .registers = 32}).all_binding(),
            (std::vector{Limit::Warps, Limit::Registers, Limit::Blocks}));
}

TEST(Occupancy, CountsWhatABlockDoesNotUseAsUnlimited) {
  const Occupancy o = occupancy(gtx680(), {.threads = 128});
  EXPECT_EQ(o.by(Limit::Registers), Occupancy::unlimited);
  EXPECT_EQ(o.by(Limit::SharedMemory), Occupancy::unlimited);
  EXPECT_EQ(o.by(Limit::Barriers), Occupancy::unlimited);
  EXPECT_EQ(o.by(Limit::Warps), 16);
  EXPECT_EQ(o.by(Limit::Blocks), 16);
}

TEST(Occupancy, IsZeroForWhatCannotBeLaunched) {
  const Architecture& hopper = architecture(9, 0);
  EXPECT_EQ(occupancy(hopper, {.threads = 1025, .registers = 16}).blocks, 0);
  EXPECT_EQ(occupancy(hopper, {.threads = 1024, .registers = 65}).blocks, 0);
  EXPECT_EQ(occupancy(hopper, {.threads = 32, .registers = 256}).blocks, 0);
  EXPECT_EQ(occupancy(hopper, {.threads = 32, .registers = 16, .dynamic_shared = 227 * KiB}).blocks, 1);
  EXPECT_EQ(occupancy(hopper, {.threads = 32, .registers = 16, .dynamic_shared = 227 * KiB + 1}).blocks, 0);
  EXPECT_EQ(occupancy(gtx680(), {.threads = 32, .registers = 64}).blocks, 0);
  // Two partitions would take these nine warps, but the check of a launch believes in four.
  EXPECT_EQ(occupancy(architecture(6, 0), {.threads = 9 * 32, .registers = 184}).blocks, 0);
}

TEST(Occupancy, OfABlockWithoutThreadsIsAnInternalError) {
  EXPECT_THROW(occupancy(gtx680(), {.threads = 0}), InternalError);
}

TEST(Occupancy, ReadsAsASentence) {
  EXPECT_EQ(to_string(occupancy(gtx680(), {.threads = 128, .registers = 40})),
            "12 blocks of 4 warps: 48 of 64 warps (75 %), limited by registers");
  EXPECT_EQ(to_string(occupancy(rtx2080(), {.threads = 640, .registers = 23})),
            "1 block of 20 warps: 20 of 32 warps (62.5 %), limited by warps");
  EXPECT_EQ(to_string(occupancy(rtx2080(), {.threads = 32, .registers = 32, .static_shared = 65 * KiB})),
            "no block fits: limited by shared memory");
}

}  // namespace
}  // namespace weft::machine
