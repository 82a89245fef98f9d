// Every C++ snippet of docs/language.md, compiled, and run on tiny images. The last test checks that the page
// shows nothing that is not here.
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpret.h"
#include "tests/docs/page.h"

using namespace weft;

namespace {

using Images = std::map<std::string, Buffer>;

/// An image whose pixel (x, y) is x + 10 * y in every lane.
template <class T>
Buffer ramp(std::int64_t width, std::int64_t height, int lanes = 1) {
  Buffer image = Buffer::allocate(type_of<T>().with_lanes(lanes), {width, height});
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (int l = 0; l < lanes; ++l) image.lane(l).at<T>(x, y) = static_cast<T>(x + 10 * y);
    }
  }
  return image;
}

Buffer only_output(const Stage& stage, const Images& images) {
  return ir::interpret(Pipeline("p", stage).ir(), {images, {}}).at(stage.name());
}
Buffer only_output(const Application& application, const Images& images) {
  return ir::interpret(build(application).pipeline.ir(), {images, {}}).begin()->second;
}

}  // namespace

// ---- a pipeline ----

WEFT_PIPELINE(blur, {.summary = "3x3 binomial blur"}) {
  Image<float> in("in");
  const Mask binomial = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
  return convolve("blur", in.border(Border::clamp()), binomial);
}

TEST(Language, Pipeline) {
  EXPECT_FLOAT_EQ(only_output(applications().at("blur"), {{"in", ramp<float>(3, 3)}}).at<float>(1, 1), 11);
}

TEST(Language, PipelineInAFunction) {
  Image<float> in("in");
  Stage twice = point("twice", 2 * in);
  const Pipeline pipeline("twice", twice);
  const Program program = pipeline.compile();

  std::vector<float> pixels(64 * 48, 1.5f);
  Buffer result = program(Buffer::view(pixels, {64, 48}));
  float corner = result.at<float>(0, 0);
  EXPECT_EQ(corner, 3);
}

TEST(Language, Arguments) {
  Image<float> in("in");
  const Param<float> gain("gain", 2.f);
  const Program program =
      Pipeline("p", point("bright", in * gain)).compile({.target = Target::Reference, .compiler_flags = {}});

  std::vector<float> pixels(64 * 48, 1.f), space(64 * 48);
  Arguments arguments;
  arguments.images["in"] = Buffer::view(pixels, {64, 48});
  arguments.params["gain"] = 3;                                 // else 2, its initial value
  arguments.outputs["bright"] = Buffer::view(space, {64, 48});  // else allocated
  program.run(arguments);
  EXPECT_EQ(space[0], 3);
}

// ---- images ----

TEST(Language, Images) {
  Image<std::uint8_t> grey("grey");            // 2-D
  Image<Vec<std::uint8_t, 3>> rgb("rgb");      // pixels of three lanes
  Image<float> volume("volume", 3);            // 3-D
  Image<float> weight("weight", grey.size());  // has to be as large as grey
  Image<float> table("table", {16, 16});       // has to be 16x16
  AnyImage any("any", {Scalar::U8, Scalar::F32}, {1, 3});
  EXPECT_EQ(grey.type(), type_of<std::uint8_t>());
  EXPECT_EQ(rgb.type().lanes, 3);
  EXPECT_EQ(volume.rank(), 3);
  EXPECT_EQ(weight.rank(), 2);
  EXPECT_EQ(table.rank(), 2);
  EXPECT_EQ(any.type(), type_of<std::uint8_t>());
}

// ---- stages ----

TEST(Language, Point) {
  Image<float> dx("dx"), dy("dy", dx.size());
  Stage mag = point("mag", sqrt(dx * dx + dy * dy));
  EXPECT_FLOAT_EQ(only_output(mag, {{"dx", ramp<float>(5, 5)}, {"dy", ramp<float>(5, 5)}}).at<float>(3, 0),
                  std::sqrt(18.f));
}

