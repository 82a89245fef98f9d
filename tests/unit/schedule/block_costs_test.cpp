// The model of what groups cost a GPU.
#include "plan/block_costs.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "plan/block_strip.h"
#include "plan/planner.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"

namespace weft::schedule {

using namespace plan;

namespace {

// ---- the time of what was counted

const machine::Architecture& hopper = machine::architecture(9, 0);

/// Two multiprocessors that take whole seconds.
machine::GpuSpeeds slow() {
  machine::GpuSpeeds gpu{};
  gpu.bytes.value = 100, gpu.again.value = 200;
  gpu.operations.value = 100, gpu.accesses.value = 50, gpu.divisions.value = 10;
  gpu.launch.value = 1000;
  gpu.multiprocessors = 2, gpu.architecture = &hopper;
  return gpu;
}
/// `count` blocks; 16 run at a time on two multiprocessors.
BlockWork blocks(double count) {
  BlockWork work;
  work.blocks = count;
  work.needs = {.threads = 256, .registers = 32};
  return work;
}

TEST(BlockCost, IsThatOfMemoryWhileThereIsEnoughToDo) {
  BlockWork work = blocks(20);
  work.read = 150, work.written = 50, work.again = 100;
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 2 + 0.5 + 1000);
  work.batches = 7;
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 2 + 0.5 + 1000);
}

TEST(BlockCost, IsThatOfWaitsOrOfWhatIsComputedMeanwhile) {
  machine::GpuSpeeds gpu = slow();
  gpu.latency.value = 3;
  BlockWork work = blocks(1);
  work.operations = 200, work.clocks = 2;  // 2 seconds
  EXPECT_DOUBLE_EQ(waiting_of(work, gpu), 1.75 * 6) << "latency under load is twice as long";
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 0.75 * 1.75 * 6 + 1000);
  work.is_ahead = true;
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 0.75 * 2 * 6 + 1000);
  work.operations = 1200;
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 12 + 1000);
}

TEST(BlockCost, HasTheCodeOfEachLaunch) {
  machine::GpuSpeeds gpu = slow();
  gpu.fetch.value = 0.5;
  BlockWork work = blocks(20);
  work.read = 200, work.code = 300, work.launches = 2;
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 2 + 2 * (1000 + 150));
}

TEST(BlockCost, IsThatOfTheMultiprocessorWithMostBlocks) {
  BlockWork work = blocks(20);
  work.operations = 4000;  // 2 seconds of each block
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 8 * 2 + 2.5 * 2 + 1000) << "first 16 blocks, then 4";
  work.accesses = 4000;  // an operation each, but 4 seconds of each block
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 8 * 4 + 2.5 * 4 + 1000);
  work.divisions = 1000;  // 5 seconds, but with 4 instructions for each, 6 of each block
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 8 * 6 + 2.5 * 6 + 1000);
  work.operations = 0;
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 8 * 5 + 2.5 * 5 + 1000);
  work = blocks(17), work.clocks = 4;
  work.operations = 1700;  // 1 second of each block
  work.clocks = 4;
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 8 + 2 + 1000)
      << "one block is left over, and its 8 warps issue in half of all clocks";
  work = blocks(31);
  work.operations = 3100;
  EXPECT_DOUBLE_EQ(block_cost_of(work, slow()), 8 + 8 + 1000) << "no more than there is room for";
}

TEST(BlockCost, IsTheWayOfABlockWhereFewOthersHideIt) {
  machine::GpuSpeeds gpu = slow();
  gpu.latency.value = 10, gpu.barrier.value = 2;
  BlockWork work = blocks(16);
  work.read = 1600, work.barriers = 3, work.batches = 4;
  // All blocks: 16 seconds of memory. Each: 4 batches and before and after, with 20 seconds of latency, and 3 barriers in a batch.
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 0.75 * 4.75 * 20 + 4 * 3 * 2 + 1000);
  work.waits = 2;
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 0.75 * 8.75 * 20 + 4 * 3 * 2 + 1000);
  work.read = 100'000;
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 1000 + 1000) << "hidden";
}

