#include "plan/block_strip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <numeric>

#include "lower/lower.h"
#include "pipelines.h"
#include "plan/parts.h"
#include "schedule/groups.h"
#include "schedule/hipacc/fuse.h"
#include "schedule/schedule.h"

namespace weft::schedule {
namespace {

const Mask box3{{1.f, 1.f, 1.f}, {1.f, 1.f, 1.f}, {1.f, 1.f, 1.f}};

/// Two windows of 3x3, one after the other.
ir::Pipeline two_windows(int lanes = 1) {
  const Border edge = Border::clamp();
  if (lanes == 1) {
    const Image<float> in("in");
    Stage a = convolve("a", in.border(edge), box3);
    return Pipeline("test", {convolve("b", a.border(edge), box3)}).ir();
  }
  const Image<Vec<float, 3>> in("in");
  Stage a = convolve("a", in.border(edge), box3);
  return Pipeline("test", {convolve("b", a.border(edge), box3)}).ir();
}

March march_through(const ir::Pipeline& pipeline) {
  return march_of(reads_of_stages(pipeline)).march.value();
}

std::int64_t bytes_of(const BlockStrip& strip) {
  return std::accumulate(strip.rings.begin(), strip.rings.end(), std::int64_t{0},
                         [](std::int64_t sum, const RowRing& ring) { return sum + ring.bytes(); });
}

TEST(BlockStrip, HasAColumnForEachThreadAndBeginsWithASector) {
  const ir::Pipeline pipeline = two_windows();
  const auto strip = block_strip(march_through(pipeline), *pipeline.stages.back(), most_shared_bytes);
  ASSERT_TRUE(strip);
  EXPECT_EQ(strip->columns, 256);
  EXPECT_EQ(strip->width, 248) << "two columns of 'a' are computed beside it; sectors have eight pixels";
  EXPECT_EQ(strip->batch, 8);
  ASSERT_EQ(strip->rings.size(), 2u);
  const RowRing &in = strip->rings[0], &a = strip->rings[1];
  EXPECT_EQ(in.rows, 16) << "3 that are read, and 7 more of the batch";
  EXPECT_EQ(in.first, 8) << "2 pixels, in whole sectors";
  EXPECT_EQ(in.pitch, 8 + 248 + 8);
  EXPECT_EQ(a.rows, 16);
  EXPECT_EQ(a.first, 1);
  EXPECT_EQ(a.pitch, 1 + 248 + 1);
  EXPECT_EQ(strip->bytes, bytes_of(*strip));
}

TEST(BlockStrip, TakesSmallerBatchesThenFewerColumnsThenTheSmallestBatches) {
  const ir::Pipeline pipeline = two_windows();
  const March march = march_through(pipeline);
  std::string found;
  for (std::int64_t bytes : {40000, 30000, 16000, 10000, 5000, 4000, 3000, 2000}) {
    const auto strip = block_strip(march, *pipeline.stages.back(), bytes);
    if (strip) {
      EXPECT_LE(bytes_of(*strip), bytes);
      for (std::size_t r = 0; r < strip->rings.size(); ++r)
        EXPECT_GE(strip->rings[r].rows, march.rolling[r].rows + strip->batch - 1);
    }
    found += strip ? std::to_string(strip->width) + "x" + std::to_string(strip->batch) + " " : "none";
  }
  EXPECT_EQ(found, "248x8 248x6 216x6 120x6 56x6 88x2 56x2 none");
}

TEST(BlockStrip, IsNoNarrowerForPixelsOfSeveralLanes) {
  const ir::Pipeline pipeline = two_windows(3);
  const auto strip = block_strip(march_through(pipeline), *pipeline.stages.back(), 1 << 20);
  ASSERT_TRUE(strip);
  EXPECT_EQ(strip->width, 248);
  EXPECT_EQ(strip->rings[1].pitch, (1 + 248 + 1) * 3);
}

TEST(BlockStrip, IsAsTallAsLeavesEnough) {
  EXPECT_EQ(size_over(strip_heights(), 2048, 4), 64) << "32 times 4 are 128";
  EXPECT_EQ(size_over(strip_heights(), 2047, 4), 32);
  EXPECT_EQ(size_over(strip_heights(), 1023, 4), 8);
  EXPECT_EQ(size_over(strip_heights(), 0, 0), 8);
  EXPECT_EQ(strip_heights_of_march(4), strip_heights());
  EXPECT_EQ(strip_heights_of_march(5).sizes, (std::vector{128, 64, 16})) << "8 are less than twice 5";
}

TEST(BlockStrip, LeavesStagesWhoseRowsDoNotFit) {
  const ir::Pipeline pipeline = two_windows();
  EXPECT_TRUE(choose(pipeline, Tiling::March, {3000}).of("a").in_rows);
  const Schedule schedule = choose(pipeline, Tiling::March, {1000});
  EXPECT_TRUE(schedule.of("a").stored);
  EXPECT_EQ(schedule.of("a").why,
            "'b' reads it at other pixels than its own; it is not computed with 'b', since the rows of "
            "'in', 'a' do not fit 1000 bytes of shared memory");
}

TEST(BlockStrip, LimitsTheGroupsThatAreForcedAndThoseOfPartitions) {
  const ir::Pipeline pipeline = two_windows();
  const Grouping both{{{"a", "b"}}, {}};
  EXPECT_TRUE(schedule_of_groups(pipeline, both, Tiling::March, {3000}).schedule);
  EXPECT_EQ(schedule_of_groups(pipeline, both, Tiling::March, {1000}).why,
            "the rows of 'in', 'a' do not fit 1000 bytes of shared memory");
  EXPECT_TRUE(schedule_of_groups(pipeline, both, Tiling::March).schedule) << "caches hold what they can";
  hipacc::Partition partition;
  partition.groups.emplace_back().members = {hipacc::GroupMember{"a"}, hipacc::GroupMember{"b"}};
  EXPECT_EQ(groups_of_partition(pipeline, partition, Tiling::March, {3000}).groups.size(), 1u);
  EXPECT_EQ(groups_of_partition(pipeline, partition, Tiling::March, {1000}).groups.size(), 2u);
}

TEST(BlockStrip, EndsInAnImageOrAReductionInAnyOrder) {
  const Image<float> in("in");
  Stage a = point("a", in * 2.f);
  Stage b = convolve("b", a.border(Border::clamp()), box3);
  const auto first = [](const Expr& left, const Expr&) { return left; };
  const auto why = [&](const Stage& sum, const Tiles& tiles = {}, std::int64_t bytes = most_shared_bytes) {
    const Grouping all{{{"a", "b", "sum"}}, {}, {}, tiles};
    return schedule_of_groups(Pipeline("test", {sum}).ir(), all, Tiling::March, {bytes}).why;
  };
  const Stage sum = reduce("sum", b, Reduce::sum());
  EXPECT_EQ(why(sum), "");
  EXPECT_EQ(why(sum, {{"sum", {256, 64}}}), "the strips of a reduction are as wide as its parts");
  EXPECT_EQ(why(sum, {}, 5000), "the rows of 'a' do not fit 5000 bytes of shared memory");
  EXPECT_EQ(why(reduce("sum", b, Reduce(first).identity(0.f))),
            "'sum' combines its elements in their order, which blocks of threads do not");
  const Accessor coarse = b.border(Border::clamp());
  const Extents twice{in.width() * 2, in.height() * 2};
  const auto doubled = [&](Var x, Var y) { return coarse(x / 2, y / 2); };
  EXPECT_EQ(why(reduce("sum", twice, doubled, Reduce::sum())),
            "'sum' combines parts of its elements, and blocks of threads go down parts at one rate alone");
}

TEST(BlockStrip, OfAReductionIsOfWholeParts) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), box3);
  const Accessor src = a.border(Border::clamp());
  const auto difference = [&](Var x, Var y) { return src(x, y - 2) - src(x - 1, y + 2); };
  const ir::Pipeline pipeline = Pipeline("test", {reduce("sum", in.size(), difference, Reduce::sum())}).ir();
  const March march = march_through(pipeline);
  std::string found;
  for (std::int64_t bytes : {40000, 30000, 15000, 13000}) {
    const auto strip = block_strip(march, *pipeline.stages.back(), bytes);
    found += strip ? fmt::format("{}x{} from {} above ", strip->width, strip->batch, strip->before) : "none";
    if (strip) EXPECT_EQ(strip->bytes, bytes_of(*strip) + 256 * 4) << "an accumulator for each column";
  }
  EXPECT_EQ(found, "256x8 from 8 above 256x4 from 8 above 256x2 from 6 above none")
      << "6 rows in whole batches, so that none is of two parts";
  const Parts parts{part_columns, least_part_rows};
  EXPECT_EQ(rows_of_part(parts, 5000), 16);
  EXPECT_EQ(rows_of_part(parts, 129), 16);
  EXPECT_EQ(rows_of_part(parts, 128), 32);
  EXPECT_EQ(rows_of_part(parts, 0), 4096);
}

