// What docs/cookbook.md has for calls of OpenCV, compiled, and compared with what OpenCV 5.0.0 makes of the
// same picture (data/, made by make_opencv_data.py).
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cmath>

#include "tests/oracle/npy.h"
#include "tests/support/differential.h"

using namespace weft;
using namespace weft::testing_support;

namespace {

using Images = std::map<std::string, Buffer>;
using Params = std::map<std::string, double>;

Buffer loaded(const std::string& name) {
  return oracle::load_npy(WEFT_SOURCE_DIR "/tests/docs/data/" + name + ".npy");
}

/// Runs the pipeline of this stage, on the grey picture unless other images are given; "" if OpenCV's pixels
/// are the same, or within the bound.
std::string against_opencv(const std::string& call, const Stage& out, const Bound& bound = exactly,
                           Images images = {}, const Params& params = {}) {
  if (images.empty()) images["in"] = loaded("grey");
  const Buffer got = interpreted(Pipeline("p", out), {images, params, {}}).at(out.name());
  Buffer expected = loaded(call);
  if (got.rank() == 1)
    expected = Buffer(expected.data(), expected.type(), {expected.extent(0)}, {1}).packed();
  return difference(expected, got, bound);
}

// ---- windows ----

TEST(OpenCv, GaussianBlur) {
  Image<std::uint8_t> in("in");
  // cv::GaussianBlur(in, out, {5, 5}, 0);
  const Mask b5 = Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1});
  Stage out = convolve("out", in.border(Border::mirror101()), b5,
                       [](Expr e) { return saturate<std::uint8_t>((e + 128) >> 8); });
  EXPECT_EQ(against_opencv("GaussianBlur", out), "");
}

TEST(OpenCv, GaussianBlurWithSigma) {
  Image<float> in("in");
  // cv::GaussianBlur(in, out, {13, 13}, 2);
  std::vector<Mask::Coefficient> row;
  double total = 0;
  for (int d = -6; d <= 6; ++d) total += std::exp(-d * d / (2 * 2.0 * 2.0));
  for (int d = -6; d <= 6; ++d) row.push_back(static_cast<float>(std::exp(-d * d / (2 * 2.0 * 2.0)) / total));
  Stage out = convolve("out", in.border(Border::mirror101()), Mask::outer(row, row));
  Buffer grey = Buffer::allocate(type_of<float>(), {67, 49});
  const Buffer bytes = loaded("grey");
  for (std::int64_t y = 0; y < 49; ++y) {
    for (std::int64_t x = 0; x < 67; ++x) grey.at<float>(x, y) = bytes.at<std::uint8_t>(x, y);
  }
  EXPECT_EQ(against_opencv("GaussianBlur_sigma", out, {.largest = 2e-4}, {{"in", grey}}), "");
}

TEST(OpenCv, Blur) {
  Image<std::uint8_t> in("in");
  // cv::blur(in, out, {5, 5});
  Stage out = local("out", in.border(Border::mirror101()), Domain(5, 5), Local::Mean,
                    [](Expr e) { return saturate<std::uint8_t>(e); });
  EXPECT_EQ(against_opencv("blur", out), "");
}

TEST(OpenCv, Sobel) {
  Image<std::uint8_t> in("in");
  // cv::Sobel(in, out, CV_16S, 1, 0);
  Stage out = convolve("out", in.border(Border::mirror101()), Mask{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}});
  EXPECT_EQ(against_opencv("Sobel", out), "");
}

TEST(OpenCv, Filter2D) {
  Image<std::uint8_t> in("in");
  // cv::filter2D(in, out, -1, (cv::Mat_<float>(3, 3) << 0, -1, 0, -1, 5, -1, 0, -1, 0));
  Stage out = convolve("out", in.border(Border::mirror101()), Mask{{0, -1, 0}, {-1, 5, -1}, {0, -1, 0}},
                       [](Expr e) { return saturate<std::uint8_t>(e); });
  EXPECT_EQ(against_opencv("filter2D", out), "");
}

