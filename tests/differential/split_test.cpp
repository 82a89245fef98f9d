// Time steps in split tiles, against the interpreter: as many steps as bands have, one more, one less; images smaller than
// a window and larger than a tile; every scheme.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Size = std::vector<std::int64_t>;

/// Bands of 'out'; `tiles` as in a schedule's file.
CompileOptions split(int steps, const std::string& scheme, const std::string& tiles) {
  CompileOptions options = compile_options();
  options.schedule = R"({"groups": [], "kernels": {"out": {"steps": )" + std::to_string(steps) +
                     R"(, "split": {"scheme": ")" + scheme + R"(", "tiles": {)" + tiles + "}}}}}";
  return options;
}

constexpr const char* of_both = R"("x": {"pitch": 40, "top": 11}, "y": {"pitch": 24, "top": 5})";
constexpr const char* of_rows = R"("y": {"pitch": 24, "top": 5})";

void expect_agreement_in_split_tiles(const Outputs& outputs, Type type, int steps, const std::string& tiles,
                                     const std::vector<std::string>& schemes = {"colours", "merged", "fused"},
                                     const std::vector<Size>& sizes = {
                                         {1, 1}, {7, 5}, {33, 31}, {130, 70}, {300, 9}}) {
  const bool is_of_volume = sizes[0].size() > 2;  // which the interpreter takes long for
  std::vector<int> counts{-5, 0, 1, 2, steps - 1, steps, steps + 1, 3 * steps + 1};
  if (is_of_volume) counts = {0, steps - 1, 2 * steps + 1};
  const Pipeline pipeline("p", Outputs(outputs).strict());
  for (const std::string& scheme : schemes) {
    const Program program = pipeline.compile(split(steps, scheme, tiles));
    for (const Size& size : sizes) {
      for (const int count : counts) {
        SCOPED_TRACE(::testing::Message()
                     << scheme << ", " << size[0] << " wide, " << count << " steps in bands of " << steps);
        expect_agreement(program, pipeline, {{{"in", noise(type, size, 31)}}, {{"steps", count}}, {}});
      }
    }
  }
}

TEST(SplitTiles, FrozenHalo) {
  Image<float> in("in");
  Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const Stage heat = evolve("out", u, steps, [&](Var x, Var y) {
    return .25f * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1));
  });
  expect_agreement_in_split_tiles(heat, in.type(), 4, of_both);
  expect_agreement_in_split_tiles(heat, in.type(), 8, of_rows);
}

TEST(SplitTiles, FurtherToOneSideThanToTheOther) {
  Image<double> in("in");
  Param<int> steps("steps", 1);
  Field<double> u("u", in);
  const Stage upwind =
      evolve("out", u, steps, [&](Var x, Var y) { return .3 * u(x - 2, y + 1) + .7 * u(x, y); });
  expect_agreement_in_split_tiles(upwind, in.type(), 4, of_both);
}

TEST(SplitTiles, EveryBorder) {
  for (const char* mode : {"clamp", "mirror", "mirror101", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    Image<std::int32_t> in("in");
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    auto src = u.border(Border::named(mode, 3));
    const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
      return sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y); }) - 8 * u(x, y);
    });
    const bool goes_round = std::string(mode) == "repeat";
    expect_agreement_in_split_tiles(out, in.type(), 4, of_both,
                                    goes_round ? std::vector<std::string>{"colours", "merged"}
                                               : std::vector<std::string>{"merged", "fused"},
                                    {{1, 1}, {7, 5}, {33, 31}, {90, 50}});
  }
}

/// A border brings pixels back from the other side: what looks to the left alone needs pixels on the right.
TEST(SplitTiles, BordersThatTurnBack) {
  for (const char* mode : {"clamp", "mirror", "mirror101", "repeat"}) {
    SCOPED_TRACE(mode);
    Image<std::int32_t> in("in");
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    auto src = u.border(Border::named(mode));
    const Stage out =
        evolve("out", u, steps, [&](Var x, Var y) { return src(x - 2, y) * 3 + src(x, y - 2) - u(x, y); });
    expect_agreement_in_split_tiles(out, in.type(), 2, of_both, {"merged"},
                                    {{1, 1}, {2, 2}, {3, 2}, {40, 24}, {41, 25}, {79, 47}, {130, 70}});
  }
}

