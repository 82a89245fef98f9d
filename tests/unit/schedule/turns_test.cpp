// Which kernels one block had better compute in turn, by models made up for each test.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "plan/block_strip.h"
#include "schedule/groups.h"

namespace weft::schedule {
namespace turns {

/// 1 for each kernel, and of one that is in turn 0.3 and so much for each stage.
plan::CostModel costs(double of_stage, const std::string& large = "") {
  return [=](const plan::KernelPlan& plan) {
    const bool has_large = plan.computed_of(large) != nullptr;
    if (!plan.is_in_turn()) return has_large ? 100. : 1.;
    return has_large ? 1000. : 0.3 + of_stage * static_cast<double>(plan.passes.size());
  };
}

const Mask cross{{0.f, 1.f, 0.f}, {1.f, 1.f, 1.f}, {0.f, 1.f, 0.f}};

/// Four windows, one after the other, and the sum of the last.
struct Chain {
  Image<float> in{"in"};
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  Stage b = convolve("b", a.border(Border::clamp()), cross);
  Stage c = convolve("c", b.border(Border::clamp()), cross);
  Stage d = convolve("d", c.border(Border::clamp()), cross);
  Stage total = reduce("total", d, Reduce::sum());
  ir::Pipeline pipeline = Pipeline("test", {d, total}).ir();

  Grouping in_turn(const plan::CostModel& model, const Groups& groups = {}) const {
    return with_turns(pipeline, {groups, {}}, Tiling::Any, {plan::most_shared_bytes}, model);
  }
};

TEST(Turns, AreOfKernelsThatTakeLongerApart) {
  const Chain s;
  const Grouping found = s.in_turn(costs(0.425));
  EXPECT_EQ(found.groups, (Groups{{"a", "b", "c", "d"}}));
  EXPECT_EQ(found.kernels.at("d").in_turn, true);
  EXPECT_EQ(found.why.at("d"),
            "one block computes 4 stages in turn, which should take 50 % less than 4 kernels");
  EXPECT_EQ(s.in_turn(costs(0.95)).groups, Groups{}) << "which saves little";
}

TEST(Turns, LeaveLargeKernelsAlone) {
  const Chain s;
  EXPECT_EQ(s.in_turn(costs(0.425, "c")).groups, (Groups{{"a", "b"}}));
  EXPECT_EQ(s.in_turn(costs(0.425, "b")).groups, (Groups{{"c", "d"}}));
}

TEST(Turns, TakeTheStagesOfGroupsApart) {
  const Chain s;
  const Grouping found = s.in_turn(costs(0.4), {{"a", "b"}});
  EXPECT_EQ(found.groups, (Groups{{"a", "b", "c", "d"}})) << "1.9 instead of 3";
  EXPECT_EQ(s.in_turn(costs(0.7), {{"a", "b"}}).groups, (Groups{{"a", "b"}, {"c", "d"}}))
      << "2.7 instead of 3";
}

TEST(Turns, AreForBlocks) {
  const Chain s;
  EXPECT_EQ(with_turns(s.pipeline, {}, Tiling::Any, {}, costs(0.1)).groups, Groups{});
}

TEST(Turns, StoreAllOfTheirStages) {
  const Chain s;
  const ScheduleOrWhy found =
      schedule_of_groups(s.pipeline, s.in_turn(costs(0.425)), Tiling::Any, {plan::most_shared_bytes});
  ASSERT_TRUE(found.schedule) << found.why;
  EXPECT_EQ(found.schedule->of("a").where(), "stored with d");
  EXPECT_EQ(found.schedule->kernels.size(), 2U) << "the sum has its own";
}

}  // namespace turns
}  // namespace weft::schedule