TEST(OpenCv, Morphology) {
  Image<std::uint8_t> in("in");
  // cv::Mat ellipse = cv::getStructuringElement(cv::MORPH_ELLIPSE, {5, 5});
  // cv::dilate(in, wider, ellipse);
  // cv::erode(in, narrower, ellipse);
  const Domain ellipse(
      Mask{{0, 0, 1, 0, 0}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {0, 0, 1, 0, 0}});
  Stage wider = local("wider", in.border(Border::constant(0)), ellipse, Local::Max);
  Stage narrower = local("narrower", in.border(Border::constant(255)), ellipse, Local::Min);
  EXPECT_EQ(against_opencv("dilate", wider), "");
  EXPECT_EQ(against_opencv("erode", narrower), "");
}

TEST(OpenCv, MedianBlur) {
  Image<std::uint8_t> in("in");
  // cv::medianBlur(in, out, 5);
  Stage out = local("out", in.border(Border::clamp()), Domain(5, 5), Local::Median);
  EXPECT_EQ(against_opencv("medianBlur", out), "");
}

TEST(OpenCv, BilateralFilter) {
  Image<std::uint8_t> in("in");
  // cv::bilateralFilter(in, out, 9, 25, 3);
  const Mask closeness = Mask::from(9, 9, [](int dx, int dy) {
    return static_cast<float>(std::exp(-(dx * dx + dy * dy) / (2 * 3.0 * 3.0)));
  });
  const Accessor src = in.border(Border::mirror101());
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    Accum<float> weights = 0, total = 0;
    for_each(Domain::disc(4), [&](Tap t) {
      const Expr v = src(x + t.x, y + t.y), d = cast<float>(v - src(x, y));
      const Expr weight = closeness(t) * exp(d * d / (-2 * 25.f * 25.f));
      weights += weight;
      total += weight * v;
    });
    return saturate<std::uint8_t>(total / weights);
  });
  EXPECT_EQ(against_opencv("bilateralFilter", out, {.largest = 1, .share = 1e-3}), "");
}

TEST(OpenCv, PyrDown) {
  Image<std::uint8_t> in("in");
  // cv::pyrDown(in, out);
  const Mask b5 = Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1});
  const Accessor src = in.border(Border::mirror101());
  Stage out = stage("out", {(in.width() + 1) / 2, (in.height() + 1) / 2}, [&](Var x, Var y) {
    const Expr total = sum(Domain(b5), [&](Tap t) { return b5(t) * src(2 * x + t.x, 2 * y + t.y); });
    return saturate<std::uint8_t>((total + 128) >> 8);
  });
  EXPECT_EQ(against_opencv("pyrDown", out), "");
}

// ---- pixels ----

TEST(OpenCv, CvtColor) {
  Image<Vec<std::uint8_t, 3>> in("in");
  // cv::cvtColor(in, out, cv::COLOR_BGR2GRAY);
  const Expr b = in.lane(0), g = in.lane(1), r = in.lane(2);
  Stage out = point("out", cast<std::uint8_t>((3735 * b + 19235 * g + 9798 * r + (1 << 14)) >> 15));
  EXPECT_EQ(against_opencv("grey", out, exactly, {{"in", loaded("picture")}}), "");
}

TEST(OpenCv, Threshold) {
  Image<std::uint8_t> in("in");
  // cv::threshold(in, out, 128, 255, cv::THRESH_BINARY);
  const Param<std::uint8_t> level("level", 128);
  Stage out = point("out", select(in > level, std::uint8_t{255}, std::uint8_t{0}));
  EXPECT_EQ(against_opencv("threshold", out), "");
}

