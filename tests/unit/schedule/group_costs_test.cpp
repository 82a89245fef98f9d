// The model of what groups cost a CPU.
#include "plan/core_costs.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "plan/planner.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"

namespace weft::schedule::group_costs_test {

using namespace plan;

namespace {

const Mask blur{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}, {1.f, 2.f, 1.f}};
constexpr double image = 2048. * 2048 * 4;  // bytes

class GroupCosts : public testing::Test {
 protected:
  const Image<float> in{"in"};

  Stage blurred(const char* name, const Source& source) {
    return convolve(name, source.border(Border::clamp()), blur);
  }
  /// Of `count` stages from `first` on, in one group.
  static CoreWork work(const Pipeline& pipeline, std::size_t first, std::size_t count) {
    const Kernels nothing_in_place(pipeline.ir(), [](const ir::Stage&, const ir::Stage&) { return false; });
    const std::vector<Loop>& all = nothing_in_place.loops();
    const std::vector<Loop> members(all.begin() + first, all.begin() + first + count);
    return core_work_of(plan_of(group_of(members).group.value(), {}), nominal_sizes(pipeline.ir()));
  }
  static CoreCost cost(const Pipeline& pipeline, std::size_t first, std::size_t count) {
    return cost_of(work(pipeline, first, count));
  }
};

TEST_F(GroupCosts, MemoryMovesWhatIsReadOutsideAndTheResult) {
  Stage a = blurred("a", in), b = blurred("b", a), c = point("c", b + in);
  const Pipeline pipeline("test", {c});
  EXPECT_EQ(work(pipeline, 0, 1).read, image);
  EXPECT_EQ(work(pipeline, 2, 1).read, 2 * image);
  EXPECT_EQ(work(pipeline, 1, 2).read, 2 * image);
  EXPECT_EQ(work(pipeline, 0, 3).read, image);
  EXPECT_EQ(work(pipeline, 0, 3).written, image);
}

TEST_F(GroupCosts, WhatIsInPlaceIsNeitherLoadedNorStored) {
  Stage a = point("a", in * 2.f), b = point("b", a + 1.f);
  const Pipeline pipeline("test", {b});
  const auto loops = [&](bool together) {
    const Kernels kernels(pipeline.ir(), [&](const ir::Stage&, const ir::Stage&) { return together; });
    return kernels.loops();
  };
  EXPECT_EQ(loops(false).size(), 2u);
  ASSERT_EQ(loops(true).size(), 1u);
  EXPECT_EQ(loops(true)[0].operations, (analysis::Operations{2, 0, 1}));
}

TEST_F(GroupCosts, ValuesOfALoopAreNeitherLoadedNorStored) {
  // a is read at the pixel by both, which are in one loop
  Stage a = blurred("a", in), b = point("b", a * a), c = point("c", b + a);
  const Pipeline pipeline("test", {c});
  const double pixels = image / 4;
  const double as_loops =
      work(pipeline, 0, 1).accesses + work(pipeline, 1, 1).accesses + work(pipeline, 2, 1).accesses;
  // Not stored and loaded: a stored, and loaded by b and c; b stored, and loaded by c.
  EXPECT_NEAR(work(pipeline, 0, 3).accesses / pixels, as_loops / pixels - 5, 0.3) << "and ends of rows";
}

TEST_F(GroupCosts, PixelsAtTheEndsOfRowsAreComputedOneByOne) {
  Stage a = blurred("a", in), b = point("b", in * 2.f);
  Stage inner = convolve("c", in.border(Border::clamp()), Mask{{1.f, 1.f, 1.f, 1.f, 1.f}});
  const Pipeline one("one", {a}), none("none", {b}), two("two", {inner});
  const auto per_pixel = [](const Pipeline& p) {
    return work(p, 0, 1).operations / static_cast<double>(analysis::operations(*p.ir().stages[0]).alu);
  };
  const double pixels = 2048. * 2048;
  EXPECT_EQ(per_pixel(none), pixels);
  EXPECT_EQ(per_pixel(one), pixels + 2 * 2048 * (machine::vector_values - 1));
  EXPECT_EQ(per_pixel(two), pixels + 4 * 2048 * (machine::vector_values - 1));
  const Image<std::uint8_t> bytes("bytes");
  const Pipeline narrow("narrow", {local("d", bytes.border(Border::clamp()), Domain(3, 3), Local::Max)});
  EXPECT_EQ(per_pixel(narrow), pixels + 2 * 2048 * (4 * machine::vector_values - 1));
}

TEST_F(GroupCosts, EveryStripBeginsItsRows) {
  Stage a = blurred("a", in), b = blurred("b", a);
  const Pipeline pipeline("test", {b});
  EXPECT_EQ(work(pipeline, 0, 1).rows, 2048);
  // Rows of the image, of a and of b, in as many strips as stand side by side.
  EXPECT_GT(work(pipeline, 0, 2).rows, 3 * 2048);
}

TEST_F(GroupCosts, OfAReductionAreThoseOfItsElements) {
  Stage a = blurred("a", in), b = blurred("b", a);
  const Pipeline pipeline("test", {reduce("sum", b, Reduce::sum())});
  const double pixels = image / 4;
  EXPECT_EQ(work(pipeline, 2, 1).accesses, 2 * pixels) << "loaded and accumulated";
  EXPECT_EQ(work(pipeline, 2, 1).rows, 2048);
  EXPECT_EQ(work(pipeline, 2, 1).read, image);
  EXPECT_EQ(work(pipeline, 0, 3).written, 4) << "the sum";
  // A strip is as wide as the image: two rows to a part, 32 of them to a strip; two more of a are computed.
  const double rows_of_a = 2048 + 2. * 2048 / 32;
  const double operations_of_a =
      2050 * rows_of_a * static_cast<double>(analysis::operations(*pipeline.ir().stages[0]).alu);
  EXPECT_EQ(work(pipeline, 0, 3).operations - work(pipeline, 1, 2).operations, operations_of_a);
  EXPECT_LT(cost(pipeline, 0, 3).total, cost(pipeline, 0, 1).total + cost(pipeline, 1, 2).total);
  const auto found =
      cheapest_groups(pipeline.ir(), Tiling::March, {}, cpu_costs(nominal_sizes(pipeline.ir())));
  EXPECT_EQ(found.groups, (Groups{{"a", "b", "sum"}}));
}

TEST_F(GroupCosts, OfAScheduleAreThoseOfItsGroups) {
  Stage a = blurred("a", in), b = blurred("b", a), c = point("c", b + in);
  const Pipeline pipeline("test", {c});
  const ir::Sizes sizes = nominal_sizes(pipeline.ir());
  const auto costs = [&](const Groups& groups) {
    return costs_of(schedule_of_groups(pipeline.ir(), {groups, {}}, Tiling::March).schedule.value().kernels,
                    sizes);
  };
  ASSERT_EQ(costs({{"a", "b", "c"}}).size(), 1u);
  EXPECT_EQ(total_of(costs({{"a", "b", "c"}})), cost(pipeline, 0, 3).total);
  const auto apart = costs({{"b", "c"}});
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].result, "a");
  EXPECT_EQ(apart[1].result, "c");
  EXPECT_EQ(total_of(apart), apart[0].cost.total + apart[1].cost.total);
}

