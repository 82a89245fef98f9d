// How many rows around its own a row of the results needs, and where parts of the rows are not like the whole.
#include "analysis/row_reach.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <string>

#include "ir/build.h"

namespace weft::analysis {
namespace {

class RowReachTest : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Accessor at = in.border(Border::clamp());

  static Mask ones(int width, int height) {
    return Mask::from(width, height, [](int, int) { return 1.f; });
  }
  /// "1 above, 2 below", or why there is none.
  static std::string reach(const Outputs& outputs) {
    const RowReachOrWhy found = row_reach(Pipeline("pipeline", outputs).ir());
    if (!found.reach) return found.why;
    return std::to_string(found.reach->above) + " above, " + std::to_string(found.reach->below) + " below" +
           (found.reach->step == 1 ? "" : ", steps of " + std::to_string(found.reach->step));
  }
};

TEST_F(RowReachTest, AddsUpFromStageToStage) {
  const Stage once = stage("once", in.size(), [&](Var x, Var y) { return at(x, y - 1) + at(x + 9, y); });
  const Accessor of_once = once.border(Border::mirror());
  const Stage twice =
      stage("twice", in.size(), [&](Var x, Var y) { return of_once(x, y) + of_once(x, y + 2); });
  EXPECT_EQ(reach(twice), "1 above, 2 below");
  EXPECT_EQ(reach(Outputs{once, twice}), "1 above, 2 below");
  EXPECT_EQ(reach(convolve("blur", twice.border(Border::constant(0)), ones(5, 3))), "2 above, 3 below");
  EXPECT_EQ(reach(point("point", in + 1.f)), "0 above, 0 below");
}

TEST_F(RowReachTest, TakesTheLongestOfSeveralWays) {
  const Stage up = stage("up", in.size(), [&](Var x, Var y) { return at(x, y - 5); });
  const Stage down = stage("down", in.size(), [&](Var x, Var y) { return at(x, y + 7); });
  EXPECT_EQ(reach(stage("both", in.size(), [&](Var x, Var y) { return up(x, y) + down(x, y); })),
            "5 above, 7 below");
  EXPECT_EQ(reach(up), "5 above, 0 below") << "rows above only";
}

/// What a border makes of rows beyond a part is not what is there, even if no image is read.
TEST_F(RowReachTest, IsThatOfStagesThatReadNoImage) {
  const Stage five = stage("five", in.size(), [](Var, Var) { return Expr(5.f); });
  const Accessor framed = five.border(Border::constant(4.f));
  EXPECT_EQ(reach(stage("frame", in.size(), [&](Var x, Var y) { return framed(x, y - 1) + in(x, y); })),
            "1 above, 0 below");
}

TEST_F(RowReachTest, IsOfPlanesInVolumes) {
  const Image<float> volume("volume", 3);
  const Accessor near = volume.border(Border::clamp());
  EXPECT_EQ(reach(stage("shift", volume.size(), [&](Var x, Var y, Var z) { return near(x, y + 3, z - 1); })),
            "1 above, 0 below");
}

TEST_F(RowReachTest, PassesByTablesAndGathersAlongRows) {
  const Stage table = stage("table", {256}, [](Var x) { return cast<float>(x) * .5f; });
  EXPECT_EQ(reach(stage("looked_up", in.size(),
                        [&](Var x, Var y) { return table.border(Border::clamp())(cast<int>(in(x, y))); })),
            "0 above, 0 below");
  EXPECT_EQ(reach(stage("gathered", in.size(), [&](Var x, Var y) { return at(cast<int>(in(x, y)), y + 1); })),
            "0 above, 1 below");
}

TEST_F(RowReachTest, PassesByFrames) {
  const auto framed = [&](const std::function<Expr(Var)>& inside) {
    return reach(stage("framed", in.size(), [&](Var x, Var y) { return select(inside(y), in(x, y), 0.f); }));
  };
  EXPECT_EQ(framed([](Var y) { return y >= 2; }), "2 above, 0 below");
  EXPECT_EQ(framed([](Var y) { return y > 2; }), "3 above, 0 below");
  EXPECT_EQ(framed([](Var y) { return y == 2; }), "3 above, 0 below");
  EXPECT_EQ(framed([&](Var y) { return y < in.height() - 3; }), "0 above, 3 below");
  EXPECT_EQ(framed([&](Var y) { return !(y >= in.height() - 3) && !(4 > y); }), "4 above, 3 below");
  EXPECT_EQ(framed([&](Var y) { return y < in.height() / 2; }),
            "'framed' depends on the number of its row, or of all rows");
  EXPECT_EQ(framed([](Var y) { return y % 2 == 0; }), "0 above, 0 below, steps of 2");
  const Stage first = stage("first", in.size(), [&](Var x, Var y) { return select(y >= 2, in(x, y), 0.f); });
  EXPECT_EQ(
      reach(stage("next", in.size(), [&](Var x, Var y) { return first.border(Border::clamp())(x, y - 1); })),
      "3 above, 0 below")
      << "what reads a frame is wrong where the frame is";
}

TEST_F(RowReachTest, IsOfSeveralRates) {
  const Stage half = stage("half", {in.width(), (in.height() + 1) / 2},
                           [&](Var x, Var y) { return at(x, 2 * y) + at(x, 2 * y + 1); });
  const Accessor of_half = half.border(Border::clamp());
  // Row y needs the rows 2 * (y / 2) and the next; the last of a part of 2 * n + 1 rows has none.
  EXPECT_EQ(reach(stage("same", in.size(), [&](Var x, Var y) { return of_half(x, y / 2); })),
            "0 above, 2 below, steps of 2");
  EXPECT_EQ(reach(stage("above", in.size(), [&](Var x, Var y) { return of_half(x, y / 2 - 1); })),
            "2 above, 0 below, steps of 2");
  const Stage fourth =
      stage("fourth", {in.width(), in.height() / 4}, [&](Var x, Var y) { return of_half(x, 2 * y + 1); });
  const std::string of_fourth =
      reach(stage("far", in.size(), [&](Var x, Var y) { return fourth.border(Border::mirror())(x, y / 4); }));
  EXPECT_NE(of_fourth.find("steps of 4"), std::string::npos) << of_fourth;
  EXPECT_EQ(reach(stage("turned", in.size(), [&](Var x, Var y) { return of_half(x, y); })),
            "'turned' reads 'half' at other rows than around its own");
}

TEST_F(RowReachTest, IsOfResultsThatAreCut) {
  EXPECT_EQ(reach(stage("inner", {in.width(), in.height() - 4}, [&](Var x, Var y) { return in(x, y + 2); })),
            "0 above, 4 below");
  EXPECT_EQ(reach(stage("whole", {in.width(), in.height() / 2 * 2}, [&](Var x, Var y) { return in(x, y); })),
            "0 above, 1 below, steps of 2");
}

TEST_F(RowReachTest, IsNoneWhereRowsAreNotAlike) {
  EXPECT_EQ(reach(stage("ramp", in.size(), [&](Var x, Var y) { return in(x, y) + cast<float>(y); })),
            "'ramp' depends on the number of its row, or of all rows");
  EXPECT_EQ(
      reach(stage("share", in.size(), [&](Var x, Var y) { return in(x, y) / cast<float>(in.height()); })),
      "'share' depends on the number of its row, or of all rows");
  EXPECT_EQ(reach(stage("flip", in.size(), [&](Var x, Var y) { return in(x, in.height() - 1 - y); })),
            "'flip' reads 'in' at other rows than around its own");
  EXPECT_EQ(reach(stage("anywhere", in.size(), [&](Var x, Var y) { return at(x, cast<int>(in(x, y))); })),
            "'anywhere' reads 'in' at other rows than around its own");
  EXPECT_EQ(reach(stage("skew", in.size(), [&](Var x, Var y) { return at(x + y, y); })),
            "'skew' reads 'in' at a place that depends on the row");
  EXPECT_EQ(reach(stage("half", {in.width(), in.height() / 2}, [&](Var x, Var y) { return in(x, 2 * y); })),
            "'half' has other rows than the images");
  EXPECT_EQ(reach(stage("square", {in.height(), in.height()}, [&](Var x, Var y) { return at(x, y); })),
            "'square' has other rows than the images");
  EXPECT_EQ(reach(convolve("around", in.border(Border::repeat()), ones(1, 3))),
            "'around' reads 'in' around its ends");
  EXPECT_EQ(reach(convolve("along", in.border(Border::repeat()), ones(3, 1))), "0 above, 0 below");
  EXPECT_EQ(reach(Outputs{stage("few", {in.width(), 3}, [&](Var x, Var y) { return at(x, 0); }),
                          point("more", in + 1.f)}),
            "'few' has other rows than the images");
  EXPECT_EQ(reach(point("line", Image<float>("line_of_pixels", 1) + 1.f)),
            "'line_of_pixels' has other rows than the images");
  const Stage sum = reduce("sum", in, Reduce::sum());
  EXPECT_EQ(reach(point("part", in / sum)), "'sum' is made of all rows at once");
}

}  // namespace
}  // namespace weft::analysis