/// An image of half the size, smoothed, and twice that size again.
ir::Pipeline halved_and_doubled() {
  const Image<float> in("in");
  const Border edge = Border::clamp();
  const Accessor src = in.border(edge);
  Stage half = stage("half", {(in.width() + 1) / 2, (in.height() + 1) / 2},
                     [&](Var x, Var y) { return src(2 * x, 2 * y) + src(2 * x + 1, 2 * y + 1); });
  Stage soft = convolve("soft", half.border(edge), box3);
  const Accessor coarse = soft.border(edge);
  return Pipeline("test",
                  {stage("up", in.size(), [&](Var x, Var y) { return coarse(x / 2, y / 2) - in(x, y); })})
      .ir();
}

TEST(BlockStrip, HasSoMuchOfEachAsItsRateSays) {
  const ir::Pipeline pipeline = halved_and_doubled();
  const March march = march_through(pipeline);
  const auto strip = block_strip(march, *pipeline.stages.back(), most_shared_bytes);
  ASSERT_TRUE(strip);
  EXPECT_EQ(strip->columns, 256);
  EXPECT_EQ(strip->width, 256) << "'half' has 128 columns and four more";
  EXPECT_EQ(strip->batch, 8);
  ASSERT_EQ(strip->rings.size(), 3u);
  const RowRing &in = strip->rings[0], &half = strip->rings[1], &soft = strip->rings[2];
  EXPECT_EQ(in.rows, 16);
  EXPECT_EQ(in.pitch, 8 + 256 + 8);
  EXPECT_EQ(half.rows, 8) << "3 that are read, and 3 more of the batch";
  EXPECT_EQ(half.pitch, 1 + 128 + 1);
  EXPECT_EQ(soft.pitch, 128);
  EXPECT_EQ(rows_before(march) % march.step[1], 0);
}

