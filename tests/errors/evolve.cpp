// Mistakes in iterated stencils.
#include <weft/evolve.h>

#include "tests/errors/expect_error.h"

using namespace weft;

// ---- what a step may read ----

// Gauss-Seidel reads what the same step has just written; PolyBench's seidel-2d is the example.
TEST(Evolve, AFieldInPlace) {
  Field<float> u("u");
  auto now = u.now();
  std::string here;
  const auto body = [&](Var x, Var y) {
    here = NEXT_LINE();
    return (now(x - 1, y) + now(x, y - 1) + u(x, y) + u(x + 1, y)) / 4.f;
  };
  EXPECT_THROW(evolve("seidel2d", u, 3, body), Error);  // and `here` is known
  EXPECT_ERROR_AT(here, evolve("seidel2d", u, 3, body),
                  R"(HERE: error: update 'seidel2d' reads 'u' at the step that is being computed
  known the pixels of 'u' in a step are computed in any order
  help: read the step before: u(…) instead of u.now()(…))");
}

TEST(Evolve, AFieldThatIsUpdatedLater) {
  Field<float> u("u"), v("v", Image<float>("w", u.size()));
  std::string here;
  const auto first = [&](Var x, Var y) {
    here = NEXT_LINE();
    return u(x, y) + v.now()(x, y);
  };
  const auto second = [&](Var x, Var y) { return v(x, y) + u.now()(x, y); };
  EXPECT_THROW(evolve(1, {update("a", u, first)}), Error);  // and `here` is known
  EXPECT_ERROR_AT(here, evolve(1, {update("a", u, first), update("b", v, second)}),
                  R"(HERE: error: update 'a' reads 'v' at the step that is being computed
  known 'v' is updated after 'a' in a step
  help: read the step before: v(…) instead of v.now()(…))");
}

TEST(Evolve, StepsThatAreNotPast) {
  Field<float> u("u");
  const std::string rest = R"(
  needs at least 1
  help: back(1) is the step before; what an earlier update of the same step has made of it is now())";
  EXPECT_ERROR(u.back(0), "HERE: error: field 'u' is read 0 steps back" + rest);
  EXPECT_ERROR(u.back(-1), "HERE: error: field 'u' is read -1 steps back" + rest);
}

TEST(Evolve, AFieldWithoutAnUpdate) {
  Field<float> u("u"), v("v", Image<float>("w", u.size()));
  std::string here;
  const auto body = [&](Var x, Var y) {
    here = NEXT_LINE();
    return u(x, y) + v(x, y);
  };
  EXPECT_THROW(evolve("out", u, 1, body), Error);
  EXPECT_ERROR_AT(here, evolve("out", u, 1, body),
                  R"(HERE: error: update 'out' reads field 'v', which has no update in this evolve
  help: add an update of it, or read the image that it starts as)");
}

TEST(Evolve, FieldOutsideOfItsUpdates) {
  Field<float> u("u");
  Stage out = evolve("out", u, 1, [&](Var x, Var y) { return u(x, y) / 2.f; });
  std::string here = NEXT_LINE();
  Stage change = point("change", out - u);
  const std::string rest =
      " outside of its updates\n  help: read the stage that evolve() returns, or the image that the field "
      "starts as";
  EXPECT_ERROR_AT(here, Pipeline("p", change), "HERE: error: stage 'change' reads field 'u'" + rest);
  here = NEXT_LINE();
  Stage total = reduce("total", u, Reduce::sum());
  EXPECT_ERROR_AT(here, Pipeline("p", total), "HERE: error: stage 'total' reads field 'u'" + rest);
}

TEST(Evolve, StepNumberOutsideOfUpdates) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = point("out", in * step_number());
  EXPECT_ERROR_AT(here, Pipeline("p", out),
                  R"(HERE: error: stage 'out' uses the step number outside of an update
  help: step_number() has a meaning only in the updates that evolve() is given)");
}

TEST(Evolve, ReadsBeyondABorder) {
  Image<float> weight("weight", {16, 16});
  Field<float> u("u");
  std::string here;
  const auto body = [&](Var x, Var y) {
    here = NEXT_LINE();
    return u(x, y) * weight(x, y);
  };
  Stage out = evolve("out", u, 1, body);
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: 'out' reads 'weight' outside its box
  needs   weight x in [0, u.w - 1], y in [0, u.h - 1]
  defined weight x in [0, 15], y in [0, 15]
  such as x = 16, y = 0 for u.w = 17, u.h = 1
  help: read it through weight.border(Border::clamp()) or another mode, or make the box of 'out' smaller)");
}

// ---- how it is called ----