TEST(SplitTiles, BytesInThreesWithTheStepNumber) {
  Image<Vec<std::uint8_t, 3>> in("in");
  Param<int> steps("steps", 1);
  Field<Vec<std::uint8_t, 3>> u("u", in);
  auto beyond = u.border(Border::clamp());
  const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
    return pack(beyond(x - 1, y).lane(1), beyond(x, y + 1).lane(2),
                cast<std::uint8_t>(u(x, y).lane(0) + step_number()));
  });
  expect_agreement_in_split_tiles(out, in.type(), 4, of_both, {"merged", "fused"});
}

TEST(SplitTiles, ReadOtherImages) {
  Image<float> in("in");
  Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const Stage out = evolve("out", u, steps, [&](Var x, Var y) {
    return u(x, y) + .1f * (in(x, y) * (u(x - 1, y) - u(x + 1, y)) + in(x, y - 1) - u(x, y + 1));
  });
  expect_agreement_in_split_tiles(out, in.type(), 4, of_both);
}

TEST(SplitTiles, SeveralFieldsInPlaceAndTheStepNumber) {
  Image<std::int32_t> in("in");
  Param<int> steps("steps", 1);
  Field<std::int32_t> ex("ex", in), ey("ey", in), hz("hz", in);
  auto h = hz.border(Border::clamp());
  const std::vector<Stage> after = evolve(
      steps, {update("out", ey,
                     [&](Var x, Var y) { return ey(x, y) - 3 * (h(x, y) - h(x, y - 1)) + step_number(); }),
              update("ex_end", ex, [&](Var x, Var y) { return ex(x, y) - 5 * (h(x, y) - h(x - 1, y)); }),
              update("hz_end", hz, [&](Var x, Var y) {
                auto ex1 = ex.now().border(Border::constant(1)), ey1 = ey.now().border(Border::mirror());
                return hz(x, y) - 7 * (ex1(x + 1, y) - ex1(x, y) + ey1(x, y + 1) - ey1(x, y));
              })});
  expect_agreement_in_split_tiles({after[0], after[1], after[2]}, in.type(), 3, of_both);
}

TEST(SplitTiles, Lines) {
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
    const bool goes_round = std::string(mode) == "repeat";
    expect_agreement_in_split_tiles(
        out, in.type(), 4, R"("x": {"pitch": 30, "top": 5})",
        goes_round ? std::vector<std::string>{"merged"} : std::vector<std::string>{"merged", "fused"},
        {{1}, {4}, {5}, {30}, {31}, {59}, {300}});
  }
}

TEST(SplitTiles, DeeperPasts) {
  Image<std::int32_t> in("in", 1);
  Param<int> steps("steps", 1);
  Field<std::int32_t> u("u", in);
  const Stage out =
      evolve("out", u, steps, [&](Var x) { return u(x + 1) + u.back(2)(x - 3) - u.back(4)(x) * 2; });
  expect_agreement_in_split_tiles(out, in.type(), 10, R"("x": {"pitch": 70, "top": 5})", {"merged", "fused"},
                                  {{1}, {4}, {5}, {300}});
}

TEST(SplitTiles, Volumes) {
  for (const char* mode : {"", "mirror101", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    Image<std::int32_t> in("in", 3);
    Param<int> steps("steps", 1);
    Field<std::int32_t> u("u", in);
    const Stage out = evolve("out", u, steps, [&](Var x, Var y, Var z) {
      const Accessor src = *mode == 0 ? Accessor(u) : u.border(Border::named(mode, 7));
      return src(x - 1, y, z) + src(x + 1, y, z) * 3 - src(x, y - 1, z) + src(x, y + 1, z) * 5 +
             src(x, y, z - 1) - src(x, y, z + 1) * 2;
    });
    const bool goes_round = std::string(mode) == "repeat";
    for (const char* tiles :
         {R"("y": {"pitch": 9, "top": 3}, "z": {"pitch": 8, "top": 2})",
          R"("x": {"pitch": 12, "top": 3}, "y": {"pitch": 8, "top": 1}, "z": {"pitch": 9, "top": 2})"})
      expect_agreement_in_split_tiles(
          out, in.type(), 4, tiles,
          goes_round ? std::vector<std::string>{"merged"} : std::vector<std::string>{"colours", "fused"},
          {{1, 1, 1}, {5, 3, 4}, {33, 19, 18}});
  }
}

}  // namespace
}  // namespace weft::testing_support
