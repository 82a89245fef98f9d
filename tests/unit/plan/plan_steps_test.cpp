// Which kernels take the steps of an evolution.
#include "plan/plan_steps.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <vector>

#include "follow.h"
#include "plan/block_strip.h"

namespace weft::plan::plan_steps_test {
namespace {

/// How many steps each of the kernels takes that take several.
std::vector<int> taken(int asked, const Memory& memory) {
  const Param<int> steps("steps", 1);
  const Field<float> u("u", Image<float>("in"));
  const Stage b = evolve("b", u, steps, [&](Var x, Var y) { return .5f * (u(x - 1, y) + u(x, y + 1)); });
  const auto found =
      follow(Pipeline("test", b).ir(),
             R"({"groups": [], "kernels": {"b": {"steps": )" + std::to_string(asked) + "}}}", memory);
  if (!found.schedule) throw Error(found.why);
  std::vector<int> kernels;
  for (const KernelPlan& kernel : found.schedule->kernels.at(0).several) kernels.push_back(kernel.steps);
  return kernels;
}

TEST(PlanSteps, HaveAKernelForTheRest) {
  const Memory cores, blocks{most_shared_bytes, true, 132};
  EXPECT_EQ(taken(16, cores), (std::vector{16, 4}));
  EXPECT_EQ(taken(8, cores), (std::vector{8}));
  EXPECT_EQ(taken(6, blocks), (std::vector{6, 2}));
  EXPECT_EQ(taken(4, blocks), (std::vector{4, 2}));
  EXPECT_EQ(taken(2, blocks), (std::vector{2}));
}

TEST(PlanSteps, OfARestDivideThoseBefore) {
  EXPECT_EQ(taken(18, {}), (std::vector{18})) << "4 would begin in the middle of 18";
  EXPECT_EQ(taken(5, {most_shared_bytes, true, 132}), (std::vector{5}));
}

}  // namespace
}  // namespace weft::plan::plan_steps_test
