// Stages that march down strips together: every border mode on every stage of a chain, windows that reach to
// one side alone, images smaller than the windows, and of several strips in each direction.
#include <gtest/gtest.h>

#include "runtime/cpu_program.h"
#include "tests/differential/tiles.h"
#include "tests/support/combinations.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Size = std::vector<std::int64_t>;

/// Several strips of the wide pixels below, several bands of rows; and sizes smaller than the windows.
const std::vector<Size> sizes = {{1, 1}, {2, 1}, {1, 3}, {3, 2}, {9, 7}, {40, 31}, {701, 45}, {30, 300}};

/// Several tiles in each direction: as wide, as high and as deep as those of volumes.
const std::vector<Size> volumes = {{1, 1, 1}, {3, 2, 5}, {40, 9, 7}, {300, 5, 31}, {20, 140, 9}, {9, 7, 70}};

void agree(const Outputs& outputs, const std::vector<Size>& of_sizes = sizes) {
  const Pipeline pipeline("marching", Outputs(outputs).strict());
  expect_agreement_on_noise(compiled_in_tiles(pipeline), pipeline, of_sizes, 71);
}

bool in_rows(const Outputs& outputs, const std::string& stage) {
  const Pipeline pipeline("marching", outputs);
  const auto found = compile::scheduled(pipeline.ir(), processor_of_tiles, {.tile = Tile::March});
  return found.schedule.of(stage).in_rows;
}

class Marching : public testing::TestWithParam<std::string> {
 protected:
  Border border() const { return Border::named(GetParam(), -7); }
};

TEST_P(Marching, ChainsOfWindows) {
  const Image<Vec<double, 4>> in("in");
  Stage a = convolve("a", in.border(border()), Mask{{1., 2., 1.}, {2., 4., 2.}, {1., 2., 1.}} / 16.);
  Stage b = stage("b", in.size(), [&](Var x, Var y) {
    const Accessor of_a = a.border(border());
    return of_a(x - 2, y) + of_a(x, y + 2) - of_a(x + 1, y - 1);
  });
  Stage c = convolve("c", b.border(border()), Mask{{1., 0., -1.}, {2., 0., -2.}, {1., 0., -1.}});
  EXPECT_TRUE(in_rows({c}, "a"));
  agree({c});
}

TEST_P(Marching, WindowsThatReachToOneSide) {
  const Image<std::int16_t> in("in");
  const Accessor src = in.border(border());
  Stage up = stage("up", in.size(), [&](Var x, Var y) { return src(x, y - 3) - src(x + 2, y - 1); });
  Stage down = stage("down", in.size(), [&](Var x, Var y) {
    const Accessor above = up.border(border());
    return above(x + 1, y + 2) + above(x + 3, y + 1);
  });
  Stage left = stage("left", in.size(), [&](Var x, Var y) {
    const Accessor below = down.border(border());
    return below(x - 4, y - 2) * 3 + below(x - 1, y - 1);
  });
  agree({left});
}

TEST_P(Marching, DiamondsAndPixelsOfSeveralLanes) {
  const Image<Vec<float, 3>> in("in");
  Stage wide = convolve("wide", in.border(border()), Mask{{1.f, 1.f, 1.f, 1.f, 1.f}} / 5.f);
  Stage tall = convolve("tall", wide.border(border()), Mask{{1.f}, {1.f}, {1.f}, {1.f}, {1.f}} / 5.f);
  Stage detail = point("detail", in - tall);
  Stage wider = convolve("wider", detail.border(border()), Mask{{1.f, 2.f, 1.f}});
  Stage out = point("out", wide * 2.f + wider - tall);
  EXPECT_TRUE(in_rows({out}, "wide"));
  agree({out});
}

