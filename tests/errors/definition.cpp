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
               R"(HERE: error: the body of 'out' takes 2 coordinates but runs over 1 dimension
  help: give one coordinate per dimension: [&](Var x) { … })");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x) { return in(x, x); }),
               R"(HERE: error: the body of 'out' takes 1 coordinate but runs over 2 dimensions
  help: give one coordinate per dimension: [&](Var x, Var y) { … })");
}

TEST(Definition, DifferentBoxesInPoint) {
  Image<float> a("a"), b("b");
  EXPECT_ERROR(point("out", a + b),
               R"(HERE: error: stage 'out' reads 'a' and 'b' at the same pixel, but their boxes differ
  a 2-D, x extent a.w
  b 2-D, x extent b.w
  help: declare one image with the other's size, or write stage("out", size, [&](Var x, Var y) { return …; }))");
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
               "HERE: error: + joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(rgb + rgba, "HERE: error: + joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(rgb == rgba, "HERE: error: == joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(rgb && rgba, "HERE: error: & joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(max(rgb, rgba), "HERE: error: max joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(clamp(rgb, 0.f, rgba), "HERE: error: min joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(lerp(rgb, rgba, .5f), "HERE: error: - joins a pixel of 4 lanes and one of 3");
  EXPECT_ERROR(dot(rgb, rgba), "HERE: error: * joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(pow(rgb, rgba), "HERE: error: pow joins a pixel of 3 lanes and one of 4");
  EXPECT_ERROR(select(rgb > 0.f, rgba, 0.f), "HERE: error: select joins a pixel of 4 lanes and one of 3");
  EXPECT_ERROR(pack(rgb, rgba), "HERE: error: the lanes of a pixel are scalars, not f32x3");
  Expr colour = rgb;
  EXPECT_ERROR(colour *= rgba, "HERE: error: * joins a pixel of 3 lanes and one of 4");
  Accum<Vec<float, 3>> total;
  EXPECT_ERROR(total += rgba, "HERE: error: + joins a pixel of 3 lanes and one of 4");
}

TEST(Definition, ComplementOfAFloat) {
  Image<float> in("in");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return ~in(x, y); }),
               "HERE: error: ~ needs an integer, not f32");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return in(x, y) & 1; }),
               "HERE: error: & needs integers, not f32");
}

// A stage has to be there before another reads it, so there is no way to write a cycle.
TEST(Definition, Cycle) {
  Image<float> in("in");
  const std::string declared = NEXT_LINE();
  Stage a;
  const std::string help =
      "\n  help: define it first. Stages cannot read each other in a cycle; what an earlier step has "
      "computed is "
      "read in evolve()";
  const std::string rest = "a stage is read that is not defined yet\n  declared " + declared + help;
  EXPECT_ERROR(stage("b", in.size(), [&](Var x, Var y) { return a(x, y) + in(x, y); }),
               "HERE: error: " + rest);
  EXPECT_ERROR(convolve("b", a, Mask{{1, 2, 1}}), "HERE: error: stage 'b': " + rest);
  EXPECT_ERROR(point("b", a * 2.f), "HERE: error: " + rest);
  EXPECT_ERROR(sqrt(a), rest);
  const std::vector<Stage> several(2);  // made by the standard library
  EXPECT_ERROR(several[1] + in, "HERE: error: a stage is read that is not defined yet" + help);
}

TEST(Definition, UnknownBorderMode) {
  EXPECT_ERROR(Border::named("wrap"), R"(HERE: error: 'wrap' is no border mode
  modes clamp, mirror, mirror101, repeat, constant)");
}

TEST(Definition, LanesOfABorder) {
  Image<float> in("in");
  const Accessor src = in.border(Border::constant(Vec<float, 3>{1, 2, 3}));
  EXPECT_ERROR(src(-1, 0), R"(HERE: error: the border of 'in' is f32x3 but its pixels are f32
  help: give as many lanes as the pixels have, or one for all of them)");
}

TEST(Definition, StageWithoutAName) {
  Image<float> in("in");
  EXPECT_ERROR(point("", in * 2.f), "HERE: error: a stage needs a name");
}

TEST(Definition, NoCases) {
  Image<float> in("in");
  EXPECT_ERROR(stage("out", in.size(), [](Var, Var) { return cases(); }),
               "HERE: error: stage 'out' has no cases");
}

TEST(Definition, RankOfACrop) {
  Image<float> in("in");
  EXPECT_ERROR(in.crop({1}, {8, 8}), "HERE: error: a crop of 'in' needs 2 coordinates and extents");
}

TEST(Definition, DivisorsOfAnIndex) {
  Image<float> in("in");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return in(x / 0, y); }),
               "HERE: error: stage 'out': an index is divided by 0");
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return in(x % -2, y); }),
               "HERE: error: stage 'out': the divisor of an index modulo has to be positive");
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

