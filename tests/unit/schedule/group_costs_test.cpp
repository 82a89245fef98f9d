// The model of what groups cost a CPU.
#include "schedule/group_costs.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace weft::schedule {
namespace {

const Mask blur{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}, {1.f, 2.f, 1.f}};
constexpr double image = 2048. * 2048 * 4;  // bytes

class GroupCosts : public testing::Test {
 protected:
  const Image<float> in{"in"};

  Stage blurred(const char* name, const Source& source) {
    return convolve(name, source.border(Border::clamp()), blur);
  }
  /// Of the stages from `first`, in one group, of which there are `count`.
  static GroupCost cost(const Pipeline& pipeline, std::size_t first, std::size_t count) {
    std::vector<StageReads> members;
    std::map<const ir::Stage*, double> operations;
    for (std::size_t s = first; s < first + count; ++s) {
      const ir::Stage& stage = *pipeline.ir().stages.at(s);
      members.push_back(reads_of(stage));
      operations[&stage] = operations_of(stage);
    }
    return cost_of(members, march_of(members).march.value(), operations, nominal_sizes(pipeline.ir()));
  }
};

TEST_F(GroupCosts, MemoryMovesWhatIsReadOutsideAndTheResult) {
  Stage a = blurred("a", in), b = blurred("b", a), c = point("c", b + in);
  const Pipeline pipeline("test", {c});
  EXPECT_EQ(cost(pipeline, 0, 1).memory, 2 * image);
  EXPECT_EQ(cost(pipeline, 2, 1).memory, 3 * image);
  EXPECT_EQ(cost(pipeline, 1, 2).memory, 3 * image);
  EXPECT_EQ(cost(pipeline, 0, 3).memory, 2 * image);
}

TEST_F(GroupCosts, HalosAreComputedTwice) {
  Stage a = blurred("a", in), b = blurred("b", a), c = blurred("c", b);
  const Pipeline pipeline("test", {c});
  const double apart =
      cost(pipeline, 0, 1).compute + cost(pipeline, 1, 1).compute + cost(pipeline, 2, 1).compute;
  const double together = cost(pipeline, 0, 3).compute;
  EXPECT_GT(together, apart);
  EXPECT_LT(together, 1.2 * apart);
}

TEST_F(GroupCosts, FewLargeKernelsBeatManySmallOnes) {
  Stage a = blurred("a", in), b = blurred("b", a);
  const Pipeline pipeline("test", {b});
  EXPECT_LT(cost(pipeline, 0, 2).total, cost(pipeline, 0, 1).total + cost(pipeline, 1, 1).total);
}

TEST_F(GroupCosts, WhatTakesLongerThanMemoryHadBetterBeComputedOnce) {
  Stage a = stage("a", in.size(), [&](Var x, Var y) {
    Expr sum = 0.f;
    for (int i = 1; i < 24; ++i) sum = sum + exp(in(x, y) * float(i));
    return sum;
  });
  Stage b = local("b", a.border(Border::clamp()), Domain(17, 17), Local::Max);
  const Pipeline pipeline("test", {b});
  const GroupCost together = cost(pipeline, 0, 2), first = cost(pipeline, 0, 1),
                  second = cost(pipeline, 1, 1);
  EXPECT_GT(together.compute, together.memory);
  EXPECT_GT(together.total, first.total + second.total);
}

}  // namespace
}  // namespace weft::schedule
