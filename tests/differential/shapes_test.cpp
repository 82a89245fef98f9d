// Boxes of every rank, boxes that do not start at 0, and extreme sizes.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

TEST(Shapes, RankOne) {
  const Image<std::int16_t> in("in", 1);
  const Accessor src = in.border(Border::mirror());
  const Stage out = stage("out", in.size(), [&](Var x) { return src(x - 2) + src(2 * x) - src(x + 5); });
  const Pipeline pipeline("line", {out, stage("half", in.size() / 2, [&](Var x) { return in(2 * x); })});
  const Program program = pipeline.compile(compile_options());
  for (const std::int64_t width : {1, 2, 3, 17, 1000}) {
    SCOPED_TRACE(width);
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {width}, 71)}}, {}, {}});
  }
}

TEST(Shapes, RankThree) {
  const Image<std::int16_t> in("in", 3);
  for (const Border& border : {Border::clamp(), Border::constant(5)}) {
    const Accessor src = in.border(border);
    const Stage sums = stage("sums", in.size(), [&](Var x, Var y, Var z) {
      return sum(Domain(3, 3, 3), [&](Tap t) { return src(x + t.x, y + t.y, z + t.z) * (Expr(t.z) + 2); });
    });
    const Stage turned = stage("turned", Extents{in.size()[2], in.size()[0], in.size()[1]},
                               [&](Var x, Var y, Var z) { return in(y, z, x); });
    const Pipeline pipeline("volume", {sums, turned});
    const Program program = pipeline.compile(compile_options());
    for (const auto& extents : {std::vector<std::int64_t>{9, 7, 5}, {1, 1, 1}, {2, 1, 6}, {33, 2, 1}})
      expect_agreement(program, pipeline, {{{"in", noise(in.type(), extents, 72)}}, {}, {}});
  }
}

TEST(Shapes, RankFour) {
  const Image<std::uint8_t> in("in", 4);
  const Accessor src = in.border(Border::repeat());
  expect_agreement(
      stage("out", in.size(),
            [&](Var x, Var y, Var z, Var w) { return src(x + 1, y - 1, z + 2, w - 3) + in(x, y, z, w); }),
      noise(in.type(), {7, 5, 4, 3}, 73));
}

TEST(Shapes, SlicesAndStacks) {
  const Image<std::int16_t> in("in", 3);
  const Stage slice = stage("slice", Extents{in.size()[0], in.size()[1]},
                            [&](Var x, Var y) { return in.border(Border::clamp())(x, y, 1); });
  const Stage stack = stage("stack", Extents{in.size()[0], in.size()[1], Index(in.size()[2]) * 0 + 4},
                            [&](Var x, Var y, Var z) { return slice(x, y) * (Expr(z) + 1); });
  const Stage column =
      stage("column", Extents{in.size()[1]}, [&](Var y) { return slice.border(Border::clamp())(0, y); });
  expect_agreement({stack, slice, column}, noise(in.type(), {9, 7, 3}, 74));
}

TEST(Shapes, OutputRegionOfInterest) {
  const Image<std::int16_t> in("in");
  const Accessor src = in.border(Border::mirror101());
  const BoxAt middle{{in.width() / 4, in.height() / 3}, in.size() / 2};
  const Stage roi =
      stage("roi", middle, [&](Var x, Var y) { return src(x - 4, y - 4) + Expr(x) * 10 + in(x, y); });
  const Accessor around = roi.border(Border::clamp());
  const Stage all =
      stage("all", in.size(), [&](Var x, Var y) { return around(x, y) * 2 + around(x - 3, y + 2); });
  const BoxAt outside{{Index(in.width()) * 0 - 3, Index(in.width()) * 0 - 2},
                      Extents{in.width() + 6, in.height() + 4}};
  const Stage padded = stage("padded", outside, [&](Var x, Var y) { return src(x, y) - Expr(y); });
  const Stage of_padded = stage("of_padded", in.size(),
                                [&](Var x, Var y) { return padded(x - 3, y - 2) + padded(x + 3, y + 2); });
  const Pipeline pipeline("roi", {all, roi, padded, of_padded});
  const Program program = pipeline.compile(compile_options());
  for (const auto& extents : {std::vector<std::int64_t>{40, 31}, {9, 7}, {2, 3}})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), extents, 75)}}, {}, {}});
}