TEST_P(Marching, Volumes) {
  const Image<Vec<std::int16_t, 2>> in("in", 3);
  const Accessor src = in.border(border());
  const auto box = in.size();
  Stage a = stage("a", box, [&](Var x, Var y, Var z) {
    return src(x - 1, y, z) + src(x, y + 1, z) - src(x, y - 2, z) + src(x, y, z - 1) + src(x + 1, y, z + 1);
  });
  Stage b = stage("b", box, [&](Var x, Var y, Var z) {
    const Accessor of_a = a.border(border());
    return of_a(x, y - 1, z - 1) - of_a(x + 2, y + 1, z + 2) + in(x, y, z);
  });
  Stage c = stage("c", box, [&](Var x, Var y, Var z) {
    const Accessor of_b = b.border(border());
    return of_b(x, y, z) * 3 - of_b(x - 1, y + 1, z) - a(x, y, z);
  });
  if (processor_of_tiles == target::Processor::Cpu) EXPECT_TRUE(in_rows({c}, "a") && in_rows({c}, "b"));
  agree({c}, volumes);
}

TEST(MarchingVolumes, WithPointsAndWindowsInTurn) {
  const Image<double> in("in", 3);
  Stage a = stage("a", in.size(), [&](Var x, Var y, Var z) { return in(x, y, z) * 2. - 1.; });
  const Accessor of_a = a.border(Border::clamp());
  Stage b = stage("b", in.size(), [&](Var x, Var y, Var z) { return of_a(x, y, z - 3) + of_a(x, y + 3, z); });
  Stage c = stage("c", in.size(), [&](Var x, Var y, Var z) { return b(x, y, z) - in(x, y, z); });
  Stage slope = stage("slope", in.size(), [&](Var x, Var y, Var z) {
    const Accessor s = c.border(Border::mirror());
    return s(x + 1, y, z) - s(x, y + 1, z) + s(x, y, z + 1);
  });
  agree({slope}, volumes);
}

TEST_P(Marching, VolumesWhosePlanesDoNotMeet) {
  const Image<float> in("in");
  const Image<int> numbers("numbers");
  const Index width = (in.width() + 1) / 2;
  constexpr int planes = 5;
  const Accessor src = in.border(border());
  Stage rows = stage("rows", {width, in.height(), planes}, [&](Var x, Var y, Var z) {
    const Expr weight = cast<float>(z) * .5f;
    return src(2 * x - 1, y) * weight + src(2 * x + 1, y) + cast<float>(x - 3 * y);
  });
  const Accessor of_rows = rows.border(border());
  Stage level = stage("level", {width, (in.height() + 1) / 2, planes}, [&](Var x, Var y, Var z) {
    return of_rows(x, 2 * y - 1, z) + 3.f * of_rows(x, 2 * y, z) - of_rows(x, 2 * y + 2, z);
  });
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return level.border(border())(x / 2, y / 2, numbers.border(Border::clamp())(x, y) % planes);
  });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({out}, "rows"));
  agree({out});
}

// Found by: weft verify --random 1 --seed 9195, on the checker
TEST(MarchingVolumes, AtAnotherRateAlongZ) {
  const Image<std::int32_t> in("in", 3);
  const Accessor src = in.border(Border::clamp());
  Stage coarse = stage("coarse", in.size(),
                       [&](Var x, Var y, Var z) { return src(x + 1, y, z) - src(x, y - 1, z + 1); });
  Stage up = stage("up", in.size(), [&](Var x, Var y, Var z) {
    const Accessor from = coarse.border(Border::clamp());
    return 3 * from(x, y, z / 2) - from(x, y - 1, (z + 1) / 2);
  });
  Stage down = stage("down", in.size(), [&](Var x, Var y, Var z) {
    const Accessor from = up.border(Border::clamp());
    return from(x, y + 1, z - 1) + from(x - 1, y, z);
  });
  agree({down}, volumes);
}

// Found by: weft verify --random 1 --seed 48000247
TEST_P(Marching, PixelsOfSeveralLanesOfPartOfAnImage) {
  const Image<Vec<int, 4>> in("in");
  const Accessor middle = in.crop({0, in.height() / 4}, {in.width(), in.height() / 2}).border(border());
  Stage a = stage("a", {in.width(), in.height() / 2},
                  [&](Var x, Var y) { return middle(x - 1, y) + middle(x, y); });
  Stage b = convolve("b", a, Mask(1, 1, {3}));
  EXPECT_TRUE(in_rows({b}, "a"));
  agree({b});
}