TEST_F(GroupCosts, TheCheapestComeFirst) {
  Stage a = blurred("a", in), b = blurred("b", a), c = blurred("c", b);
  const Pipeline pipeline("test", {c});
  const ir::Sizes sizes = nominal_sizes(pipeline.ir());
  const std::vector<Grouping> found =
      cheapest_groupings(pipeline.ir(), Tiling::March, {}, cpu_costs(sizes), 10);
  ASSERT_EQ(found.size(), 4u) << "a and b with their reader, or not";
  EXPECT_EQ(found[0].groups, cheapest_groups(pipeline.ir(), Tiling::March, {}, cpu_costs(sizes)).groups);
  double before = 0;
  for (const Grouping& grouping : found) {
    const auto schedule = schedule_of_groups(pipeline.ir(), grouping, Tiling::March).schedule.value();
    const double total = total_of(costs_of(schedule.kernels, sizes));
    EXPECT_GE(total, before);
    before = total;
  }
}

TEST_F(GroupCosts, ArithmeticAndAccessesOverlap) {
  const machine::CpuSpeeds& cpu = machine::cpu_speeds();
  const double second_of_both = cost_of({0, 0, cpu.operations.value, 0, cpu.accesses.value, 0}).compute;
  EXPECT_EQ(second_of_both, 1);
  EXPECT_EQ(cost_of({0, 0, 0, cpu.divisions.value, cpu.accesses.value, 0}).compute, 2);
  const CoreCost all = cost_of({cpu.bytes.value, cpu.bytes.value, 0, cpu.divisions.value, 0, 0});
  EXPECT_EQ(all.memory, 2);
  EXPECT_DOUBLE_EQ(all.total, 2 + cpu.exposed.value * 1 / 2 + cpu.kernel.value);
}

