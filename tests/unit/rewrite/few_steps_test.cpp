// Evolutions of a few steps that become stages.
#include "rewrite/few_steps.h"

#include <gtest/gtest.h>

#include <weft/weft.hpp>

#include "ir/print.h"
#include "stage_sources.h"

namespace weft::few_steps_test {
namespace {

Expr mean_of_neighbours(const Field<float>& u, Var x, Var y) { return .5f * (u(x - 1, y) + u(x, y + 1)); }

/// Bytes become floats, which evolve, and bytes again.
Pipeline between_points(const Expr& steps) {
  Image<std::uint8_t> in("in");
  Field<float> u("u", point("start", cast<float>(in)));
  const Stage u_end = evolve("u_end", u, steps, [&](Var x, Var y) { return mean_of_neighbours(u, x, y); });
  return Pipeline("p", point("out", saturate<std::uint8_t>(u_end)));
}

std::string stages(const Pipeline& pipeline) { return stage_sources(rewrite::few_steps(pipeline.ir(), 2)); }

TEST(FewSteps, BecomeStages) {
  EXPECT_EQ(stages(between_points(3)),
            "start: in; u_end@1: start; u_end@2: u_end@1; u_end: u_end@2; out: u_end");
  EXPECT_EQ(stages(between_points(1)), "start: in; u_end: start; out: u_end");
}

TEST(FewSteps, NoneIsACopy) {
  for (const int steps : {0, -1})
    EXPECT_EQ(stages(between_points(steps)), "start: in; u_end: start; out: u_end");
}

TEST(FewSteps, NoneNeedsNothingElse) {
  Image<float> in("in");
  const Stage weight = stage("weight", in.size(), [&](Var x, Var y) { return cast<float>(x + y); });
  Field<float> u("u", in);
  const auto update = [&](Var x, Var y) { return weight(x, y) * u(x, y); };
  EXPECT_EQ(stages(Pipeline("p", evolve("out", u, 0, update))), "out: in");
  EXPECT_EQ(stages(Pipeline("p", evolve("out", u, 1, update))), "weight:; out: weight in");
}

TEST(FewSteps, AreOfVolumesWhereTheyMayBe) {
  Image<float> in("in", 3);
  Field<float> u("u", in);
  const Pipeline pipeline("p", evolve("out", u, 2, [&](Var x, Var y, Var z) { return u(x, y, z - 1); }));
  EXPECT_EQ(stages(pipeline), "out: in");
  EXPECT_EQ(stage_sources(rewrite::few_steps(pipeline.ir(), 3)), "out@1: in; out: out@1");
}

TEST(FewSteps, AreEightAtMost) {
  EXPECT_EQ(rewrite::few_steps(between_points(8).ir(), 2).stages.size(), 10U);
  EXPECT_EQ(stages(between_points(9)), stage_sources(between_points(9).ir()));
}

TEST(FewSteps, AreKnown) {
  const Param<int> steps("steps", 2);
  EXPECT_EQ(stages(between_points(steps)), "start: in; u_end: start; out: u_end");
  const ir::Pipeline same = rewrite::few_steps(between_points(steps).ir(), 2);
  EXPECT_TRUE(std::holds_alternative<ir::Evolve>(same.stages.at(1)->definition));
}

TEST(FewSteps, FollowOneAnother) {
  Image<float> in("in");
  Field<float> u("u", in);
  const Stage first = evolve("first", u, 2, [&](Var x, Var y) { return mean_of_neighbours(u, x, y); });
  Field<float> v("v", first);
  const Stage second =
      evolve("second", v, 2, [&](Var x, Var y) { return mean_of_neighbours(v, x, y) + first(x, y); });
  EXPECT_EQ(stages(Pipeline("p", second)),
            "first@1: in; first: first@1; second@1: first; second: second@1 first");
}

TEST(FewSteps, LookFurtherBack) {
  Image<float> in("in");
  Field<float> u("u", in);
  const Stage wave = evolve("wave", u, 3, [&](Var x, Var y) { return 2.f * u(x + 1, y) - u.back(2)(x, y); });
  EXPECT_EQ(stages(Pipeline("p", wave)), "wave@1: in; wave@2: wave@1 in; wave: wave@2 wave@1");
}

TEST(FewSteps, AreCounted) {
  Image<float> in("in");
  Field<float> u("u", in);
  const Stage out = evolve("out", u, 3, [&](Var x, Var y) { return u(x, y) + cast<float>(step_number()); });
  const ir::Pipeline pipeline = rewrite::few_steps(Pipeline("p", out).ir(), 2);
  const auto value = [&](std::size_t s) {
    return ir::to_string(std::get<ir::Pure>(pipeline.stages.at(s)->definition).cases.at(0).value);
  };
  EXPECT_EQ(value(0), "in(x, y) + f32(0)");
  EXPECT_EQ(value(2), "out@2(x, y) + f32(2)");
}

TEST(FewSteps, AreOfOneFieldOfAnImage) {
  Image<float> in("in"), line("line", 1);
  Field<float> u("u", in), v("v", in), w("w", line);
  const std::vector<Stage> two = evolve(2, {update("a", u, [&](Var x, Var y) { return v(x, y); }),
                                            update("b", v, [&](Var x, Var y) { return u(x, y); })});
  const Pipeline fields("p", Outputs{two[0], two[1]});
  EXPECT_EQ(stages(fields), stage_sources(fields.ir()));
  const Pipeline of_line("p", evolve("c", w, 2, [&](Var x) { return w(x - 1); }));
  EXPECT_EQ(stages(of_line), stage_sources(of_line.ir()));
}

}  // namespace
}  // namespace weft::few_steps_test