TEST(Definition, OneOutputTwice) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = point("out", in * 2.f);
  EXPECT_ERROR_AT(here, Pipeline("p", {out, out}), R"(HERE: error: pipeline 'p' returns stage 'out' twice
  help: return it once, or a copy of it: point("copy", out))");
}

TEST(Definition, ConditionWithLanes) {
  Image<Vec<float, 3>> rgb("rgb");
  EXPECT_ERROR(stage("out", rgb.size(), [&](Var x, Var y) { return cases().when(rgb(x, y) > 0.f, 1.f); }),
               R"(HERE: error: the condition of a case has type boolx3
  help: a condition is one bool; to choose lane by lane, use select)");
}

TEST(Definition, IndexWithLanes) {
  Image<Vec<int, 2>> flow("flow");
  Image<float> in("in");
  const auto src = in.border(Border::clamp());
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return src(flow(x, y), y); }),
               R"(HERE: error: 'in' is read at an index of type i32x2
  help: an index is a scalar; take one lane of the pixel with .lane(i))");
}

TEST(Definition, IndexWithAFraction) {
  Image<float> in("in");
  const auto src = in.border(Border::clamp());
  const std::string help =
      "\n  help: an index is an integer: cast<int>(v) rounds towards 0, cast<int>(floor(v)) down; "
      ".interpolate(Interpolation::Bilinear) reads between the pixels";
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return src(in(x, y), y); }),
               "HERE: error: 'in' is read at an index of type f32" + help);
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var) { return src(x, 0.5); }),
               "HERE: error: 'in' is read at an index of type f64" + help);
}

TEST(Definition, TapOutsideItsLoop) {
  Image<float> in("in");
  const auto src = in.border(Border::clamp());
  const Mask mask{{1, 2, 1}};
  Expr offset = 0, coefficient = 0;
  Index tap = 0;
  sum(Domain(mask), [&](Tap t) { return offset = t.x, tap = t.x, coefficient = mask(t); });
  const std::string help =
      "\n  help: a tap has a meaning only inside the body that for_each, sum, … give it to";
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return in(x, y) + offset; }),
               "HERE: error: stage 'out' uses t.x outside its loop" + help);
  EXPECT_ERROR(stage("out", in.size(), [&](Var x, Var y) { return src(x + tap, y); }),
               "HERE: error: stage 'out' uses t.x outside its loop" + help);
  EXPECT_ERROR(point("out", in * coefficient),
               "HERE: error: stage 'out' uses the coefficient of a mask outside its loop" + help);
}

TEST(Definition, AccumulatorOutsideItsLoop) {
  Image<float> in("in");
  const auto body = [&](Var x, Var y) {
    Accum<float> total = 0.f;
    Expr inside = 0.f;
    for_each(Domain(3, 1), [&](Tap) { total += 1.f, inside = total; });
    return in(x, y) + inside;
  };
  EXPECT_ERROR(stage("out", in.size(), body),
               R"(HERE: error: stage 'out' uses a value that an accumulator has inside its loop outside of it
  help: read the accumulator itself after for_each: it has its last value there)");
}

TEST(Definition, CoordinateOfAnotherStage) {
  Image<float> in("in");
  Index row = 0;
  stage("first", in.size(), [&](Var x, Var y) { return row = y, in(x, y); });
  const std::string help = "\n  help: use only the coordinates that the stage's own body is given";
  EXPECT_ERROR(stage("out", {in.width()}, [&](Var x) { return in(x, row); }),
               "HERE: error: stage 'out' is 1-D but uses a coordinate y" + help);
  EXPECT_ERROR(stage("out", {in.width()}, [&](Var x) { return in(x, 0) + row; }),
               "HERE: error: stage 'out' is 1-D but uses a coordinate y" + help);
  EXPECT_ERROR(stage("out", {row}, [&](Var x) { return in(x, 0); }),
               R"(HERE: error: the box of stage 'out' depends on the coordinate y
  help: a box is made of the sizes of images and of integers)");
}

TEST(Definition, MistakesAfterAWindow) {
  Image<float> in("in");
  const auto src = in.border(Border::clamp());
  EXPECT_ERROR(convolve("out", src, Mask{{1, 2, 1}}, [](Expr e) { return ~e; }),
               "HERE: error: ~ needs an integer, not f32");
  EXPECT_ERROR(local("out", src, Domain(3, 3), Local::Max, [](Expr e) { return e.lane(1); }),
               "HERE: error: lane 1 of a pixel of 1");
  EXPECT_ERROR(in.lane(3), "HERE: error: lane 3 of a pixel of 1");
  EXPECT_ERROR(src.lane(-1), "HERE: error: lane -1 of a pixel of 1");
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