TEST_P(Marching, HalvedAndDoubled) {
  const Image<float> in("in");
  const Extents half{(in.width() + 1) / 2, (in.height() + 1) / 2};
  Stage soft = convolve("soft", in.border(border()), Mask{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}, {1.f, 2.f, 1.f}});
  const Accessor fine = soft.border(border());
  Stage down =
      stage("down", half, [&](Var x, Var y) { return fine(2 * x, 2 * y - 1) + fine(2 * x + 1, 2 * y); });
  Stage smooth =
      convolve("smooth", down.border(border()), Mask{{1.f, 0.f, 2.f}, {0.f, 1.f, 0.f}, {3.f, 0.f, 1.f}});
  const Accessor coarse = smooth.border(border());
  Stage up = stage("up", in.size(), [&](Var x, Var y) {
    return coarse(x / 2, y / 2) + 3.f * coarse((x + 1) / 2, (y + 1) / 2) - soft(x, y);
  });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({up}, "smooth"));
  agree({up});
}

TEST_P(Marching, AlongOneAxisAndOverTwoLevels) {
  const Image<Vec<float, 3>> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor src = in.border(border());
  Stage rows =
      stage("rows", {w, (h + 1) / 2}, [&](Var x, Var y) { return src(x, 2 * y - 1) + src(x, 2 * y + 1); });
  const Accessor of_rows = rows.border(border());
  Stage coarse =
      stage("coarse", {(w + 3) / 4, (h + 1) / 2}, [&](Var x, Var y) { return of_rows(4 * x - 1, y); });
  const Accessor of_coarse = coarse.border(border());
  Stage wide = stage("wide", {w, (h + 1) / 2}, [&](Var x, Var y) { return of_coarse((x + 2) / 4, y); });
  const Accessor of_wide = wide.border(border());
  Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return of_wide(x, y / 2) + of_wide(x + 1, (y + 3) / 2); });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({out}, "coarse"));
  agree({out});
}

TEST_P(Marching, HalvedTwice) {
  const Image<Vec<float, 3>> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor src = in.border(border());
  Stage half = stage("half", {(w + 1) / 2, (h + 1) / 2},
                     [&](Var x, Var y) { return src(2 * x - 1, 2 * y) + src(2 * x + 1, 2 * y + 1); });
  Stage soft = convolve("soft", half.border(border()), Mask{{1.f, 2.f, 1.f}, {0.f, 1.f, 3.f}});
  const Accessor of_soft = soft.border(border());
  Stage out = stage("out", {(w + 3) / 4, (h + 3) / 4},
                    [&](Var x, Var y) { return of_soft(2 * x, 2 * y - 1) - of_soft(2 * x + 3, 2 * y); });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({out}, "half"));
  agree({out});
}

TEST_P(Marching, DoubledTwice) {
  const Image<std::int16_t> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor src = in.border(border());
  Stage soft = stage("soft", in.size(), [&](Var x, Var y) { return src(x - 1, y + 1) + 3 * src(x + 1, y); });
  const Accessor of_soft = soft.border(border());
  Stage twice = stage("twice", {2 * w, 2 * h}, [&](Var x, Var y) {
    return of_soft(x / 2, (y + 1) / 2) - of_soft((x - 1) / 2, y / 2);
  });
  const Accessor of_twice = twice.border(border());
  Stage out = stage("out", {4 * w, 4 * h}, [&](Var x, Var y) {
    return of_twice((x + 1) / 2, (y - 1) / 2) + 5 * of_twice(x / 2 - 1, y / 2) - soft(x / 4, y / 4);
  });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({out}, "twice"));
  agree({out});
}