TEST(BlockStrip, ComputesEightRowsAtMostOfThoseThatHaveMost) {
  const Image<std::uint8_t> in("in");
  const Accessor src = in.border(Border::clamp());
  Stage a = stage("a", in.size(), [&](Var x, Var y) { return src(x - 1, y) + src(x + 1, y); });
  const Accessor fine = a.border(Border::clamp());
  Stage quarter = stage("quarter", {(in.width() + 3) / 4, (in.height() + 3) / 4},
                        [&](Var x, Var y) { return fine(4 * x, 4 * y) + fine(4 * x + 1, 4 * y); });
  const ir::Pipeline pipeline = Pipeline("test", {quarter}).ir();
  const auto strip = block_strip(march_through(pipeline), *pipeline.stages.back(), most_shared_bytes);
  ASSERT_TRUE(strip);
  EXPECT_EQ(strip->batch, 2);
  EXPECT_LE(strip->width * 4 - 2, strip->columns) << "of 'a'";
}

TEST(BlockStrip, TakesTilesOfWholeStepsAndSectors) {
  const ir::Pipeline pipeline = halved_and_doubled();
  const auto tiles = [&](int width, int height) {
    const Grouping all{{{"half", "soft", "up"}}, {}, "", {{"up", {width, height}}}};
    return schedule_of_groups(pipeline, all, Tiling::March, {most_shared_bytes}).why;
  };
  EXPECT_EQ(tiles(64, 6), "");
  EXPECT_EQ(tiles(64, 5), "a tile's height of 5 is no multiple of 2, which the rates of its stages ask for");
  EXPECT_EQ(tiles(36, 6), "a tile's width of 36 is no multiple of 8, a sector of memory");
}

}  // namespace
}  // namespace weft::schedule