TEST_F(GroupCosts, PhasesOfThreeLanesAreNoVectors) {
  const auto of = [&](const Stage& doubled) { return work(Pipeline("test", {doubled}), 0, 1).accesses; };
  const auto doubled = [](const auto& image) {
    return stage("doubled", {image.width() * 2, image.height()},
                 [&](Var x, Var y) { return image(x / 2, y); });
  };
  const double pixels = 2 * image / 4, at_ends = 2048 * (machine::vector_values - 1);
  EXPECT_EQ(of(doubled(Image<Vec<float, 4>>("four"))), 4 * 2 * (pixels + at_ends));
  EXPECT_EQ(of(doubled(Image<Vec<float, 3>>("three"))), 3 * 2 * (machine::uneven_phases * pixels + at_ends));
}

TEST_F(GroupCosts, HalosAreComputedTwice) {
  Stage a = blurred("a", in), b = blurred("b", a), c = blurred("c", b);
  const Pipeline pipeline("test", {c});
  const double apart =
      work(pipeline, 0, 1).operations + work(pipeline, 1, 1).operations + work(pipeline, 2, 1).operations;
  const double together = work(pipeline, 0, 3).operations;
  EXPECT_GT(together, apart);
  EXPECT_LT(together, 1.2 * apart);
}

TEST_F(GroupCosts, EachStepOfASplitTileBeyondTheCachesGoesThroughMemory) {
  const Field<double> u("u", Image<double>("volume", 3));
  const Pipeline pipeline("test", evolve("s", u, 32, [&](Var x, Var y, Var z) {
                            return .5 * (u(x, y - 1, z) + u(x, y, z + 1));
                          }));
  const Group group = group_of({loop_of(*pipeline.ir().stages.at(0))}).group.value();
  const KernelPlan plan = plan_of(group, {}, {.steps = 32, .split = SplitChoices{}}).plan->several.at(0);
  const auto bytes_of_pixel = [&](std::int64_t extent) {
    const CoreWork work = core_work_of(plan, {{"volume", {extent, extent, extent}}});
    return (work.read + work.written) / static_cast<double>(extent * extent * extent);
  };
  EXPECT_NEAR(bytes_of_pixel(512) / bytes_of_pixel(64), 32, 1e-9);
}

TEST_F(GroupCosts, FewLargeKernelsBeatManySmallOnes) {
  Stage a = blurred("a", in), b = blurred("b", a);
  const Pipeline pipeline("test", {b});
  EXPECT_LT(cost(pipeline, 0, 2).total, cost(pipeline, 0, 1).total + cost(pipeline, 1, 1).total);
}

TEST_F(GroupCosts, WhatTakesLongerThanMemoryHadBetterBeComputedOnce) {
  Stage a = stage("a", in.size(), [&](Var x, Var y) {
    Expr sum = 0.f;
    for (int i = 1; i < 96; ++i) sum = sum + exp(in(x, y) * float(i));
    return sum;
  });
  Stage b = stage("b", in.size(), [&](Var x, Var y) {
    const Accessor far = a.border(Border::clamp());
    return far(x - 30, y - 30) + far(x + 30, y + 30);
  });
  const Pipeline pipeline("test", {b});
  const CoreCost together = cost(pipeline, 0, 2), first = cost(pipeline, 0, 1), second = cost(pipeline, 1, 1);
  EXPECT_GT(together.compute, together.memory);
  EXPECT_GT(together.total, first.total + second.total);
}

}  // namespace
}  // namespace weft::schedule::group_costs_test