TEST(OpenCv, InRange) {
  Image<Vec<std::uint8_t, 3>> in("in");
  // cv::inRange(in, {20, 30, 40}, {200, 210, 220}, out);
  const Expr inside = in >= Vec<int, 3>{20, 30, 40} && in <= Vec<int, 3>{200, 210, 220};
  const Expr all = inside.lane(0) && inside.lane(1) && inside.lane(2);
  Stage out = point("out", select(all, std::uint8_t{255}, std::uint8_t{0}));
  EXPECT_EQ(against_opencv("inRange", out, exactly, {{"in", loaded("picture")}}), "");
}

TEST(OpenCv, TwoPictures) {
  Image<Vec<std::uint8_t, 3>> in("in");
  const Expr b = in.lane(0), g = in.lane(1), r = in.lane(2);
  Stage grey = point("grey", cast<std::uint8_t>((3735 * b + 19235 * g + 9798 * r + (1 << 14)) >> 15));
  Stage blue = point("blue", in.lane(0));
  {
    const Stage one = grey, two = blue;
    // cv::addWeighted(one, 0.3, two, 0.7, 5, sum);
    // cv::absdiff(one, two, distance);
    Stage sum = point("sum", saturate<std::uint8_t>(one * .3f + two * .7f + 5.f));
    Stage distance = point("distance", cast<std::uint8_t>(abs(one - two)));
    EXPECT_EQ(against_opencv("addWeighted", sum, exactly, {{"in", loaded("picture")}}), "");
    EXPECT_EQ(against_opencv("absdiff", distance, exactly, {{"in", loaded("picture")}}), "");
  }
}

TEST(OpenCv, Lut) {
  Image<std::uint8_t> in("in");
  // cv::LUT(in, table, out);
  Image<std::uint8_t> table("table", {256});
  const Accessor looked_up = table.border(Border::clamp());
  Stage out = stage("out", in.size(), [&](Var x, Var y) { return looked_up(in(x, y)); });
  const Buffer curve = loaded("curve");
  EXPECT_EQ(
      against_opencv("LUT", out, exactly,
                     {{"in", loaded("grey")}, {"table", Buffer(curve.data(), curve.type(), {256}, {1})}}),
      "");
}

// ---- pixels from elsewhere ----

TEST(OpenCv, ResizeLinear) {
  Image<std::uint8_t> in("in");
  // cv::resize(in, out, {40, 30});
  Stage out = resize("out", in.border(Border::clamp()), {40, 30}, Interpolation::Bilinear,
                     [](Expr e) { return saturate<std::uint8_t>(e); });
  EXPECT_EQ(against_opencv("resize_linear", out, {.largest = 1, .share = 0.13}), "");
}

TEST(OpenCv, ResizeNearest) {
  Image<std::uint8_t> in("in");
  // cv::resize(in, out, {40, 30}, 0, 0, cv::INTER_NEAREST);
  const Accessor src = in.border(Border::clamp());
  Stage out =
      stage("out", {40, 30}, [&](Var x, Var y) { return src(x * in.width() / 40, y * in.height() / 30); });
  EXPECT_EQ(against_opencv("resize_nearest", out), "");
}

TEST(OpenCv, ResizeArea) {
  Image<std::uint8_t> in("in");
  // cv::resize(in, out, in.size() / 4, 0, 0, cv::INTER_AREA);
  Stage out = stage("out", in.size() / 4, [&](Var x, Var y) {
    const Expr total = sum(Domain(4, 4), [&](Tap t) { return in(4 * x + 2 + t.x, 4 * y + 2 + t.y); });
    return saturate<std::uint8_t>(total / 16.f);
  });
  EXPECT_EQ(against_opencv("resize_area", out), "");
}