TEST(BlockCost, GrowsAsOccupancyFalls) {
  machine::GpuSpeeds gpu = slow();
  gpu.latency.value = 10;
  BlockWork work = blocks(16);
  const double wait = 0.75 * 1.75 * 20;
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), wait + 1000);
  work.needs.static_shared = 40'960;  // 5 blocks of a multiprocessor
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 2 * wait + 1000);
  work.needs.registers = 255;  // one
  EXPECT_DOUBLE_EQ(block_cost_of(work, gpu), 8 * wait + 1000);
}

// ---- what is counted

const Mask blur{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}, {1.f, 2.f, 1.f}};
constexpr double extent = 2048, image = extent * extent * 4;  // bytes

class BlockCosts : public testing::Test {
 protected:
  const Image<float> in{"in"};

  Stage blurred(const char* name, const Source& source) {
    return convolve(name, source.border(Border::clamp()), blur);
  }
  /// Of `count` stages from `first` on, in one group.
  static BlockWork work(const Pipeline& pipeline, std::size_t first, std::size_t count) {
    const Kernels kernels(pipeline.ir(), [](const ir::Stage&, const ir::Stage&) { return false; });
    const std::vector<Loop>& all = kernels.loops();
    const std::vector<Loop> members(all.begin() + first, all.begin() + first + count);
    const Memory memory{most_shared_bytes};
    return block_work_of(plan_of(group_of(members, memory).group.value(), memory),
                         nominal_sizes(pipeline.ir()), hopper);
  }
  static double cost(const BlockWork& work) {
    return block_cost_of(work, machine::gpu_speeds(machine::board("h200")));
  }
  static Grouping cheapest(const Pipeline& pipeline, const Memory& memory = {most_shared_bytes}) {
    return cheapest_groups(
        pipeline.ir(), Tiling::Any, memory,
        gpu_costs(nominal_sizes(pipeline.ir()), machine::gpu_speeds(machine::board("h200"))));
  }
};

TEST_F(BlockCosts, OfAWindowAreThoseOfItsStrips) {
  Stage a = blurred("a", in);
  const BlockWork w = work(Pipeline("test", {a}), 0, 1);
  EXPECT_EQ(w.read, image);
  EXPECT_EQ(w.written, image);
  // 8 strips of 256 columns and two sectors, 32 of 64 rows and two more, in batches of 8.
  const double loaded = (extent + 8 * 16) * (extent + 32 * 2);
  EXPECT_EQ(w.again, loaded * 4 - image);
  EXPECT_EQ(w.accesses, 2 * loaded + 10 * extent * extent);
  EXPECT_EQ(w.blocks, 8 * 32);
  EXPECT_EQ(w.batches, 9) << "of 66 rows";
  EXPECT_EQ(w.waits, 1);
  EXPECT_EQ(w.barriers, 2);
  EXPECT_EQ(w.needs.threads, 256);
  EXPECT_EQ(w.needs.static_shared, 16 * (256 + 16) * 4) << "a ring of 10 rows";
}

TEST_F(BlockCosts, OfAGroupCountHalosTwiceAndTheImageOnce) {
  Stage a = blurred("a", in), b = blurred("b", a);
  const Pipeline pipeline("test", {b});
  const BlockWork both = work(pipeline, 0, 2), first = work(pipeline, 0, 1), second = work(pipeline, 1, 1);
  EXPECT_EQ(both.read, image);
  EXPECT_EQ(both.written, image);
  EXPECT_GT(both.again, first.again);
  const double loaded_again = (second.again + image) / 4;
  EXPECT_GT(both.operations + 20 * loaded_again, first.operations + second.operations);
  EXPECT_LT(both.operations, 1.1 * (first.operations + second.operations));
  EXPECT_GT(both.needs.static_shared, first.needs.static_shared);
  EXPECT_EQ(both.barriers, 2) << "before a, and before b";
  EXPECT_LT(cost(both), cost(first) + cost(second));
}

TEST_F(BlockCosts, OfPointsAreThoseOfThreads) {
  Stage a = point("a", in * 2.f);
  const BlockWork w = work(Pipeline("test", {a}), 0, 1);
  EXPECT_EQ(w.again, 0);
  EXPECT_EQ(w.accesses, 2 * extent * extent);
  EXPECT_EQ(w.needs.static_shared, 0);
  EXPECT_EQ(w.blocks, extent * extent / (4 * w.needs.threads));
  EXPECT_EQ(w.barriers, 0);
  const double copy = 2 * image / (0.9 * 4800e9);
  EXPECT_EQ(w.code, 100 + 4 * 3)
      << "a load, a product and a store of each pixel of a thread, and what is around them";
  EXPECT_NEAR(cost(w), copy + 2.44e-6 + w.code * 19 / 1980e6, 0.1 * copy);
}

