// Several steps of an evolution in one kernel, against the interpreter: as many steps as tiles take, one more, one
// less; images smaller than a window and larger than a tile.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Size = std::vector<std::int64_t>;

/// `at_once` steps of 'out', in tiles of that extent, whose passes compute `rows` rows at a time.
CompileOptions with_steps(int at_once, const std::string& tile = "[64, 16]",
                          const std::string& rows = "\"all\"") {
  CompileOptions options = compile_options();
  options.schedule = R"({"groups": [], "kernels": {"out": {"steps": )" + std::to_string(at_once) +
                     R"(, "levels": [{"kind": "core", "extent": )" + tile +
                     R"(}, {"kind": "row", "extent": ["all", )" + rows + "]}]}}}";
  return options;
}

void expect_agreement_in_tiles(const Outputs& outputs, Type type,
                               std::initializer_list<int> at_once = {2, 4}) {
  const Pipeline pipeline("p", Outputs(outputs).strict());
  int rows = 1;
  for (const int steps_at_once : at_once) {
    rows = 4 - rows;  // 3, then 1, and so on
    const Program program = pipeline.compile(with_steps(steps_at_once, "[64, 16]", std::to_string(rows)));
    for (const Size& size : {Size{1, 1}, {7, 5}, {33, 31}, {130, 70}, {300, 9}}) {
      for (const int steps :
           {-5, 0, 1, steps_at_once - 1, steps_at_once, steps_at_once + 1, 3 * steps_at_once + 1}) {
        SCOPED_TRACE(::testing::Message()
                     << size[0] << " wide, " << steps << " steps, " << steps_at_once << " at once");
        expect_agreement(program, pipeline, {{{"in", noise(type, size, 31)}}, {{"steps", steps}}, {}});
      }
    }
  }
}

TEST(StepsAtOnce, FrozenHalo) {
  Image<float> in("in");
  Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const Stage heat = evolve("out", u, steps, [&](Var x, Var y) {
    return .25f * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1));
  });
  expect_agreement_in_tiles(heat, in.type(), {2, 3, 8, 16, 18});
}

TEST(StepsAtOnce, FurtherToOneSideThanToTheOther) {
  Image<double> in("in");
  Param<int> steps("steps", 1);
  Field<double> u("u", in);
  const Stage upwind =
      evolve("out", u, steps, [&](Var x, Var y) { return .3 * u(x - 2, y + 1) + .7 * u(x, y); });
  expect_agreement_in_tiles(upwind, in.type());
}

TEST(StepsAtOnce, FurtherThanAVector) {
  Image<float> in("in");
  Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const Stage wide = evolve("out", u, steps, [&](Var x, Var y) {
    return .3f * u(x - 2, y) + .4f * u(x, y + 1) + .2f * u(x + 2, y);
  });
  expect_agreement_in_tiles(wide, in.type(), {16});
}

TEST(StepsAtOnce, EveryBorder) {
  for (const char* mode : {"clamp", "mirror", "mirror101", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    Image<std::int32_t> in("in");
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    auto src = u.border(Border::named(mode, 3));
    const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
      return sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y); }) - 8 * u(x, y);
    });
    expect_agreement_in_tiles(out, in.type(), {3});
  }
}

TEST(StepsAtOnce, OfBytesInThreesWithTheStepNumber) {
  Image<Vec<std::uint8_t, 3>> in("in");
  Param<int> steps("steps", 1);
  Field<Vec<std::uint8_t, 3>> u("u", in);
  const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
    return pack(u(x - 1, y).lane(1), u(x, y + 1).lane(2),
                cast<std::uint8_t>(u(x, y).lane(0) + step_number()));
  });
  expect_agreement_in_tiles(out, in.type());
}

TEST(StepsAtOnce, ReadOtherImages) {
  Image<float> in("in");
  Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
    return u(x, y) + .1f * (in(x, y) * (u(x - 1, y) - u(x + 1, y)) + in(x, y - 1) - u(x, y + 1));
  });
  expect_agreement_in_tiles(out, in.type());
}