TEST(OpenCv, WarpAffine) {
  Image<std::uint8_t> in("in");
  // cv::warpAffine(in, out, m, in.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP);
  const Param<float> a("a", 1), b("b", 0), tx("tx", 0), c("c", 0), d("d", 1), ty("ty", 0);
  const Interpolated at = in.border(Border::constant(0)).interpolate(Interpolation::Bilinear);
  Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return saturate<std::uint8_t>(at(a * x + b * y + tx, c * x + d * y + ty));
  });
  const Params turn{{"a", .8}, {"b", -.6}, {"tx", 20.5}, {"c", .6}, {"d", .8}, {"ty", -14.25}};
  EXPECT_EQ(against_opencv("warpAffine", out, {.largest = 1, .share = 5e-3}, {}, turn), "");
}

TEST(OpenCv, Remap) {
  Image<std::uint8_t> in("in");
  // cv::remap(in, out, map, {}, cv::INTER_LINEAR);
  Image<Vec<float, 2>> map("map");
  const Interpolated at = in.border(Border::constant(0)).interpolate(Interpolation::Bilinear);
  Stage out = stage("out", map.size(), [&](Var x, Var y) {
    const Expr from = map(x, y);
    return saturate<std::uint8_t>(at(from.lane(0), from.lane(1)));
  });
  EXPECT_EQ(against_opencv("remap", out, exactly, {{"in", loaded("grey")}, {"map", loaded("wave")}}), "");
}

TEST(OpenCv, FlipAndTranspose) {
  Image<std::uint8_t> in("in");
  // cv::flip(in, mirrored, 1);
  // cv::transpose(in, across);
  // cv::copyMakeBorder(in, wider, 3, 3, 4, 4, cv::BORDER_REFLECT);
  Stage mirrored = stage("mirrored", in.size(), [&](Var x, Var y) { return in(in.width() - 1 - x, y); });
  Stage across = stage("across", {in.height(), in.width()}, [&](Var x, Var y) { return in(y, x); });
  const Accessor src = in.border(Border::mirror());
  Stage wider =
      stage("wider", {in.width() + 8, in.height() + 6}, [&](Var x, Var y) { return src(x - 4, y - 3); });
  EXPECT_EQ(against_opencv("flip", mirrored), "");
  EXPECT_EQ(against_opencv("transpose", across), "");
  EXPECT_EQ(against_opencv("copyMakeBorder", wider), "");
}

// ---- the whole picture ----

TEST(OpenCv, CalcHist) {
  Image<std::uint8_t> in("in");
  // cv::calcHist(&in, 1, channels, {}, histogram, 1, &bins, &ranges);    // 256 bins of 0 to 255
  Stage histogram = scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
  EXPECT_EQ(against_opencv("calcHist", histogram), "");
}

TEST(OpenCv, MinMaxLoc) {
  Image<std::uint8_t> in("in");
  // cv::minMaxLoc(in, &least, &greatest, &least_at, &greatest_at);
  Stage least = reduce("least", in, Reduce::min()), greatest = reduce("greatest", in, Reduce::max());
  Stage least_at = reduce("least_at", in, Reduce::arg_min());
  Stage greatest_at = reduce("greatest_at", in, Reduce::arg_max());
  const auto got = interpreted(Pipeline("p", {least, greatest, least_at, greatest_at}),
                               {{{"in", loaded("grey")}}, {}, {}});
  const auto at = got.at("greatest_at").at<Vec<int, 2>>();
  EXPECT_EQ(loaded("grey").at<std::uint8_t>(at[0], at[1]), got.at("greatest").at<std::uint8_t>());
  EXPECT_LT(got.at("least").at<std::uint8_t>(), got.at("greatest").at<std::uint8_t>());
}

TEST(OpenCv, Clahe) {
  const Built clahe = build(applications().at("clahe"), {.options = {{"tiles", "4"}}, .image_types = {}});
  const Buffer got = interpreted(clahe.pipeline, {{{"in", loaded("grey")}}, {{"limit", 3}}, {}}).at("out");
  EXPECT_EQ(difference(loaded("CLAHE"), got, {.largest = 1, .share = 1e-3}), "");
}

}  // namespace