TEST_F(BlockCosts, OfAScaledStageAreThoseOfThreadsUntilItMarches) {
  Stage a = blurred("a", in);
  const Accessor fine = a.border(Border::clamp());
  Stage half = stage("half", {in.width() / 2, in.height() / 2}, [&](Var x, Var y) {
    return fine(2 * x - 1, 2 * y) + fine(2 * x, 2 * y) + fine(2 * x + 1, 2 * y);
  });
  const Pipeline pipeline("test", {half});
  const BlockWork alone = work(pipeline, 1, 1), both = work(pipeline, 0, 2);
  EXPECT_EQ(alone.needs.static_shared, 0);
  EXPECT_EQ(alone.accesses, 4 * extent * extent / 4);
  EXPECT_EQ(both.read, image);
  EXPECT_EQ(both.written, image / 4);
  // 9 strips of 120 columns of 'half', 16 of 64 rows: of 'in' 240 columns and two sectors, 129 rows.
  EXPECT_EQ(both.again, (extent + 9 * 16) * (extent + 16) * 4 - image);
  EXPECT_EQ(cheapest(pipeline).groups.size(), 1u);
}

TEST_F(BlockCosts, OfAReductionAreThoseOfItsElements) {
  Stage a = blurred("a", in), b = blurred("b", a);
  const Pipeline pipeline("test", {reduce("sum", b, Reduce::sum())});
  const BlockWork alone = work(pipeline, 2, 1), all = work(pipeline, 0, 3);
  EXPECT_EQ(alone.accesses, 2 * extent * extent) << "loaded and accumulated";
  EXPECT_EQ(alone.blocks, extent * extent / 4096) << "parts";
  EXPECT_EQ(alone.batches, 4) << "of 4 of the 16 pixels of a thread";
  EXPECT_EQ(alone.barriers * alone.batches, 9);
  EXPECT_EQ(alone.needs.static_shared, 256 * 4);
  EXPECT_EQ(all.read, image);
  EXPECT_EQ(all.written, 4) << "the sum";
  EXPECT_EQ(all.blocks, 8 * 32) << "strips of 256 columns and 64 rows";
  EXPECT_EQ(all.batches, 17) << "of 4 rows, one before the first";
  EXPECT_EQ(all.barriers, 3 + 9 * 4 / 16.) << "before each pass, and 9 for each part of 16 rows";
  EXPECT_LT(cost(all), cost(work(pipeline, 0, 1)) + cost(work(pipeline, 1, 1)) + cost(alone));
  EXPECT_EQ(to_json(cheapest(pipeline).groups), R"({"groups":[["a"],["b","sum"]]})")
      << "a static tile of 'a' takes less than strips of it, which a reduction has";
}

TEST_F(BlockCosts, OfATileCountOnceWhatRowsOfPlanesHaveInCommon) {
  constexpr int planes = 8;
  const Accessor src = in.border(Border::clamp());
  Stage a = stage("a", {in.width(), planes, in.height()}, [&](Var x, Var y, Var z) {
    return src(x - 1, z) * src(x + 1, z) + cast<float>(y);  // a product of two loads, and a sum
  });
  const Accessor rows = a.border(Border::clamp());
  Stage b = stage("b", a.size(), [&](Var x, Var y, Var z) { return rows(x, y, z) + rows(x, y, z + 1); });
  const Pipeline pipeline("test", {b});
  const Kernels kernels(pipeline.ir(), [](const ir::Stage&, const ir::Stage&) { return false; });
  const Memory memory{most_shared_bytes};
  const Group group = group_of(kernels.loops(), memory).group.value();
  const auto work_with = [&](int lines) {
    Choices asked;
    asked.of_blocks = true, asked.traversal = Traversal::Static;
    asked.lines = lines, asked.height = fixed(8);
    return block_work_of(plan_of(group, memory, asked).plan.value(), {{"in", {2048, 2048}}}, hopper);
  };
  const double pixels = 2048. * 2048 * planes * 9 / 8;  // a row more than the 8 of a tile
  const BlockWork one = work_with(1), four = work_with(4);
  EXPECT_EQ(one.operations - four.operations, 3 / 4. * pixels);
  EXPECT_EQ(one.accesses - four.accesses, 2 * 3 / 4. * pixels);
}