TEST(Language, Local) {
  Image<std::uint8_t> in("in");
  auto src = in.border(Border::clamp());
  Stage dx = convolve("dx", src, Mask{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}});
  Stage wide = local("wide", src, Domain(5, 5), Local::Max);
  Stage middle = local("middle", src, Domain::disc(2), Local::Median);
  EXPECT_EQ(dx.type(), type_of<int>());
  EXPECT_EQ(only_output(dx, {{"in", ramp<std::uint8_t>(5, 5)}}).at<int>(2, 2), 8);
  EXPECT_EQ(only_output(wide, {{"in", ramp<std::uint8_t>(5, 5)}}).at<std::uint8_t>(0, 0), 22);
  EXPECT_EQ(only_output(middle, {{"in", ramp<std::uint8_t>(5, 5)}}).at<std::uint8_t>(2, 2), 22);
}

TEST(Language, AfterAWindow) {
  Image<std::uint8_t> in("in");
  auto src = in.border(Border::clamp());
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
  Stage blurred = convolve("blurred", src, b3, [](Expr e) { return saturate<std::uint8_t>(e); });
  EXPECT_EQ(only_output(blurred, {{"in", ramp<std::uint8_t>(5, 5)}}).at<std::uint8_t>(2, 2), 22);
}

TEST(Language, General) {
  Image<float> in("in");
  Stage half = stage("half", in.size() / 2,
                     [&](Var x, Var y) { return (in(2 * x, 2 * y) + in(2 * x + 1, 2 * y)) / 2; });
  const Buffer result = only_output(half, {{"in", ramp<float>(5, 4)}});
  EXPECT_EQ(result.extents(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(result.at<float>(1, 1), 22.5f);
}

TEST(Language, OtherRanks) {
  Image<float> in("in");
  Image<float> volume("volume", 3);
  Stage row = stage("row", {in.width()}, [&](Var x) { return in(x, 0); });
  Stage front =
      stage("front", {volume.width(), volume.height()}, [&](Var x, Var y) { return volume(x, y, 0); });
  EXPECT_EQ(only_output(row, {{"in", ramp<float>(5, 4)}}).at<float>(3), 3);
  EXPECT_EQ(only_output(front, {{"volume", Buffer::allocate(type_of<float>(), {2, 3, 4})}}).rank(), 2);
}

// ---- reading ----

TEST(Language, Borders) {
  Image<float> in("in");
  const Mask sum{{1, 1, 1}};
  Stage soft = convolve("soft", in.border(Border::mirror()), sum);
  Stage dark = convolve("dark", in.border(Border::constant(0)), sum);
  EXPECT_EQ(only_output(soft, {{"in", ramp<float>(3, 1)}}).at<float>(0, 0), 1);
  EXPECT_EQ(only_output(dark, {{"in", ramp<float>(3, 1)}}).at<float>(2, 0), 3);
}

TEST(Language, BorderPictures) {
  // What a read of a b c d at -6 to 9 finds, as the page shows it.
  const auto picture = [](ir::BorderMode mode) {
    std::string text;
    for (int i = -6; i < 10; ++i) {
      const std::int64_t at = ir::border_index(mode, i, 4);
      if (i == 0 || i == 4) text += "| ";
      text += at < 0 ? "v " : std::string(1, static_cast<char>('a' + at)) + " ";
    }
    text.pop_back();
    return text;
  };
  EXPECT_EQ(picture(ir::BorderMode::Clamp), "a a a a a a | a b c d | d d d d d d");
  EXPECT_EQ(picture(ir::BorderMode::Mirror), "c d d c b a | a b c d | d c b a a b");
  EXPECT_EQ(picture(ir::BorderMode::Mirror101), "a b c d c b | a b c d | c b a b c d");
  EXPECT_EQ(picture(ir::BorderMode::Repeat), "c d a b c d | a b c d | a b c d a b");
  EXPECT_EQ(picture(ir::BorderMode::Constant), "v v v v v v | a b c d | v v v v v v");
}

TEST(Language, Valid) {
  Image<float> in("in");
  const Mask box{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  Stage once = convolve("once", in.valid(), box);      // x in [1, w - 2]
  Stage twice = convolve("twice", once.valid(), box);  // x in [2, w - 3]
  const Buffer result = only_output(twice, {{"in", ramp<float>(6, 5)}});
  EXPECT_EQ(result.extents(), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(result.at<float>(0, 0), 81 * 22);
  Stage some = never_empty(twice, "give an image of at least 5x5");
  EXPECT_THROW(only_output(some, {{"in", ramp<float>(4, 5)}}), Error);
}

TEST(Language, Crop) {
  Image<float> in("in");
  Accessor middle = in.crop({in.width() / 4, in.height() / 4}, in.size() / 2);
  Stage blurred = convolve("blurred", middle.border(Border::clamp()), Mask{{1, 1, 1}});
  const Buffer result = only_output(blurred, {{"in", ramp<float>(8, 8)}});
  EXPECT_EQ(result.extents(), (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(result.at<float>(0, 0), 22 + 22 + 23);
}

TEST(Language, CropOfAKnownSize) {
  Image<float> photo("photo", {640, 480});
  Stage corner = point("corner", photo.crop({10, 10}, {20, 20}) * 2.f);
  const Buffer result = only_output(corner, {{"photo", ramp<float>(640, 480)}});
  EXPECT_EQ(result.extents(), (std::vector<std::int64_t>{20, 20}));
  EXPECT_EQ(result.at<float>(0, 0), 220);
}

TEST(Language, OutputRegion) {
  Image<float> in("in");
  const BoxAt middle{{in.width() / 4, in.height() / 4}, in.size() / 2};
  Stage part = stage("part", middle, [&](Var x, Var y) { return in(x, y) + x; });
  EXPECT_EQ(only_output(part, {{"in", ramp<float>(8, 8)}}).at<float>(0, 0), 22 + 2);
}

TEST(Language, Scaled) {
  Image<float> in("in");
  auto src = in.border(Border::clamp());
  Stage flip = stage("flip", in.size(), [&](Var x, Var y) { return in(in.width() - 1 - x, y); });
  Stage twice = stage("twice", in.size() * 2, [&](Var x, Var y) { return in(x / 2, y / 2); });
  Stage shifted = stage("shifted", in.size(), [&](Var x, Var y) { return src((x - 1) / 2, y); });
  EXPECT_EQ(only_output(flip, {{"in", ramp<float>(4, 2)}}).at<float>(0, 1), 13);
  EXPECT_EQ(only_output(twice, {{"in", ramp<float>(4, 2)}}).at<float>(5, 3), 12);
  EXPECT_EQ(only_output(shifted, {{"in", ramp<float>(4, 2)}}).at<float>(3, 0), 1);
}

TEST(Language, Gather) {
  Image<std::uint8_t> in("in");
  Image<float> table("table", 1);
  auto colour = table.border(Border::clamp());
  Stage looked_up = stage("looked_up", in.size(), [&](Var x, Var y) { return colour(in(x, y)); });
  Buffer values = Buffer::allocate(type_of<float>(), {4});
  values.at<float>(3) = 7;
  EXPECT_EQ(only_output(looked_up, {{"in", ramp<std::uint8_t>(8, 1)}, {"table", values}}).at<float>(6, 0), 7);
}

TEST(Language, CoordinatesAsValues) {
  Image<float> in("in");
  Stage fade = stage("fade", in.size(), [&](Var x, Var y) { return in(x, y) * x / in.width(); });
  Stage checks = stage("checks", in.size(),
                       [&](Var x, Var y) { return select((x / 8 + y / 8) % 2 == 0, in(x, y), 0.f); });
  EXPECT_FLOAT_EQ(only_output(fade, {{"in", ramp<float>(4, 1)}}).at<float>(3, 0), 2.25f);
  EXPECT_EQ(only_output(checks, {{"in", ramp<float>(16, 4)}}).at<float>(8, 0), 0);
}

// ---- values ----

TEST(Language, Types) {
  Image<std::uint8_t> a("a"), b("b", a.size());
  const auto type = [](const Expr& e) { return name_of(e.type()); };
  EXPECT_EQ(type(a + b), "i32");
  EXPECT_EQ(type(a + 1u), "u32");
  EXPECT_EQ(type(a * 0.5f), "f32");
  EXPECT_EQ(type(a * 0.5), "f64");
  EXPECT_EQ(type(a / 2), "i32");
  EXPECT_EQ(type(min(a, b)), "u8");
  EXPECT_EQ(type(min(a, 255)), "i32");
  EXPECT_EQ(type(select(a > b, a, b)), "u8");
  EXPECT_EQ(type(a > b), "bool");
  EXPECT_EQ(type(sqrt(a)), "f32");
  EXPECT_EQ(type(sqrt(cast<std::int64_t>(a))), "f64");
  EXPECT_EQ(type(-a), "i32");
  EXPECT_EQ(type(a << 3), "i32");
  EXPECT_EQ(type(cast<std::uint8_t>(a) << cast<std::int64_t>(b)), "i32");
  EXPECT_EQ(type(cast<half>(a) + cast<half>(b)), "f32");
  EXPECT_EQ(type(cast<std::int64_t>(a) + cast<std::uint64_t>(b)), "u64");
  EXPECT_EQ(type(cast<std::int64_t>(a) + 1.f), "f32");
  EXPECT_EQ(type(pack(a, b) * 0.5f), "f32x2");
}

TEST(Language, Rounding) {
  Image<float> in("in");
  Stage out = point("out", saturate<std::uint8_t>(in * 1.5f));
  EXPECT_EQ(only_output(out, {{"in", ramp<float>(2, 1)}}).at<std::uint8_t>(1, 0), 2);
}

TEST(Language, Lanes) {
  Image<Vec<std::uint8_t, 3>> in("in");
  Expr rgb = in;
  Expr grey = .299f * rgb.lane(0) + .587f * rgb.lane(1) + .114f * rgb.lane(2);
  Stage swapped = point("swapped", pack(rgb.lane(2), rgb.lane(1), rgb.lane(0)));
  Stage pale = point("pale", saturate<std::uint8_t>(rgb * 0.5f + grey * 0.5f));
  Stage marked = point("marked", select(grey > 200.f, Vec<std::uint8_t, 3>{255, 0, 0}, rgb));
  Stage weighted = point("weighted", dot(in, Vec<float, 3>{.3f, .6f, .1f}));
  EXPECT_EQ(marked.type(), in.type());
  EXPECT_EQ(weighted.type(), type_of<float>());
  EXPECT_EQ(swapped.type(), (type_of<Vec<std::uint8_t, 3>>()));
  EXPECT_EQ(only_output(pale, {{"in", ramp<std::uint8_t>(4, 1, 3)}}).lane(0).at<std::uint8_t>(3, 0), 3);
}

// ---- windows ----

TEST(Language, Masks) {
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
  const Mask same = Mask::outer({1, 2, 1}, {1, 2, 1}) / 16.f;
  const Mask ring = Mask::from(7, 7, [](int dx, int dy) { return dx * dx + dy * dy >= 6 ? 1 : 0; });
  const Mask down = Mask{{-1, 0, 1}}.transposed();
  EXPECT_TRUE(b3.node()->coefficients == same.node()->coefficients);
  EXPECT_EQ(ring.node()->coefficients[24].as_double(), 0);
  EXPECT_EQ(down.height(), 3);
}

TEST(Language, Domains) {
  const Mask ring = Mask::from(3, 3, [](int dx, int dy) { return dx != 0 || dy != 0 ? 1 : 0; });
  const Domain dense(5, 3);                                      // x from -2 to 2, y from -1 to 1
  const Domain even(4, 1);                                       // x from -2 to 1
  const Domain cross{{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}};  // in this order
  const Domain around(ring);                                     // where the mask is not 0
  const Domain round = Domain::disc(2);
  EXPECT_EQ(dense.node().points.size(), 15u);
  EXPECT_EQ(even.node().points[0][0], -2);
  EXPECT_EQ(cross.node().points[0][1], -1);
  EXPECT_EQ(around.node().points.size(), 8u);
  EXPECT_EQ(round.node().points.size(), 13u);
}

TEST(Language, Folds) {
  Image<float> in("in");
  auto src = in.border(Border::clamp());
  Stage energy = stage("energy", in.size(), [&](Var x, Var y) {
    return sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y) * src(x + t.x, y + t.y); });
  });
  EXPECT_EQ(only_output(energy, {{"in", ramp<float>(3, 1)}}).at<float>(1, 0), 15);
}

TEST(Language, Bodies) {
  Image<float> in("in");
  const Mask closeness =
      Mask::from(5, 5, [](int dx, int dy) { return std::exp(-(dx * dx + dy * dy) / 4.f); });
  auto src = in.border(Border::mirror());
  Stage smooth = stage("smooth", in.size(), [&](Var x, Var y) {
    Accum<float> weights = 0, total = 0;
    for_each(Domain(closeness), [&](Tap t) {
      Expr v = src(x + t.x, y + t.y);
      Expr d = v - src(x, y);
      Expr w = closeness(t) * exp(-d * d);
      weights += w;
      total += w * v;
    });
    return total / weights;
  });
  const Buffer flat = Buffer::allocate(type_of<float>(), {3, 3});
  EXPECT_EQ(only_output(smooth, {{"in", flat}}).at<float>(1, 1), 0);
}

TEST(Language, OrderInABody) {
  Image<float> in("in");
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    Accum<float> a = 1, b = 0;
    for_each(Domain(3, 1), [&](Tap) {
      a += a;  // 2, 4, 8
      b += a;  // 2, 6, 14: the new a
    });
    return b + 0 * in(x, y);
  });
  EXPECT_EQ(only_output(out, {{"in", ramp<float>(1, 1)}}).at<float>(0, 0), 14);
}

// ---- cases ----

// ---- resampling and pyramids ----

TEST(Language, Interpolation) {
  Image<float> in("in");
  auto src = in.border(Border::clamp()).interpolate(Interpolation::Bicubic);
  Stage turned =
      stage("turned", in.size(), [&](Var x, Var y) { return src(.8f * x - .6f * y, .6f * x + .8f * y); });
  const Buffer result = only_output(turned, {{"in", ramp<float>(12, 12)}});
  EXPECT_NEAR(result.at<float>(5, 4), 1.6 + 62, 1e-3);  // Keys' cubic is exact on a ramp
}

TEST(Language, Resize) {
  Image<std::uint8_t> in("in");
  Stage twice = resize("twice", in.border(Border::clamp()), in.size() * 2, Interpolation::Bilinear);
  Stage thumb = resize("thumb", in.border(Border::clamp()), {160, 120}, Interpolation::Lanczos3,
                       [](Expr e) { return saturate<std::uint8_t>(e); });
  const Images images = {{"in", ramp<std::uint8_t>(8, 6)}};
  EXPECT_FLOAT_EQ(only_output(twice, images).at<float>(5, 4), 2.25f + 17.5f);
  EXPECT_EQ(only_output(thumb, images).extents(), (std::vector<std::int64_t>{160, 120}));
}

TEST(Language, Pyramid) {
  Image<float> in("in");
  const Border border = Border::mirror();
  const Pyramid g("g", in, 3, [&](const std::string& name, const Source& finer) {
    return reduce_level(name, finer.border(border));
  });
  Stage details = point("details", g[0] - expand_level("up", g[1].border(border), g[0].size()));
  EXPECT_NEAR(only_output(details, {{"in", ramp<float>(16, 16)}}).at<float>(6, 7), 0, 1e-4);
}

TEST(Language, Traverse) {
  Image<float> in("in");
  const Border border = Border::mirror();
  Stage sharp = traverse(in, 3,
                         {.reduce = binomial_reduce(border),
                          .filter = [&](const std::string& name, const Pyramid& g, int level) -> Source {
                            if (level + 1 == g.levels()) return g[level];
                            Stage up =
                                expand_level(name + "_up", g[level + 1].border(border), g[level].size());
                            return point(name, (1.f + 1.f / (1 << level)) * (g[level] - up));
                          },
                          .expand = expand_and_add(border)});
  EXPECT_EQ(sharp.name(), "out0");
  Buffer spot = Buffer::allocate(type_of<float>(), {16, 16});
  spot.at<float>(8, 8) = 1;
  EXPECT_GT(only_output(sharp, {{"in", spot}}).at<float>(8, 8), 1.5f);
}

TEST(Language, PyramidsThatMeet) {
  Image<float> left("left"), right("right", left.size());
  const Border border = Border::mirror();
  const Pyramid a("a", left, 3, binomial_reduce(border)), b("b", right, 3, binomial_reduce(border));
  const Pyramid mean("mean", 3, [&](const std::string& name, int level) {
    return point(name, (a[level] + b[level]) / 2.f);
  });
  Stage out = mean.collapse("out", expand_and_add(border));
  EXPECT_EQ(only_output(out, {{"left", ramp<float>(9, 8)}, {"right", ramp<float>(9, 8)}}).extents(),
            (std::vector<std::int64_t>{9, 8}));
}

TEST(Language, Cases) {
  Image<float> in("in");
  Stage slope = stage("slope", in.size(), [&](Var x, Var y) {
    return cases()
        .when(x == 0, 0.f)  // in(-1, y) is not read
        .otherwise(in(x, y) - in(x - 1, y));
  });
  EXPECT_EQ(only_output(slope, {{"in", ramp<float>(3, 1)}}).at<float>(2, 0), 1);
}

// ---- reductions, scattering, time ----

TEST(Language, Reductions) {
  Image<float> in("in");
  Stage least = reduce("least", in, Reduce::min());
  Stage greatest = reduce("greatest", in, Reduce::max());
  Stage stretched = point("stretched", (in - least) / (greatest - least));
  EXPECT_FLOAT_EQ(only_output(stretched, {{"in", ramp<float>(3, 2)}}).at<float>(0, 1), 10 / 12.f);
}

TEST(Language, WhatIsReduced) {
  Image<float> dx("dx"), dy("dy", dx.size()), in("in", {6, 5});
  Stage energy = reduce("energy", dx * dx + dy * dy, Reduce::sum());
  Stage moment = reduce(
      "moment", in.crop({2, 1}, {4, 4}), [&](Var x, Var y) { return in(x + 2, y + 1) * x; }, Reduce::sum());
  const Images two = {{"dx", ramp<float>(2, 1)}, {"dy", ramp<float>(2, 1)}};
  EXPECT_EQ(*static_cast<const float*>(only_output(energy, two).data()), 2);
  EXPECT_EQ(*static_cast<const float*>(only_output(moment, {{"in", ramp<float>(6, 5)}}).data()),
            4 * 26 + 24 * 25);  // columns 2 to 5, times 0 to 3
}

TEST(Language, OperatorsOfYourOwn) {
  Image<float> in("in");
  const auto nearer = [](const Expr& a, const Expr& b) { return select(abs(b) < abs(a), b, a); };
  Stage near_zero = reduce("near_zero", in, Reduce(nearer).identity(1e30f));
  EXPECT_EQ(*static_cast<const float*>(only_output(near_zero, {{"in", ramp<float>(3, 3)}}).data()), 0);
}

TEST(Language, Scattering) {
  Image<std::uint8_t> in("in");
  Stage histogram = scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
  Stage sums =
      scatter("sums", {in.width() / 8 + 1, in.height() / 8 + 1}, Vec<int, 2>{0, 0}, in, [&](Var x, Var y) {
        return add({x / 8, y / 8}, pack(cast<int>(in(x, y)), 1));
      });
  const Images images = {{"in", ramp<std::uint8_t>(9, 3)}};
  EXPECT_EQ(only_output(histogram, images).at<unsigned>(28), 1u);
  EXPECT_EQ((only_output(sums, images).at<Vec<int, 2>>(1, 0)[0]), 8 + 18 + 28);
}

TEST(Language, StepsInTime) {
  const Param<int> steps("steps", 1, at_least(0));
  Field<float> u("u");
  Stage heat = evolve("heat", u, steps, [&](Var x, Var y) {
    return .25f * (u(x - 1, y) + u(x + 1, y) + u(x, y - 1) + u(x, y + 1));
  });
  EXPECT_EQ(only_output(heat, {{"u", ramp<float>(4, 4)}}).at<float>(1, 2), 21);
}

TEST(Language, SeveralFields) {
  const Param<int> steps("steps", 1, at_least(0));
  Field<float> height("height", 1), flow("flow", Image<float>("start", height.size()));
  const std::vector<Stage> after = evolve(
      steps, {update("height_end", height, [&](Var x) { return height(x) - .5f * (flow(x + 1) - flow(x)); }),
              update("flow_end", flow,
                     [&](Var x) { return flow(x) - .5f * (height.now()(x) - height.now()(x - 1)); })});
  Buffer row = Buffer::allocate(type_of<float>(), {3}), still = Buffer::allocate(type_of<float>(), {3});
  for (int x = 0; x < 3; ++x) row.at<float>(x) = static_cast<float>(4 * x), still.at<float>(x) = 0;
  EXPECT_EQ(only_output(after[1], {{"height", row}, {"start", still}}).at<float>(1), -2);
}

// ---- applications ----

WEFT_PIPELINE(soften, {.summary = "mean of a square", .source = "examples"}) {
  Image<float> in("in");
  const Option<int> radius("radius", 1, {1, 2, 3});   // fixed when the pipeline is built
  const Param<float> gain("gain", 1.f, at_least(0));  // an argument of every run
  const int side = 2 * radius + 1;
  Stage mean = local("mean", in.border(border_option("mirror")), Domain(side, side), Local::Mean);
  return point("out", gain * mean);
}

TEST(Language, OptionsAndParameters) {
  const Application& soften = applications().at("soften");
  const Built built = build(soften, {.options = {{"radius", "2"}}, .image_types = {}});
  EXPECT_EQ(built.options.size(), 3u);  // and border, border_value
  EXPECT_THROW(build(soften, {.options = {{"radius", "9"}}, .image_types = {}}), Error);
  EXPECT_FLOAT_EQ(only_output(soften, {{"in", ramp<float>(3, 3)}}).at<float>(1, 1), 11);
}

WEFT_PIPELINE(gradient, {.summary = "both derivatives"}) {
  Image<float> in("in");
  auto src = in.border(Border::clamp());
  Stage dx = convolve("dx", src, Mask{{-1, 0, 1}});
  Stage dy = convolve("dy", src, Mask{{-1}, {0}, {1}});
  return Outputs{dx, dy}.strict();
}

TEST(Language, Outputs) {
  const Built built = build(applications().at("gradient"));
  EXPECT_TRUE(built.pipeline.ir().strict);
  EXPECT_EQ(built.pipeline.ir().outputs.size(), 2u);
}

// ---- on a GPU ----

namespace {

/// Compiled only: it needs a GPU.
[[maybe_unused]] Buffer bright_on_gpu(const Pipeline& pipeline, void* pixels, std::int64_t width,
                                      std::int64_t height, void* stream) {
  CompileOptions options;
  options.target = Target::Cuda;
  const Program on_gpu = pipeline.compile(options);

  Arguments arguments;
  arguments.images["in"] = Buffer::on_gpu(pixels, type_of<float>(), {width, height});
  Buffer bright = on_gpu.run_on(stream, arguments).at("bright");  // allocated on the GPU
  return bright;
}

}  // namespace

// ---- errors ----

TEST(Language, Errors) {
  try {
    Image<float> in("in");
    Stage blur = convolve("blur", in, Mask{{1, 2, 1}});
    Pipeline("p", blur);
    FAIL() << "a read outside the image was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("error: 'blur' reads 'in' outside its box\n"
                        "  needs   in x in [-1, w]\n"
                        "  defined in x in [0, w - 1]\n"
                        "  help: read it through in.border(Border::clamp()) or another "
                        "mode, or make the box of 'blur' smaller"),
              std::string::npos)
        << error.what();
  }
}

// ---- the page ----

TEST(Language, PageShowsTheseSnippets) {
  const std::string page = WEFT_SOURCE_DIR "/docs/language.md";
  EXPECT_FALSE(testing_support::snippets_of(testing_support::text_of(page)).empty());
  EXPECT_EQ(testing_support::snippets_without_test(page, {WEFT_SNIPPETS}), std::vector<std::string>{});
}