TEST(Evolve, NumberOfSteps) {
  Field<float> u("u");
  const auto body = [&](Var x, Var y) { return u(x, y) / 2.f; };
  const Param<int> steps("steps", 1);
  const Param<float> time("time", 1.f);
  const std::string rest =
      " has to be an integer constant or parameter\n  help: Param<int> steps(\"steps\", 1)";
  EXPECT_ERROR(evolve("out", u, time, body), "HERE: error: the number of steps" + rest);
  EXPECT_ERROR(evolve("out", u, steps * 2, body), "HERE: error: the number of steps" + rest);
  EXPECT_ERROR(evolve("out", u, reduce("least", Image<int>("n"), Reduce::min()), body),
               "HERE: error: the number of steps" + rest);
}

TEST(Evolve, OneFieldTwice) {
  Field<float> u("u");
  const auto body = [&](Var x, Var y) { return u(x, y) / 2.f; };
  EXPECT_ERROR(evolve(1, {update("a", u, body), update("b", u, body)}),
               R"(HERE: error: field 'u' is updated twice in a step, by 'a' and 'b'
  help: make one update of both, with cases())");
}

TEST(Evolve, NoUpdates) {
  EXPECT_ERROR(evolve(1, {}), R"(HERE: error: evolve is given no updates
  help: evolve(steps, {update("out", u, …)}))");
}

TEST(Evolve, TypeOfAnUpdate) {
  Field<float> u("u");
  EXPECT_ERROR(evolve("out", u, 1, [&](Var x, Var y) { return pack(u(x, y), u(x, y)); }),
               R"(HERE: error: an update of field 'u' is f32x2 but the field is f32
  help: give as many lanes as the field has: pack(a, b), or .lane(i))");
}

TEST(Evolve, UpdatesThatWouldNotFit) {
  Field<std::uint8_t> byte("byte");
  Field<float> real("real");
  Field<half> small("small");
  EXPECT_ERROR(evolve("out", byte, 1, [&](Var x, Var y) { return byte(x, y) * 2; }),
               R"(HERE: error: an update of field 'byte' is i32 but the field is u8
  help: say how it is to fit: saturate<std::uint8_t>(…) rounds and clamps, cast<std::uint8_t>(…) wraps)");
  EXPECT_ERROR(evolve("out", byte, 1, [&](Var x, Var y) { return byte(x, y) * .5f; }),
               R"(HERE: error: an update of field 'byte' is f32 but the field is u8
  help: say how it is to fit: saturate<std::uint8_t>(…) rounds and clamps, cast<std::uint8_t>(…) cuts off the fraction)");
  EXPECT_ERROR(evolve("out", real, 1, [&](Var x, Var y) { return real(x, y) * .1; }),
               R"(HERE: error: an update of field 'real' is f64 but the field is f32
  help: write cast<float>(…), which rounds; 0.5 is a double, 0.5f a float)");
  EXPECT_ERROR(evolve("out", real, 1, [&](Var x, Var) { return x; }),
               R"(HERE: error: an update of field 'real' is i64 but the field is f32
  help: write cast<float>(…), which rounds)");
  EXPECT_ERROR(evolve("out", small, 1, [&](Var x, Var y) { return small(x, y) + small(x, y); }),
               R"(HERE: error: an update of field 'small' is f32 but the field is f16
  help: write cast<half>(…), which rounds)");
  EXPECT_ERROR(
      evolve("out", byte, 1, [&](Var x, Var y) { return cases().when(x == 0, 256).otherwise(byte(x, y)); }),
      R"(HERE: error: an update of field 'byte' is i32 but the field is u8
  help: say how it is to fit: saturate<std::uint8_t>(…) rounds and clamps, cast<std::uint8_t>(…) wraps)");
}

TEST(Evolve, UpdatesThatFit) {
  Field<float> real("real");
  Field<std::int32_t> whole("whole");
  Image<std::uint16_t> in("in", real.size());
  evolve("a", real, 1,
         [&](Var x, Var y) { return cases().when(x == 0, 255).when(y == 0, .5).otherwise(in(x, y)); });
  evolve("b", whole, 1, [&](Var x, Var y) { return cases().when(x == 0, 2.f).otherwise(whole(x, y) > 3); });
}

TEST(Evolve, RankOfAnUpdate) {
  Field<float> u("u");
  EXPECT_ERROR(evolve("out", u, 1, [&](Var x) { return u(x, x); }),
               R"(HERE: error: the body of 'out' takes 1 coordinate but runs over 2 dimensions
  help: give one coordinate per dimension: [&](Var x, Var y) { … })");
  EXPECT_ERROR(evolve("out", u, 1, [&](Var x, Var) { return u(x); }),
               "HERE: error: 'u' is read with 1 index\n  needs 2, one per dimension");
}

TEST(Evolve, TypeOfTheStart) {
  Image<std::uint8_t> in("in");
  EXPECT_ERROR(Field<float>("u", in),
               R"(HERE: error: field 'u' is f32 but starts as 'in', which is u8
  help: start from point("start", …) of the same type, or make it a Field of u8 pixels)");
}