/// The last step of an odd size is not all there, and yet reads all that it does.
TEST_P(Marching, HalvedAndEnlarged) {
  const Image<float> in("in");
  const Extents half{(in.width() + 1) / 2, (in.height() + 1) / 2};
  const Accessor src = in.border(border());
  Stage even = stage("even", half, [&](Var x, Var y) { return src(2 * x, 2 * y) + src(2 * x - 1, 2 * y); });
  Stage out = stage("out", in.size(), [&](Var x, Var y) { return even(x / 2, y / 2) - in(x, y); });
  EXPECT_TRUE(in_rows({out}, "even"));
  agree({out});
}

/// Strips of narrow images lie beside all that there is of the coarse rows, and read it from there.
TEST_P(Marching, FarOutsideACoarseImage) {
  const Image<std::int32_t> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor src = in.border(border());
  Stage soft = stage("soft", in.size(), [&](Var x, Var y) { return src(x - 1, y) + 7 * src(x + 1, y + 2); });
  const Accessor coarse = soft.border(border());
  Stage out = stage("out", BoxAt{{-61, -9}, {2 * w + 121, 2 * h + 23}}, [&](Var x, Var y) {
    return coarse(x / 2, y / 2) - 3 * coarse((x + 1) / 2, (y + 5) / 2);
  });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({out}, "soft"));
  agree({out});
}

TEST_P(Marching, LanesApartHalvedAndDoubled) {
  const Image<Vec<float, 3>> in("in");
  const Image<float> mask("mask", in.size());
  const Index w = in.width(), h = in.height();
  Stage soft = convolve("soft", in.border(border()), Mask{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}});
  const Accessor fine = soft.border(border());
  Stage down = stage("down", {(w + 1) / 2, h},
                     [&](Var x, Var y) { return fine(2 * x - 1, y) + 3.f * fine(2 * x, y + 1); });
  const Accessor coarse = down.border(border()), shade = mask.border(border());
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    const Expr doubled = coarse(x / 2, y) + 2.f * coarse((x + 1) / 2, y - 1);
    return select(in(x, y).lane(1) < 0.f, doubled * shade(x - 1, y), in(x, y) - doubled);
  });
  if (GetParam() != "repeat") EXPECT_TRUE(in_rows({out}, "down"));
  agree({out});
}

TEST_P(Marching, TablesOfBytes) {
  const Image<std::int16_t> in("in");
  Stage curve = stage("curve", {300}, [&](Var i) { return cast<std::uint8_t>(i * i / 7); });
  Stage colours =
      stage("colours", {40}, [&](Var i) { return cast<std::int16_t>(pack(i, i * i, 7 * i - 40)); });
  Stage soft = convolve("soft", in.border(border()), Mask{{1, 2, 1}});
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    const Accessor look_up = curve.border(border()), colour = colours.border(border());
    const Expr tone = look_up(soft(x, y) / 100 - 5);
    return colour(tone / 8 + x % 3).lane(1) + colour(soft(x, y) / 700 + 1).lane(2) + look_up(tone * 2 - 1);
  });
  agree({out});
}

TEST(MarchingRepeats, WhereAllOfAChainDo) {
  const Image<std::int32_t> in("in"), other("other", in.size());
  const Border repeat = Border::repeat();
  Stage sum = point("sum", in + other);  // has no border of its own, and is needed beyond the ends of both
  Stage near = stage("near", in.size(), [&](Var x, Var y) {
    return sum.border(repeat)(x - 2, y + 1) - other.border(repeat)(x + 1, y);
  });
  Stage same = point("same", near * 2 - in);
  Stage far = stage("far", in.size(), [&](Var x, Var y) {
    const Accessor of_same = same.border(repeat), of_near = near.border(repeat);
    return of_same(x + 9, y - 4) + of_near(x, y + 3) * 3 + sum(x, y);
  });
  Stage clamped = stage("clamped", in.size(),
                        [&](Var x, Var y) { return far.border(Border::clamp())(x + x % 2, y) - x; });
  EXPECT_TRUE(in_rows({far}, "near"));
  agree({far});
  agree({clamped});
}