TEST_F(BlockCosts, OfStagesInTurnAreThoseOfOneBlocksRounds) {
  const Stage table = stage("table", {1000}, [](Var x) { return 2.f * cast<float>(x); });
  const Accessor src = in.border(Border::clamp()), at = table.border(Border::clamp());
  const Stage small = stage("small", {40, 30}, [&](Var x, Var y) { return src(x, y) + at(x) + at(y); });
  const Pipeline pipeline("test", {small});
  const Kernels kernels(pipeline.ir(), [](const ir::Stage&, const ir::Stage&) { return false; });
  const Memory memory{most_shared_bytes};
  const BlockWork w = block_work_of(plan_of(*group_in_turn(kernels.loops(), memory).group, memory),
                                    nominal_sizes(pipeline.ir()), hopper);
  EXPECT_EQ(w.blocks, 1);
  EXPECT_EQ(w.needs.threads, 512);
  EXPECT_EQ(w.batches, 2 + 3) << "1000 and 1200 pixels by 512 threads";
  EXPECT_DOUBLE_EQ(w.waits * w.batches, 0.3 * 3) << "the table reads nothing";
  EXPECT_EQ(w.barriers * w.batches, 2);
  EXPECT_EQ(w.written, (1000 + 1200) * 4) << "both are stored";
}

TEST_F(BlockCosts, OfMembersThatReadMemoryWaitForIt) {
  Stage a = blurred("a", in);
  Image<float> other("other", in.size());
  Stage b = convolve("b", a.border(Border::clamp()), blur), c = point("c", b + other);
  const Pipeline pipeline("test", {c});
  const std::size_t count = pipeline.ir().stages.size();
  EXPECT_EQ(work(pipeline, 0, count).waits, 2) << "for the rows of 'in', and for 'other'";
}

TEST_F(BlockCosts, MakeOneKernelOfWhatMemoryLimits) {
  const Mask cross{{0.f, 1.f, 0.f}, {1.f, -4.f, 1.f}, {0.f, 1.f, 0.f}};
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = convolve("c", b.border(Border::clamp()), cross);
  const Pipeline pipeline("test", {c});
  EXPECT_EQ(to_json(cheapest(pipeline).groups), R"({"groups":[["a","b","c"]]})");
  const Grouping small = cheapest(pipeline, {1000});
  EXPECT_EQ(small.groups.size(), 3u);
  EXPECT_EQ(small.why.at("a"),
            "'b' reads it at other pixels than its own; it is not computed with 'b', since the rows of 'in', "
            "'a' do not fit 1000 bytes of shared memory");
}

TEST_F(BlockCosts, StoreWhatTakesLongerThanMemory) {
  Stage a = stage("a", in.size(), [&](Var x, Var y) {
    Expr sum = 0.f;
    for (int i = 1; i < 96; ++i) sum = sum + exp(in(x, y) * float(i));
    return sum;
  });
  Stage b = stage("b", in.size(), [&](Var x, Var y) {
    const Accessor far = a.border(Border::clamp());
    return far(x - 30, y) + far(x + 30, y);
  });
  const Grouping grouping = cheapest(Pipeline("test", {b}));
  EXPECT_EQ(to_json(grouping.groups), R"({"groups":[["a"],["b"]]})");
  EXPECT_EQ(grouping.why.at("a").find("'b' reads it at other pixels than its own; computed with 'b' the two "
                                      "would take "),
            0u)
      << grouping.why.at("a");
}

TEST_F(BlockCosts, AreFoundWhateverSizesSuit) {
  Stage a = stage("a", {in.width() - 5000, in.height()}, [&](Var x, Var y) { return in(x + 5000, y); });
  Stage b = stage("b", a.size(), [&](Var x, Var y) { return a.border(Border::clamp())(x, y + 1); });
  const Pipeline pipeline("test", {b});
  for (const std::size_t stage : {0, 1}) {
    const double seconds = cost(work(pipeline, stage, 1));
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 1);
  }
}

}  // namespace
}  // namespace weft::schedule