/// `at_once` steps of 'out', a line, in lanes of vectors. Lines are shorter than a tile of `width` columns, or have one or two tiles
/// inside them.
void expect_agreement_in_lanes(const Stage& out, Type type, int at_once, std::int64_t width) {
  const Pipeline pipeline("p", Outputs(out).strict());
  CompileOptions options = compile_options();
  options.schedule = R"({"groups": [], "kernels": {"out": {"steps": )" + std::to_string(at_once) +
                     R"(, "levels": [{"kind": "vector", "order": "march"}]}}})";
  const Program program = pipeline.compile(options);
  for (const std::int64_t columns : {std::int64_t{1}, width, 2 * width + 12, 2 * width + 40, 4 * width + 5}) {
    for (const int steps : {at_once, 2 * at_once + 1}) {
      SCOPED_TRACE(::testing::Message() << columns << " wide, " << steps << " steps");
      expect_agreement(program, pipeline, {{{"in", noise(type, {columns}, 31)}}, {{"steps", steps}}, {}});
    }
  }
}

TEST(StepsAtOnce, InLanesOfLines) {
  for (const char* mode : {"", "clamp", "mirror", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    Image<float> in("in", 1);
    Param<int> steps("steps", 1);
    Field<float> u("u", in);
    const Stage out = evolve("out", u, steps, [&](Var x) {
      if (*mode == 0) return .25f * (u(x + 1) - 2.f * u(x) + u(x - 1)) + u(x);
      auto beyond = u.border(Border::named(mode, 7));
      return .3f * beyond(x - 2) + .5f * beyond(x) + .2f * beyond(x + 1);
    });
    expect_agreement_in_lanes(out, in.type(), 16, 7936);
  }
}

TEST(StepsAtOnce, InLanesThatReadOneSideAlone) {
  Image<double> in("in", 1);
  Param<int> steps("steps", 1);
  Field<double> u("u", in);
  expect_agreement_in_lanes(evolve("out", u, steps, [&](Var x) { return .5 * u(x - 1); }), in.type(), 3,
                            3968);
  const Stage right = evolve("out", u, steps, [&](Var x) { return .5 * u(x + 2) - .25 * u(x + 1); });
  expect_agreement_in_lanes(right, in.type(), 8, 3968);
}

TEST(StepsAtOnce, InLanesOfDoublesWithAParameter) {
  Image<double> in("in", 1);
  Param<int> steps("steps", 1);
  Param<double> speed("speed", .25);
  Field<double> u("u", in);
  const Stage right = evolve("out", u, steps, [&](Var x) { return u(x) - speed * (u(x) - u(x - 1)) / 1.5; });
  expect_agreement_in_lanes(right, in.type(), 3, 3968);
  const Stage both = evolve("out", u, steps, [&](Var x) {
    return .1 * u(x - 3) + .2 * u(x - 1) + .4 * sqrt(u(x) * u(x)) + .2 * u(x + 1) + .1 * u(x + 3);
  });
  expect_agreement_in_lanes(both, in.type(), 8, 3968);
}

TEST(StepsAtOnce, OfLines) {
  for (const char* mode : {"", "clamp", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    Image<std::int32_t> in("in", 1);
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    const Stage out = evolve("out", u, steps, [&](Var x) {
      if (*mode == 0) return u(x - 1) + 3 * u(x + 2) + step_number();
      auto beyond = u.border(Border::named(mode, 7));
      return beyond(x - 1) + 3 * beyond(x + 2);
    });
    const Pipeline pipeline("p", out);
    const Program program = pipeline.compile(with_steps(3));
    for (const std::int64_t width : {1, 4, 5, 63, 64, 300}) {
      for (const int count : {0, 2, 3, 4, 10}) {
        SCOPED_TRACE(::testing::Message() << width << " wide, " << count << " steps");
        expect_agreement(program, pipeline,
                         {{{"in", noise(in.type(), {width}, 31)}}, {{"steps", count}}, {}});
      }
    }
  }
}

TEST(StepsAtOnce, OfVolumes) {
  int planes = 1;  // at a time: 2, 3, 1, and so on
  for (const char* mode : {"", "clamp", "mirror", "mirror101", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    Image<std::int32_t> in("in", 3);
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    const Stage out = evolve("out", u, steps, [&](Var x, Var y, Var z) {
      const Accessor src = *mode == 0 ? Accessor(u) : u.border(Border::named(mode, 7));
      return src(x - 1, y, z) + 3 * src(x + 2, y, z) - src(x, y - 1, z) + src(x, y + 2, z) -
             5 * src(x, y, z - 2) + src(x, y, z + 1) + step_number();
    });
    const Pipeline pipeline("p", out);
    planes = planes % 3 + 1;
    const Program program =
        pipeline.compile(with_steps(3, "[64, 4, 12]", "\"all\", " + std::to_string(planes)));
    for (const Size& size : {Size{1, 1, 1}, {5, 7, 3}, {33, 31, 9}, {130, 9, 20}, {70, 5, 40}}) {
      for (const int count : {0, 2, 3, 4, 7}) {
        SCOPED_TRACE(::testing::Message() << ::testing::PrintToString(size) << ", " << count << " steps");
        expect_agreement(program, pipeline, {{{"in", noise(in.type(), size, 31)}}, {{"steps", count}}, {}});
      }
    }
  }
}

/// With noise in all inputs, which have the same size.
void expect_agreement_of_fields(const Outputs& outputs, const std::vector<std::string>& inputs, Type type,
                                std::initializer_list<int> at_once = {2, 3}) {
  const Pipeline pipeline("p", Outputs(outputs).strict());
  for (const int steps_at_once : at_once) {
    const Program program =
        pipeline.compile(with_steps(steps_at_once, "[64, 16]", steps_at_once == 2 ? "2" : "3"));
    for (const Size& size : {Size{1, 1}, {7, 5}, {33, 31}, {130, 70}, {300, 9}}) {
      for (const int steps :
           {0, 1, steps_at_once, steps_at_once + 1, 2 * steps_at_once, 3 * steps_at_once + 2}) {
        SCOPED_TRACE(::testing::Message()
                     << size[0] << " wide, " << steps << " steps, " << steps_at_once << " at once");
        Arguments arguments{{}, {{"steps", steps}}, {}};
        unsigned seed = 31;
        for (const std::string& input : inputs) arguments.images.emplace(input, noise(type, size, seed++));
        expect_agreement(program, pipeline, arguments);
      }
    }
  }
}

TEST(StepsAtOnce, OfFieldsThatReadOneAnother) {
  Image<float> in("in"), other("other", in.size());
  Param<int> steps("steps", 1);
  Field<float> u("u", in), v("v", other);
  auto around = u.border(Border::mirror());
  const std::vector<Stage> after = evolve(
      steps, {update("out", u, [&](Var x, Var y) { return .5f * u(x, y) + .25f * (v(x, y) - v(x - 1, y)); }),
              update("second", v,
                     [&](Var x, Var y) { return v(x, y) + .5f * (u.now()(x, y) - around(x, y + 2)); })});
  expect_agreement_of_fields({after[0], after[1]}, {"in", "other"}, in.type());
  expect_agreement_of_fields({after[1], after[0]}, {"in", "other"}, in.type());
  expect_agreement_of_fields(after[0], {"in", "other"}, in.type());
}

TEST(StepsAtOnce, OfFieldsThatReadOnlyWhatWas) {
  Image<float> in("in"), other("other", in.size());
  Param<int> steps("steps", 1);
  Field<float> u("u", in), v("v", other);
  const std::vector<Stage> after =
      evolve(steps, {update("out", u, [&](Var x, Var y) { return v(x, y) - .5f * u(x, y); }),
                     update("second", v, [&](Var x, Var y) { return .5f * (u(x - 1, y) + u(x, y - 1)); })});
  expect_agreement_of_fields({after[0], after[1]}, {"in", "other"}, in.type());
}

TEST(StepsAtOnce, OfAFieldThatLooksFurtherBack) {
  Image<double> in("in");
  Param<int> steps("steps", 1);
  Field<double> u("u", in);
  const Stage wave = evolve("out", u, steps, [&](Var x, Var y) {
    return 1.5 * u(x, y) - u.back(2)(x, y) + .125 * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1));
  });
  expect_agreement_of_fields(wave, {"in"}, in.type(), {2, 3, 4});
}

TEST(StepsAtOnce, OfFieldsThatLookBackDifferently) {
  Image<std::int32_t> in("in"), other("other", in.size());
  Param<int> steps("steps", 1);
  Field<std::int32_t> u("u", in), v("v", other);
  const std::vector<Stage> after = evolve(
      steps, {update("out", u, [&](Var x, Var y) { return u(x + 1, y) - u.back(3)(x, y - 1) + v(x, y); }),
              update("second", v, [&](Var x, Var y) { return v.back(2)(x, y + 1) + u.now()(x, y); })});
  expect_agreement_of_fields({after[0], after[1]}, {"in", "other"}, in.type(), {3, 4});
}

TEST(StepsAtOnce, OfFieldsOfPixels) {
  Image<Vec<std::uint8_t, 3>> in("in"), other("other", in.size());
  Param<int> steps("steps", 1);
  Field<Vec<std::uint8_t, 3>> u("u", in), v("v", other);
  const std::vector<Stage> after = evolve(
      steps,
      {update("out", u,
              [&](Var x, Var y) { return pack(v(x - 1, y).lane(1), u(x, y + 1).lane(2), v(x, y).lane(0)); }),
       update("second", v, [&](Var x, Var y) { return cast<std::uint8_t>(u.now()(x, y) + v(x, y)); })});
  expect_agreement_of_fields({after[0], after[1]}, {"in", "other"}, in.type());
}

TEST(StepsAtOnce, OfFieldsThatAreVolumes) {
  Image<float> in("in", 3), other("other", in.size());
  Param<int> steps("steps", 1);
  Field<float> u("u", in), v("v", other);
  const std::vector<Stage> after = evolve(
      steps,
      {update("out", u,
              [&](Var x, Var y, Var z) { return u(x, y, z) - .5f * (v(x, y, z + 1) - v(x, y - 1, z)); }),
       update("second", v, [&](Var x, Var y, Var z) {
         return v(x, y, z) + .25f * (u.now()(x, y, z) - u.now()(x - 1, y, z - 1));
       })});
  const Pipeline pipeline("p", Outputs({after[0], after[1]}).strict());
  const Program program = pipeline.compile(with_steps(2, "[64, 4, 8]"));
  for (const Size& size : {Size{1, 1, 1}, {5, 7, 3}, {33, 31, 9}, {130, 9, 20}}) {
    for (const int count : {0, 1, 2, 5}) {
      SCOPED_TRACE(::testing::Message() << ::testing::PrintToString(size) << ", " << count << " steps");
      expect_agreement(program, pipeline,
                       {{{"in", noise(in.type(), size, 31)}, {"other", noise(in.type(), size, 32)}},
                        {{"steps", count}},
                        {}});
    }
  }
}

/// Why there is no kernel of two steps.
std::string refusal(const Outputs& outputs) {
  try {
    Pipeline("p", outputs).compile(with_steps(2));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(StepsAtOnce, ThatNoKernelTakesAreRefusedWithTheReason) {
  Image<float> in("in"), line("line", 1);
  Param<int> steps("steps", 1);
  Field<float> u("u", in), w("w", line), unread("unread", line);
  const std::string none = "pipeline 'p' cannot follow the schedule: 2 steps of 'out' are no kernel: ";
  EXPECT_EQ(refusal(evolve("out", u, steps, [&](Var x, Var y) { return u(x - 1, y) + u.back(3)(x, y); })),
            none + "'out' is read 3 steps back");
  EXPECT_EQ(refusal(evolve("out", w, steps, [&](Var x) { return w(x - 1) + line(x); })),
            none + "'out' reads 'line', which is a line, too");
  EXPECT_EQ(refusal(evolve("out", unread, steps, [&](Var x) { return cast<float>(x); })),
            none + "'out' does not read its past");
  Field<float> wide("wide", in), small("small", Image<float>("few", {3, 4}));
  const std::vector<Stage> both =
      evolve(steps, {update("out", wide, [&](Var x, Var y) { return wide(x - 1, y); }),
                     update("other", small, [&](Var x, Var y) { return small(x, y - 1); })});
  EXPECT_EQ(refusal({both[0], both[1]}), none + "fields of several sizes change together");
}

}  // namespace
}  // namespace weft::testing_support