INSTANTIATE_TEST_SUITE_P(Modes, Marching, testing::ValuesIn(border_modes()),
                         [](const auto& info) { return info.param; });

TEST(MarchingBoxes, ShrinkStageByStage) {
  const Image<std::int32_t> in("in");
  Stage a = stage("a", {in.width() + 8, in.height() + 6},
                  [&](Var x, Var y) { return in.border(Border::mirror())(x - 4, y - 3) + x * y; });
  Stage b =
      stage("b", {in.width() + 4, in.height() + 2}, [&](Var x, Var y) { return a(x, y + 4) - a(x + 4, y); });
  Stage c = stage("c", in.size(), [&](Var x, Var y) { return b(x + 4, y) + 2 * b(x, y + 2); });
  EXPECT_TRUE(in_rows({c}, "b"));
  agree({c});
}

TEST(MarchingBorders, OfReadersDiffer) {
  const Image<std::int32_t> in("in");
  Stage a = point("a", in * 3);
  Stage b = stage("b", in.size(), [&](Var x, Var y) {
    return a.border(Border::clamp())(x - 1, y) + a.border(Border::mirror101())(x, y + 1);
  });
  EXPECT_FALSE(in_rows({b}, "a"));
  agree({b});
}

TEST(MarchingBorders, AreParameters) {
  const Image<float> in("in");
  Param<float> edge("edge", 2.5f);
  Stage a = convolve("a", in.border(Border::constant(edge)),
                     Mask{{1.f, 2.f, 1.f}, {0.f, 1.f, 0.f}, {1.f, 2.f, 1.f}});
  Stage b = convolve("b", a.border(Border::constant(edge)),
                     Mask{{1.f, -2.f, 1.f}, {2.f, 0.f, -2.f}, {1.f, 2.f, 1.f}});
  EXPECT_TRUE(in_rows({b}, "a"));
  agree({b});
}

/// The image is read at the pixel alone, but by stages of different sizes: one needs it a row ahead of the
/// other.
TEST(MarchingStages, OfSeveralSizesReadAnImageAtTheirPixels) {
  const Image<float> in("in");
  Stage a = point("a", in + 1.f);
  Stage below = local("below", a.valid(), Domain(1, 2), Local::Product);
  agree({point("out", max(below, in))});
  Stage right = local("right", a.valid(), Domain(2, 1), Local::Max);
  agree({point("out", right - in)});
}

TEST(MarchingStages, ArePiecewiseOrKnowWhereTheyAre) {
  const Image<std::int32_t> in("in");
  Stage a = stage("a", in.size(), [&](Var x, Var y) {
    return cases().when(Expr(x) < 5, in(x, y) + y).otherwise(in.border(Border::clamp())(x - 1, y + 1));
  });
  Stage b = stage("b", in.size(), [&](Var x, Var y) { return a.border(Border::mirror())(x, y - 1) + x; });
  agree({b});
}

/// All that a strip keeps of a stage may lie to one side of it. Found by random pipelines.
TEST(MarchingStages, AreReadBesideNarrowImages) {
  const Image<std::int8_t> in("in");
  Stage a = point("a", in * 3);
  const Accessor src = a.border(Border::constant(-7));
  Stage right = stage("right", in.size(), [&](Var x, Var y) { return src(x + 40, y); });
  EXPECT_TRUE(in_rows({right}, "a"));
  agree({right});
  Stage wider = stage("wider", BoxAt{{-61, -3}, {in.width() + 125, in.height() + 7}},
                      [&](Var x, Var y) { return src(x, y) + src(x - 1, y); });
  agree({wider});
}

TEST_P(Marching, RowsFarOutsideOfWhatIsReadWhereItIs) {
  const Image<std::int16_t> in("in");
  Stage low =
      stage("low", in.size(), [&](Var x, Var y) { return in.border(border())(x, y + in.height() / 2); });
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return low.border(Border::clamp())(x, y - 1) + low.border(Border::clamp())(x + 2, y);
  });
  EXPECT_TRUE(in_rows({out}, "low"));
  agree({out});
}

