// Mistakes in a pipeline's definition that are not about sizes.
#include "tests/errors/expect_error.h"

using namespace weft;

TEST(Definition, NumberOfIndices) {
  Image<float> in("in");
  EXPECT_ERROR(in(1), "HERE: error: 'in' is read with 1 index\n  needs 2, one per dimension");
}

TEST(Definition, CoordinatesOfTheBody) {
  Image<float> in("in");
  EXPECT_ERROR(stage("out", {in.width()}, [&](Var x, Var y) { return in(x, y); }),
               R"(HERE: error: stage 'out' has 1 extent but its body takes 2 coordinates
  help: give one coordinate per dimension: (Var x, Var y) for a 2-D stage)");
}

TEST(Definition, DifferentBoxesInPoint) {
  Image<float> a("a"), b("b");
  EXPECT_ERROR(point("out", a + b),
               R"(HERE: error: stage 'out' reads 'a' and 'b' at the same pixel, but their boxes differ
  a 2-D, x extent a.w
  b 2-D, x extent b.w
  help: declare one image with the other's size, or write stage("out", size, …))");
}

TEST(Definition, PointOfNothing) {
  EXPECT_ERROR(point("out", 1.f),
               R"(HERE: error: stage 'out' reads nothing at the current pixel, so its size is unknown
  help: write stage("out", size, [&](Var x, Var y) { return …; }))");
}

TEST(Definition, UncoveredPixels) {
  Image<float> in("in");
  const auto body = [&](Var x, Var y) { return cases().when(x < 5, in(x, y)).when(x > 5 && y >= 1, 0.f); };
  const std::string here = NEXT_LINE();
  Stage out = stage("out", in.size(), body);
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: the cases of 'out' do not cover its box
  uncovered for w = 6, h = 1 no case holds at x = 5, y = 0
  help: add .otherwise(value))");
}

TEST(Definition, UncoveredAsFarAsWeCanTell) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = stage("out", in.size(), [&](Var x, Var y) { return cases().when(in(x, y) > 0.f, 1.f); });
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: the cases of 'out' do not cover its box
  needs a last case without a condition, for some conditions depend on pixels or parameters
  help: add .otherwise(value))");
}

TEST(Definition, CoveredPixels) {
  Image<float> in("in");
  Pipeline("p", stage("out", in.size(), [&](Var x, Var y) {
             return cases().when(x < 5, in(x, y)).when(in(x, y) > 0.f, 2.f).when(!(x < 5), 1.f);
           }));
}

TEST(Definition, RowsOfAMask) {
  EXPECT_ERROR((Mask{{1, 2}, {1, 2, 3}}), "HERE: error: the rows of a mask have different lengths");
}

TEST(Definition, MaskOfZeros) {
  Image<float> in("in");
  EXPECT_ERROR(convolve("out", in, Mask{{0, 0}}), "HERE: error: all coefficients of a mask are 0");
}

TEST(Definition, LanesThatDiffer) {
  Image<Vec<float, 3>> rgb("rgb");
  Image<Vec<float, 4>> rgba("rgba", rgb.size());
  EXPECT_ERROR(stage("out", rgb.size(), [&](Var x, Var y) { return rgb(x, y) + rgba(x, y); }),
               "HERE: error: stage 'out': + joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(rgb + rgba, "+ joins a pixel of 3 lanes and one of 4");
}

TEST(Definition, ComplementOfAFloat) {
  Image<float> in("in");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return ~in(x, y); }),
               "HERE: error: stage 'out': ~ needs an integer, not f32");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return in(x, y) & 1; }),
               "HERE: error: stage 'out': & needs integers, not f32");
}

TEST(Definition, UnknownBorderMode) {
  EXPECT_ERROR(Border::named("wrap"), R"('wrap' is no border mode
  modes clamp, mirror, mirror101, repeat, constant)");
}

TEST(Definition, OneNameTwice) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = point("in", in * 2.f);
  EXPECT_ERROR_AT(here, Pipeline("p", out), R"(HERE: error: the name 'in' is given twice in pipeline 'p'
  help: give every image, parameter and stage a name of its own)");
}

TEST(Definition, NoOutputs) {
  EXPECT_ERROR(Pipeline("p", std::vector<Stage>{}), "pipeline 'p' has no outputs");
}

TEST(Definition, OriginsAndExtents) {
  Image<float> in("in");
  EXPECT_ERROR(stage("out", BoxAt{{in.width()}, in.size()}, [&](Var x, Var y) { return in(x, y); }),
               "HERE: error: the box of stage 'out' has 2 extents but 1 origin");
}

// ---- applications ----

WEFT_PIPELINE(configurable) {
  AnyImage in("in", {Scalar::F32, Scalar::U8}, {1, 3});
  const Option<int> radius("radius", 1);
  return convolve("out", in.border(border_option()),
                  Mask::from(2 * radius + 1, 1, [](int, int) { return 1; }));
}

TEST(Definition, UnknownOption) {
  EXPECT_ERROR(build(applications().at("configurable"), {.options = {{"size", "3"}}, .image_types = {}}),
               R"('configurable' has no option or parameter 'size'
  options    radius, border, border_value
  parameters none)");
}

TEST(Definition, OptionValues) {
  EXPECT_ERROR(build(applications().at("configurable"), {.options = {{"radius", "two"}}, .image_types = {}}),
               "option radius=two is not an integer");
  EXPECT_ERROR(build(applications().at("configurable"), {.options = {{"border", "wrap"}}, .image_types = {}}),
               R"(option border=wrap is not among its choices
  choices clamp, mirror, mirror101, repeat, constant)");
}

TEST(Definition, ImageTypes) {
  EXPECT_ERROR(
      build(applications().at("configurable"), {.options = {}, .image_types = {{"in", {Scalar::I16, 1}}}}),
      R"(image 'in' cannot be i16
  pixels   f32, u8
  channels 1, 3)");
  EXPECT_ERROR(
      build(applications().at("configurable"), {.options = {}, .image_types = {{"img", {Scalar::F32, 1}}}}),
      R"('configurable' has no image 'img'
  images in)");
}
