// Iterated stencils, compiled, against the interpreter.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Extents2 = std::vector<std::int64_t>;
const std::vector<Extents2> evolution_sizes = {{1, 1}, {1, 6}, {2, 2}, {3, 3}, {5, 4}, {67, 31}};

void expect_agreement_after_steps(const Outputs& outputs, Type type, const std::vector<Extents2>& all_sizes) {
  const Pipeline pipeline("p", Outputs(outputs).strict());
  const Program program = pipeline.compile(compile_options());
  for (const Extents2& size : all_sizes) {
    for (double steps : {-1, 0, 1, 2, 3, 17}) {
      SCOPED_TRACE(::testing::Message() << size[0] << " wide, " << steps << " steps");
      expect_agreement(program, pipeline, {{{"in", noise(type, size, 31)}}, {{"steps", steps}}, {}});
    }
  }
}

TEST(Evolve, FrozenHalo) {
  Image<float> in("in");
  Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const Stage heat = evolve("heat", u, steps, [&](Var x, Var y) {
    return .25f * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1));
  });
  expect_agreement_after_steps(heat, in.type(), evolution_sizes);
}

TEST(Evolve, EveryBorder) {
  for (const char* mode : {"clamp", "mirror", "mirror101", "repeat", "constant"}) {
    Image<std::int32_t> in("in");
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    auto src = u.border(Border::named(mode, 3));
    const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
      return sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y); }) - 8 * u(x, y);
    });
    expect_agreement_after_steps(out, in.type(), evolution_sizes);
  }
}

TEST(Evolve, InPlaceWhereOnlyTheOwnPixelIsRead) {
  Image<std::uint32_t> in("in");
  Param<int> steps("steps", 1);
  Field<std::uint32_t> u("u", in);
  expect_agreement_after_steps(
      evolve("out", u, steps, [&](Var x, Var y) { return u(x, y) * 1664525u + cast<unsigned>(x + y); }),
      in.type(), evolution_sizes);
}

/// Lanes are stored one by one, so that the next one must not read what the one before has become.
TEST(Evolve, LanesOfTheOwnPixel) {
  Image<Vec<std::int32_t, 3>> in("in");
  Param<int> steps("steps", 1);
  Field<Vec<std::int32_t, 3>> u("u", in);
  const Stage out =
      evolve("out", u, steps, [&](Var x, Var y) { return pack(Expr(1), Expr(1), u(x, y).lane(0)); });
  expect_agreement_after_steps(out, in.type(), evolution_sizes);
}

TEST(Evolve, DeeperPasts) {
  Image<std::int32_t> in("in", 1);
  Param<int> steps("steps", 1);
  Field<std::int32_t> u("u", in);
  const Stage out =
      evolve("out", u, steps, [&](Var x) { return u(x + 1) + u.back(2)(x - 3) - u.back(4)(x) * 2; });
  expect_agreement_after_steps(out, in.type(), {{1}, {4}, {5}, {300}});
}

TEST(Evolve, SeveralFieldsAndTheStepNumber) {
  Image<std::int32_t> in("in");
  Param<int> steps("steps", 1);
  Field<std::int32_t> ex("ex", in), ey("ey", in), hz("hz", in);
  const std::vector<Stage> after = evolve(
      steps, {update("ey_end", ey,
                     [&](Var x, Var y) {
                       return cases()
                           .when(Expr(y) == 0, step_number())
                           .otherwise(ey(x, y) - (hz(x, y) - hz.border(Border::clamp())(x, y - 1)) / 2);
                     }),
              update("ex_end", ex, [&](Var x, Var y) { return ex(x, y) - (hz(x, y) - hz(x - 1, y)) / 2; }),
              update("hz_end", hz, [&](Var x, Var y) {
                return hz(x, y) -
                       (ex.now()(x + 1, y) - ex.now()(x, y) + ey.now()(x, y + 1) - ey.now()(x, y)) * 7 / 10;
              })});
  expect_agreement_after_steps({after[2], after[0]}, in.type(), evolution_sizes);
}

TEST(Evolve, FreezeAndThreeDimensions) {
  Image<std::int16_t> in("in", 3);
  Param<int> steps("steps", 1);
  Field<std::int16_t> u("u", in);
  u.freeze(2);
  const Stage out = evolve("out", u, steps, [&](Var x, Var y, Var z) {
    return cast<std::int16_t>(u(x - 1, y, z) + u(x, y + 1, z) - u(x, y, z - 1));
  });
  expect_agreement_after_steps(out, in.type(), {{1, 1, 1}, {3, 3, 3}, {6, 4, 9}, {8, 7, 6}});
}

TEST(Evolve, FreezesPixelsOfSeveralLanes) {
  Image<Vec<std::int16_t, 3>> in("in");
  Param<int> steps("steps", 1);
  Field<Vec<std::int16_t, 3>> u("u", in);
  u.freeze(2);
  const Stage out =
      evolve("out", u, steps, [&](Var x, Var y) { return cast<std::int16_t>(u(x - 1, y) - u(x, y + 1)); });
  expect_agreement_after_steps(out, in.type(), evolution_sizes);
}

TEST(Evolve, AmongOtherStages) {
  Image<std::int32_t> in("in");
  Param<int> steps("steps", 1);
  Stage start = point("start", in / 3);
  Stage weight = stage("weight", in.size(), [&](Var x, Var y) { return cast<int>((x + y) % 3 - 1); });
  Field<std::int32_t> u("u", start);
  auto src = u.border(Border::repeat());
  Stage end =
      evolve("end", u, steps, [&](Var x, Var y) { return src(x - 1, y) + weight(x, y) * src(x, y + 1); });
  Stage total = reduce("total", end, Reduce::sum());
  expect_agreement_after_steps({point("out", end - start + total), end}, in.type(), evolution_sizes);
}

/// A few steps that are known become stages among the others.
TEST(Evolve, FewStepsAmongOtherStages) {
  for (const int steps : {0, 1, 2, 5, 8, 9}) {
    for (const char* mode : {"none", "clamp", "repeat", "constant"}) {
      SCOPED_TRACE(::testing::Message() << steps << " steps, border " << mode);
      const bool has_border = mode != std::string("none");
      Image<std::uint8_t> in("in"), slope("slope");
      Stage weight = stage("weight", in.size(), [&](Var x, Var y) {
        return .25f + .001f * cast<float>(slope.border(Border::clamp())(y, x));
      });
      Field<float> u("u", point("start", cast<float>(in)));
      u.freeze(has_border ? 0 : 1);
      const Accessor before = has_border ? u.border(Border::named(mode, 3)) : Accessor(u);
      const Accessor older = has_border ? u.back(2).border(Border::named(mode, 3)) : u.back(2);
      const Stage end = evolve("end", u, steps, [&](Var x, Var y) {
        return weight(x, y) * (before(x - 1, y) + before(x, y + 1)) + .5f * older(x + 1, y) +
               cast<float>(step_number());
      });
      const Pipeline pipeline("p", Outputs(point("out", saturate<std::uint8_t>(end))).strict());
      const Program program = pipeline.compile(compile_options());
      for (const Extents2& size : evolution_sizes)
        expect_agreement(
            program, pipeline,
            {{{"in", noise(in.type(), size, 31)}, {"slope", noise(in.type(), {9, 4}, 32)}}, {}, {}});
    }
  }
}

}  // namespace
}  // namespace weft::testing_support