// Found by: pyramid_blend on an H100, where a strip of seven rows ended just above the image
TEST(MarchingStages, BeginAndEndAboveAnImage) {
  for (const int above : {29, 30, 31, 32, 33, 34}) {
    const Image<int> in("in");
    const Accessor src = in.border(Border::clamp());
    Stage a = stage("a", {in.width(), in.height() + 40},
                    [&](Var x, Var y) { return src(x - 1, y - above) + src(x + 1, y - above); });
    Stage b = stage("b", {in.width(), in.height() + 40},
                    [&](Var x, Var y) { return a(x, y) * 2 - a.border(Border::clamp())(x, y + 1); });
    agree({b});
  }
}

TEST_P(Marching, SourcesThatMayBeEmpty) {
  const Image<std::int32_t> in("in");
  Stage half =
      stage("half", {in.width() / 2, in.height() / 2}, [&](Var x, Var y) { return in(2 * x, 2 * y) + 7; });
  Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return half.border(border())(x / 2, (y + 1) / 2); });
  agree({out});
}

TEST(MarchingBoxes, BeginAnywhereAtAnyRate) {
  const Image<std::int16_t> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor src = in.border(Border::mirror101());
  Stage fine = stage("fine", {{-7, -9}, {2 * w + 16, 2 * h + 20}},
                     [&](Var x, Var y) { return src(x / 2, y / 2) + x; });
  Stage half = stage("half", {{-3, -4}, {w + 6, h + 7}}, [&](Var x, Var y) {
    return max(fine(2 * x, 2 * y), fine(2 * x + 1, 2 * y + 1)) - fine(2 * x - 1, 2 * y - 1);
  });
  Stage out = stage("out", {{-5, -3}, {2 * w + 7, 2 * h + 5}},
                    [&](Var x, Var y) { return half((x + 1) / 2, y / 2) + y - half(x / 2, (y - 1) / 2); });
  EXPECT_TRUE(in_rows({out}, "fine"));
  EXPECT_TRUE(in_rows({out}, "half"));
  agree({out});
}

TEST(MarchingBoxes, TablesAreReadWhereTheyAre) {
  const Image<std::uint8_t> in("in");
  const Accessor src = in.border(Border::clamp());
  Stage table = stage("table", {300}, [&](Var i) { return i * i / 7; });
  Stage soft = stage("soft", in.size(), [&](Var x, Var y) { return src(x - 1, y) + src(x + 1, y + 2); });
  const Accessor of_soft = soft.border(Border::clamp());
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return table.border(Border::clamp())(of_soft(x, y - 1) - 5) + table.border(Border::clamp())(x - 2);
  });
  EXPECT_TRUE(in_rows({out}, "soft"));
  agree({out});
}

/// An image whose rows a file wants copied, beside one that is read where it lies between edges.
TEST(MarchingEdges, LeaveCopiedRowsOfOtherImagesWhole) {
  const Image<float> in("in"), other("other", in.size());
  const Accessor src = in.border(Border::clamp()), beside = other.border(Border::mirror());
  const Stage sum = stage("sum", in.size(), [&](Var x, Var y) {
    return src(x - 1, y) + src(x, y + 1) - beside(x + 1, y - 1) * beside(x, y);
  });
  const Pipeline pipeline("edges", Outputs(sum).strict());
  CompileOptions options = compile_options();
  options.schedule = R"({"groups": [], "kernels": {"sum": {
      "levels": [{"kind": "core", "extent": [64, 16], "edges": 16}], "kept": {"other": {"in_memory": false}}}}})";
  const Program program = pipeline.compile(options);
  for (const Size& extents : {Size{1, 1}, {40, 31}, {300, 40}})
    expect_agreement(
        program, pipeline,
        {{{"in", noise(in.type(), extents, 5)}, {"other", noise(in.type(), extents, 6)}}, {}, {}});
}

}  // namespace
}  // namespace weft::testing_support
