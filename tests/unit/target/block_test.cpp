#include "target/block.h"

#include <gtest/gtest.h>
#include <weft/error.h>

namespace weft::target {
namespace {

using kernel::Sharing;
using machine::architecture;
using machine::KiB;
using machine::Limit;

std::int64_t nothing(int) { return 0; }

constexpr BlockLaunch pixels = {.has_rows = true};
constexpr BlockLaunch windows = {.sharing = Sharing::Rows, .has_rows = true};
constexpr BlockLaunch parts = {.sharing = Sharing::Work};

int threads(int major, int minor, int registers, const BlockLaunch& launch, std::int64_t shared = 0) {
  return choose_block(
             architecture(major, minor), {registers, registers}, [&](int) { return shared; }, launch)
      .threads();
}

TEST(Block, OfManyBlocksHasAbout128ThreadsIfThoseFillAMultiprocessor) {
  // 16 blocks of 4 warps are the 64 of an Ampere or a Hopper, 8 the 32 of a Turing, 12 the 48 of an Ada.
  EXPECT_EQ(threads(8, 0, 32, pixels), 128);
  EXPECT_EQ(threads(9, 0, 32, pixels), 128);
  EXPECT_EQ(threads(7, 5, 32, pixels), 128);
  EXPECT_EQ(threads(8, 9, 40, pixels), 128);
  EXPECT_EQ(threads(12, 0, 40, pixels), 128);
  // A small Ampere holds 16 blocks and 48 warps, a Kepler 16 and 64, a Fermi 8 and 48.
  EXPECT_EQ(threads(8, 6, 40, pixels), 128);
  EXPECT_EQ(threads(3, 5, 32, pixels), 128);
  EXPECT_EQ(threads(2, 0, 20, pixels), 192);
}

TEST(Block, IsNoLargerThanRegistersAllow) {
  // 64 registers: 32 warps, which 8 blocks of 4 are.
  EXPECT_EQ(threads(8, 6, 64, pixels), 128);
  EXPECT_EQ(threads(3, 5, 64, pixels), 128);
  // 72 registers of 32 lanes are 2304: 7 warps in each quarter of the file, 28 in all. Blocks of 8 warps are
  // 24 of them, of 7 and of 4 all 28.
  EXPECT_EQ(threads(9, 0, 72, windows), 224);
  EXPECT_EQ(threads(9, 0, 72, {.sharing = Sharing::Work, .items = 256}), 128);
  const BlockChoice choice = choose_block(architecture(9, 0), {72, 72}, nothing, windows);
  EXPECT_EQ(choice.occupancy.warps(), 28);
  EXPECT_EQ(choice.occupancy.binding(), Limit::Registers);
  // 2 blocks of 8 warps with 128.
  EXPECT_EQ(choose_block(architecture(9, 0), {128, 128}, nothing, windows).occupancy.blocks, 2);
}

TEST(Block, IsOfWholeWarpsOfTheArchitecture) {
  machine::Architecture wide = architecture(9, 0);
  wide.warp = 64, wide.max_warps = 32;
  // As many threads in half as many warps: 16 blocks of two.
  const BlockChoice choice = choose_block(wide, {32, 32}, nothing, pixels);
  EXPECT_EQ(choice.block, (std::array{64, 2, 1}));
  EXPECT_EQ(choice.occupancy.blocks, 16);
  EXPECT_EQ(choice.occupancy.warps(), 32);
}

TEST(Block, CountsRegistersBeyondTheArchitecturesAsSpilled) {
  // A Fermi has 32,768 registers: 16 warps with its 63, rounded to 64.
  const BlockChoice choice = choose_block(architecture(2, 0), {80, 80}, nothing, pixels);
  EXPECT_EQ(choice.occupancy.warps(), 16);
  EXPECT_EQ(choice.threads(), 128);
}

TEST(Block, OfWorkThatIsSharedIsTheLargestOfTheBest) {
  EXPECT_EQ(threads(9, 0, 32, parts), 256);
  EXPECT_EQ(threads(9, 0, 64, parts), 256);
  EXPECT_EQ(threads(7, 5, 32, parts), 256);
  EXPECT_EQ(choose_block(architecture(9, 0), {32, 32}, nothing, parts).block, (std::array{256, 1, 1}));
}

TEST(Block, FillsWhatSharedMemoryLeaves) {
  // With 17 KB and 1 KB of the driver's, 228 KB hold 12 blocks: 8 of 8 warps are 64. A Turing's 64 KB hold 3:
  // 24 warps of 32, and less with smaller blocks.
  EXPECT_EQ(threads(9, 0, 32, parts, 17 * KiB), 256);
  const BlockChoice turing = choose_block(
      architecture(7, 5), {32, 32}, [](int) { return 17 * KiB; }, parts);
  EXPECT_EQ(turing.threads(), 256);
  EXPECT_EQ(turing.occupancy.blocks, 3);
  EXPECT_EQ(turing.occupancy.binding(), Limit::SharedMemory);
  // Of pixels that nobody shares, too: 5 blocks of 40 KB, which have 8 warps at most.
  EXPECT_EQ(threads(9, 0, 32, pixels, 40 * KiB), 256);
  // Arrays of 40 bytes a thread: 100 KB of a small Ampere hold 9 blocks of 8 warps, but 48 warps are 6.
  const auto of_threads = [](int n) { return std::int64_t{40} * n; };
  EXPECT_EQ(choose_block(architecture(8, 6), {32, 32}, of_threads, parts).occupancy.warps(), 48);
  // With 150 bytes and the driver's 1024, a block of 160 threads takes 25,088: 4 fit, that is 20 warps. Of
  // 256, 2 fit (16 warps), of 192 3 (18), of 128 4 (16).
  const auto of_more = [](int n) { return std::int64_t{150} * n; };
  EXPECT_EQ(choose_block(architecture(8, 6), {32, 32}, of_more, parts).threads(), 160);
  EXPECT_EQ(choose_block(architecture(8, 6), {32, 32}, of_more, parts).occupancy.warps(), 20);
}

TEST(Block, LeavesNoThreadIdle) {
  const auto of = [](int items) { return candidate_blocks({.sharing = Sharing::Work, .items = items}, 32); };
  EXPECT_EQ(of(1024), (std::vector{128, 256}));
  EXPECT_EQ(of(320), (std::vector{160}))
      << "64 divides them, too, but 30 warps of 6 blocks are better than 12";
  EXPECT_EQ(of(160), (std::vector{160}));
  EXPECT_EQ(of(32), (std::vector{64})) << "no block divides them";
  EXPECT_EQ(of(1), (std::vector{64}));
  EXPECT_EQ(of(0), (std::vector{128, 160, 192, 224, 256}));
  EXPECT_EQ(candidate_blocks(windows, 32), (std::vector{64, 96, 128, 160, 192, 224, 256}));
  EXPECT_EQ(candidate_blocks(windows, 64), (std::vector{64, 128, 192, 256}));
  EXPECT_EQ(threads(9, 0, 64, {.sharing = Sharing::Work, .items = 320}), 160);
}

TEST(Block, OfALaunchOfOneIsTheLargest) {
  // 255 registers: 8 warps fit, in blocks of any size that divides 8.
  EXPECT_EQ(threads(9, 0, 255, {.sharing = Sharing::Work, .is_single = true}), 256);
  EXPECT_EQ(threads(9, 0, 72, {.sharing = Sharing::Work, .is_single = true}), 256);
}

TEST(Block, OfThreadsThatShareRowsIsTheBestWithFewerRegistersToo) {
  // With 64 registers all powers of two have 32 warps. With 56, 9 warps fit each quarter of the
  // file, 9 blocks of 4 warps are 36, and 4 of 8 are 32. 40 and 48 hold 48 and 40 warps, whichever way.
  const auto of = [](int least, int most) {
    return choose_block(architecture(9, 0), {least, most}, nothing, windows).threads();
  };
  EXPECT_EQ(of(64, 64), 256);
  EXPECT_EQ(of(49, 64), 128);
  EXPECT_EQ(of(41, 48), 256);
  EXPECT_EQ(of(33, 40), 256);
  EXPECT_EQ(of(1, 32), 256);
  EXPECT_EQ(of(65, 80), 128) << "72 registers: 28 warps";
  // Of work there may be too little for all blocks, and the smallest blocks have most warps anyhow.
  EXPECT_EQ(choose_block(architecture(9, 0), {49, 64}, nothing, parts).threads(), 256);
  EXPECT_EQ(choose_block(architecture(9, 0), {49, 64}, nothing, pixels).threads(), 128);
}

TEST(Block, HasAWarpAlongX) {
  EXPECT_EQ(choose_block(architecture(9, 0), {64, 64}, nothing, pixels).block, (std::array{32, 4, 1}));
  EXPECT_EQ(choose_block(architecture(9, 0), {64, 64}, nothing, windows).block, (std::array{32, 8, 1}));
  EXPECT_EQ(choose_block(architecture(9, 0), {64, 64}, nothing, {}).block, (std::array{128, 1, 1}));
}

TEST(Block, IsTheSameForAllRegistersThatTheEstimateTells) {
  // Between them blocks of powers of two are equal, so what is chosen is what the launch prefers.
  for (const auto& [major, minor] : std::vector<std::pair<int, int>>{{7, 5}, {8, 0}, {9, 0}, {12, 0}}) {
    for (const int registers : {32, 40, 48, 64, 80, 128, 255}) {
      EXPECT_EQ(threads(major, minor, registers, pixels), 128) << major << minor << " " << registers;
      EXPECT_EQ(threads(major, minor, registers, windows), 256) << major << minor << " " << registers;
    }
  }
}

TEST(Block, SaysWhy) {
  EXPECT_EQ(
      choose_block(architecture(3, 5), {32, 32}, nothing, pixels).why,
      "128 threads of about 32 registers, so 16 blocks of 4 warps: 64 of 64 warps (100 %), limited by warps; "
      "256 threads would have as many, with nothing to share");
  EXPECT_EQ(choose_block(architecture(9, 0), {49, 64}, nothing, windows).why,
            "128 threads of about 64 registers, so 8 blocks of 4 warps: 32 of 64 warps (50 %), limited by "
            "registers; 64 threads would have as many, sharing fewer rows");
  EXPECT_EQ(choose_block(architecture(9, 0), {64, 64}, nothing, parts).why,
            "256 threads of about 64 registers, so 4 blocks of 8 warps: 32 of 64 warps (50 %), limited by "
            "registers; 128 threads would have as many, for the same work");
  EXPECT_EQ(
      choose_block(
          architecture(7, 5), {32, 32}, [](int) { return 17 * KiB; }, parts)
          .why,
      "256 threads of about 32 registers, so 3 blocks of 8 warps: 24 of 32 warps (75 %), limited by shared "
      "memory; 224 threads would have 21");
  EXPECT_EQ(
      choose_block(architecture(9, 0), {32, 32}, nothing, {.sharing = Sharing::Work, .is_single = true}).why,
      "256 threads: the most, as there is one block");
}

TEST(Block, ThatCannotBeLaunchedIsAnInternalError) {
  EXPECT_THROW(choose_block(
                   architecture(9, 0), {32, 32}, [](int) { return 300 * KiB; }, parts),
               InternalError);
}

}  // namespace
}  // namespace weft::target