TEST(Shapes, BoxesInThreeDimensionsThatDoNotStartAtZero) {
  const Image<std::int16_t> in("in", 3);
  const Index one = Index(in.size()[0]) * 0 + 1;
  const BoxAt inner{{one, one, one}, Extents{in.size()[0] - 2, in.size()[1] - 2, in.size()[2] - 2}};
  const Stage out =
      stage("out", inner, [&](Var x, Var y, Var z) { return in(x - 1, y + 1, z - 1) + Expr(z) * 100; });
  expect_agreement({out, stage("more", inner, [&](Var x, Var y, Var z) { return out(x, y, z) - Expr(x); })},
                   noise(in.type(), {9, 7, 5}, 76));
}

TEST(Shapes, TallAndWide) {
  const Image<std::uint8_t> in("in");
  const Accessor src = in.border(Border::clamp());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return src(x - 1, y - 1) + src(x + 1, y + 1) + Expr(x) * Expr(y) * 100'000;
  });
  const Pipeline pipeline("long", out);
  const Program program = pipeline.compile(compile_options());
  for (const auto& extents : {std::vector<std::int64_t>{1, 100'000}, {100'000, 1}})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), extents, 77)}}, {}, {}});
}

TEST(Shapes, ScalarInputs) {
  const Image<float> gain("gain", 0), in("in");
  const Pipeline pipeline("scaled", point("out", in * gain));
  Buffer scalar = Buffer::allocate(gain.type(), {});
  scalar.at<float>() = 3;
  expect_agreement(pipeline, {{{"in", noise(in.type(), {9, 7}, 79)}, {"gain", scalar}}, {}, {}});
}

TEST(Shapes, EmptyOutputs) {
  const Image<std::uint8_t> in("in");
  expect_agreement(
      {stage("half", in.size() / 2, [&](Var x, Var y) { return in(2 * x, 2 * y); }), point("copy", in)},
      noise(in.type(), {1, 1}, 78));
}

TEST(Shapes, OutputsThatAreEmptyForEverySizeAndRead) {
  const Image<std::uint8_t> in("in");
  const Stage none = stage("none", {Index(3), Index(0)}, [&](Var x, Var y) { return Expr(x + y); });
  const Accessor read = none.border(Border::clamp());
  expect_agreement({none, stage("out", in.size(), [&](Var x, Var y) { return in(x, y) + read(y, x); })},
                   noise(in.type(), {9, 7}, 80));
}

/// A tile computes all of a stage at once, so no plane comes next. Found by: weft verify --random 1 --seed 7300231
TEST(Shapes, VolumesInTilesThatDoNotMarch) {
  const Image<float> in("in", 3);
  const Stage first = stage("first", in.size(), [&](Var x, Var y, Var z) { return in(x, y, z) + 1.f; });
  const BoxAt box{{0, 0, -3}, in.size()};
  const Stage later = stage("later", box, [&](Var x, Var y, Var z) { return first(x, y, z + 3); });
  const Stage out = local("out", later, Domain(1, 1), Local::Product);
  const Pipeline pipeline("volumes", Outputs(out).strict());
  CompileOptions options = compile_options();
  options.schedule =
      R"({"groups": [["later", "out"]], "tiles": {"out": {"width": 200, "height": 20, "traversal": "static"}}})";
  expect_agreement(pipeline.compile(options), pipeline, {{{"in", noise(in.type(), {23, 9, 31}, 5)}}, {}, {}});
}

}  // namespace
}  // namespace weft::testing_support
