// weft run: how pictures become images and results become pictures.
#include "command.h"

#include <weft/picture.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace {

using weft::Scalar;
using weft::Type;

class Run : public CommandTest {
 protected:
  std::string own(const Arguments& arguments) const {
    const Outcome outcome = run(WEFT_OWN_PIPELINES, arguments);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.exit_code, 0);
    return outcome.out;
  }
};

TEST_F(Run, OneLinePerOutput) {
  write("in.png", picture<std::uint8_t>(31, 17, 1, [](int i) { return i; }));
  const std::string text = expect_success({"run", "gaussian", "in.png", "-o", "out.png"});
  EXPECT_TRUE(text.starts_with("out.png: gaussian, 31x17 u8, computed in ")) << text;
  EXPECT_EQ(files(), (std::vector<std::string>{"in.png", "out.png"}));
  EXPECT_EQ(read("out.png").type(), (Type{Scalar::U8, 1}));
}

TEST_F(Run, TargetsAgree) {
  write("in.png", picture<std::uint8_t>(31, 17, 3, [](int i) { return i * i; }));
  expect_success({"run", "median", "in.png", "-o", "cpu.png", "--target", "cpu"});
  expect_success({"run", "median", "in.png", "-o", "reference.png", "--target", "reference"});
  const weft::Buffer a = read("cpu.png"), b = read("reference.png");
  EXPECT_EQ(0, std::memcmp(a.data(), b.data(), a.bytes()));
}

TEST_F(Run, TheFileDecidesThePixelType) {
  write("float.pfm", picture<float>(5, 4, 1, [](int i) { return i / 8.f; }));
  write("deep.png", picture<std::uint16_t>(5, 4, 1, [](int) { return 65535; }));
  EXPECT_NE(expect_success({"run", "box", "float.pfm", "-o", "a.pfm"}).find("5x4 f32,"), std::string::npos);
  expect_success({"run", "box", "deep.png", "-o", "b.pfm"});  // 16 bits: scaled to 0 ... 255
  EXPECT_NEAR(read("b.pfm").at<float>(2, 2), 255, 1e-3);
}

TEST_F(Run, IntegerPicturesBecomeTheRangeOfTheApplicationAndBack) {
  write("in.png", picture<std::uint8_t>(16, 16, 1, [](int i) { return i; }));
  own({"run", "invert", "in.png", "-o", "out.png"});
  own({"run", "invert", "in.png", "-o", "out.pfm"});
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(read("out.png").at<std::uint8_t>(i % 16, i / 16), 255 - i);
    EXPECT_FLOAT_EQ(read("out.pfm").at<float>(i % 16, i / 16), 1.f - static_cast<float>(i / 255.));
  }
}

TEST_F(Run, FloatResultsRoundHalfToEvenAndClamp) {
  const std::vector<float> values = {-3, 0.5f, 1.5f, 2.5f, 254.5f, 300, NAN, 7.25f};
  write("in.pfm", picture<float>(8, 1, 1, [&](int i) { return 1 - values[i] / 255; }));
  own({"run", "invert", "in.pfm", "-o", "out.png"});
  const weft::Buffer out = read("out.png");
  EXPECT_EQ(out.at<std::uint8_t>(0, 0), 0);
  EXPECT_EQ(out.at<std::uint8_t>(5, 0), 255);
  EXPECT_EQ(out.at<std::uint8_t>(6, 0), 0);
  EXPECT_EQ(out.at<std::uint8_t>(7, 0), 7);
}

TEST_F(Run, GreyIsLuminance) {
  write("in.png", picture<std::uint8_t>(4, 4, 3, [](int i) { return 10 + 90 * (i % 3); }));  // 10 100 190
  expect_success({"run", "gaussian", "in.png", "-o", "out.png", "--grey"});
  EXPECT_EQ(read("out.png").type(), (Type{Scalar::U8, 1}));
  EXPECT_EQ(read("out.png").at<std::uint8_t>(1, 1), 83);  // .299 * 10 + .587 * 100 + .114 * 190 = 83.35
}

TEST_F(Run, ResultsWithAsManyLanesKeepTheProfile) {
  std::vector<std::uint8_t> icc(200, 7);
  std::memcpy(&icc[16], "RGB ", 4);
  weft::io::write_picture(folder / "rgb.tif", picture<std::uint8_t>(9, 7, 3, [](int i) { return i; }), {icc});
  weft({"run", "median", "rgb.tif", "-o", "rgb_out.tif", "--target", "reference"});
  weft({"run", "median", "rgb.tif", "-o", "grey_out.tif", "--target", "reference", "--grey"});
  EXPECT_EQ(weft::io::read_picture(folder / "rgb_out.tif").icc, icc);
  EXPECT_TRUE(weft::io::read_picture(folder / "grey_out.tif").icc.empty());
}

TEST_F(Run, ArraysOfNumpyHoldResultsAsTheyAre) {
  write("in.npy", picture<float>(5, 4, 1, [](int i) { return i / 8.f; }));
  expect_success({"run", "gaussian", "in.npy", "-o", "out.npy", "--target", "reference"});
  expect_success({"run", "gaussian", "in.npy", "-o", "out.tif", "--target", "reference"});
  EXPECT_EQ(read("out.npy").type(), (Type{Scalar::F32, 1}));
  EXPECT_EQ(std::memcmp(read("out.npy").data(), read("out.tif").data(), 5 * 4 * 4), 0);
}

TEST_F(Run, PicturesAreConvertedAndThatIsSaid) {
  write("deep.png", picture<std::uint16_t>(5, 4, 2, [](int i) { return i % 2 == 0 ? 257 * i : 65535; }));
  const std::string text =
      expect_success({"run", "--target", "reference", "unsharp", "deep.png", "-o", "out.png"});
  EXPECT_TRUE(
      text.starts_with("deep.png: read as RGB, without its alpha channel, in 8 bits instead of 16\n"
                       "out.png: out, 5x4 u8x3, computed in "))
      << text;
  const auto json = nlohmann::json::parse(expect_success(
      {"run", "--target", "reference", "sobel", "deep.png", "-o", "out.png", "--json", "--gray"}));
  EXPECT_EQ(json["inputs"][0]["read"], "without its alpha channel");
  EXPECT_EQ(json["outputs"][0]["written_as"], "u16") << "as deep as the picture";
  expect_success({"run", "--target", "reference", "sobel", "deep.png", "-o", "out.png", "--depth", "8"});
  EXPECT_EQ(read("out.png").type(), (Type{Scalar::U8, 1}));
}

TEST_F(Run, FaintPicturesAreSaidOnStderr) {
  write("in.pfm", picture<float>(5, 4, 1, [](int i) { return i / 100.f; }));
  const Outcome faint = weft({"run", "--target", "reference", "gaussian", "in.pfm", "-o", "out.png"});
  EXPECT_EQ(faint.exit_code, 0);
  EXPECT_TRUE(faint.err.starts_with("weft: out.png uses 0.0") &&
              faint.err.ends_with(", and white is 255; --normalize spreads them\n"))
      << faint.err;
  expect_success({"run", "--target", "reference", "gaussian", "--normalize", "in.pfm", "-o",
                  "out.png"});  // which does not eat the file
  EXPECT_EQ(read("out.png").at<std::uint8_t>(4, 3), 255);
  expect_success({"run", "--target", "reference", "gaussian", "in.pfm", "-o", "out.png", "--normalize=99.5"});
}

TEST_F(Run, ApplicationsHaveTheRangeOfTheirResults) {
  write("in.png", picture<std::uint8_t>(8, 8, 1, [](int i) { return i / 8 == 3 && i % 8 < 3 ? 255 : 0; }));
  expect_success({"run", "--target", "reference", "normalize", "in.png", "-o", "normal.png"});
  EXPECT_EQ(read("normal.png").at<std::uint8_t>(1, 3), 255);
  expect_success({"run", "--target", "reference", "life", "in.png", "-o", "life.png"});
  EXPECT_EQ(read("life.png").at<std::uint8_t>(1, 2), 255);
}

TEST_F(Run, StagesHaveTheRangeOfTheApplication) {
  write("in.png", picture<std::uint8_t>(8, 8, 1, [](int i) { return i % 8 < 4 ? 0 : 200; }));
  expect_success({"run", "--target", "reference", "harris", "in.png", "-o",
                  "dx=dx.png"});  // in whose results 100,000 is white
  EXPECT_EQ(read("dx.png").at<std::uint8_t>(4, 4), 100);
}

TEST_F(Run, FlowsAreColoured) {
  write("a.png", picture<std::uint8_t>(32, 24, 1, [](int i) { return i * i * 31 / 7; }));
  const std::string text =
      expect_success({"run", "--target", "reference", "optical_flow", "a.png", "a.png", "-o", "flow.png"});
  EXPECT_NE(text.find("flow.png: flow, 32x24 i8x2 written as u8x3, "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  direction as hue (right is red, left cyan)"), std::string::npos) << text;
  EXPECT_EQ(read("flow.png").lane(0).at<std::uint8_t>(16, 12), 255);  // at rest
}

TEST_F(Run, OutputsMayBeLeftOutByName) {
  write("in.png", picture<std::uint8_t>(8, 8, 1, [](int i) { return 4 * i; }));
  expect_success({"run", "--target", "reference", "fdtd2d", "in.png", "in.png", "in.png", "-o", "ey=ey.tif"});
  EXPECT_EQ(files(), (std::vector<std::string>{"ey.tif", "in.png"}));
}

TEST_F(Run, NormalizeShowsAllValues) {
  write("in.pfm", picture<float>(3, 1, 1, [](int i) { return 1000.f * static_cast<float>(i) - 500; }));
  own({"run", "invert", "in.pfm", "-o", "out.png", "--normalize"});
  EXPECT_EQ(read("out.png").at<std::uint8_t>(0, 0), 255);
  EXPECT_EQ(read("out.png").at<std::uint8_t>(1, 0), 128);
  EXPECT_EQ(read("out.png").at<std::uint8_t>(2, 0), 0);
  EXPECT_NE(own({"run", "invert", "in.pfm", "-o", "clamped.png"})
                .find("\n  100 % of the values lie outside 0 to 1"),
            std::string::npos);
}

TEST_F(Run, ParametersAndBooleans) {
  write("in.png", picture<std::uint8_t>(256, 1, 1, [](int i) { return i; }));
  own({"run", "bright", "in.png", "-o", "out.png", "--param", "level=200"});
  EXPECT_EQ(read("out.png").at<std::uint8_t>(200, 0), 0);
  EXPECT_EQ(read("out.png").at<std::uint8_t>(201, 0), 255);
  const Outcome bad =
      run(WEFT_OWN_PIPELINES, {"run", "bright", "in.png", "-o", "x.png", "--param", "level=256"});
  EXPECT_EQ(bad.err, "weft: parameter level=256 does not fit in its type, u8\n");
  for (const auto& [value, why] :
       std::map<std::string, std::string>{{"inf", "is infinite"},
                                          {"nan", "is not a number"},
                                          {"1e999", "is beyond what numbers can be"},
                                          {"2.5", "is not a whole number"}})
    EXPECT_EQ(
        run(WEFT_OWN_PIPELINES, {"run", "bright", "in.png", "-o", "x.png", "--param", "level=" + value}).err,
        "weft: parameter level=" + value + " " + why + "\n");
  const Outcome above =
      run(WEFT_OWN_PIPELINES, {"run", "bright", "in.png", "-o", "x.png", "--param", "level=251"});
  EXPECT_EQ(above.err, "weft: parameter level=251 has to be at most 250\n");
  EXPECT_NE(own({"list"}).find("--param level=100 (at most 250)"), std::string::npos);
}

TEST_F(Run, SeveralImagesAndOutputs) {
  write("a.png", picture<std::uint16_t>(2, 1, 1, [](int i) { return 20000 * i; }));
  write("b.png", picture<std::uint16_t>(2, 1, 1, [](int i) { return 30000 * i + 2; }));
  own({"run", "halves", "b=b.png", "a.png", "-o", "mean.png", "-o", "difference=difference.tif"});
  EXPECT_EQ(read("mean.png").at<std::uint16_t>(1, 0), 25001);
  EXPECT_EQ(read("difference.tif").at<std::int16_t>(1, 0), -10002);
  // Several after one -o, and images after them.
  own({"run", "halves", "-o", "mean=m.png", "difference=d.tif", "a=a.png", "b.png"});
  EXPECT_EQ(content("m.png"), content("mean.png"));
  EXPECT_EQ(content("d.tif"), content("difference.tif"));
  // The second output does not fit into its file, so the first is not written either.
  std::filesystem::remove(folder / "mean.png");
  const Outcome bad = run(WEFT_OWN_PIPELINES, {"run", "halves", "a.png", "b.png", "-o", "mean.png", "-o",
                                               "difference=difference.png"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "mean.png"));
}

TEST_F(Run, AnyStageIsWrittenByName) {
  write("in.pfm", picture<float>(9, 7, 1, [](int i) { return i * i % 31; }));
  const std::string text = expect_success(
      {"run", "sobel", "in.pfm", "-o", "out.pfm", "dx=dx.pfm", "dy=dy.pfm", "--target", "reference"});
  EXPECT_NE(text.find("dx.pfm: dx, 9x7 f32, computed in "), std::string::npos) << text;
  const weft::Buffer out = read("out.pfm"), dx = read("dx.pfm"), dy = read("dy.pfm");
  for (int i = 0; i < 9 * 7; ++i) {
    const float x = dx.at<float>(i % 9, i / 9), y = dy.at<float>(i % 9, i / 9);
    EXPECT_FLOAT_EQ(out.at<float>(i % 9, i / 9), std::sqrt(x * x + y * y)) << i;
  }
  expect_success({"run", "sobel", "in.pfm", "-o", "dx=stored.pfm", "--target", "cpu"});
  EXPECT_EQ(content("stored.pfm"), content("dx.pfm"));
}

TEST_F(Run, Probe) {
  write("in.pfm", picture<float>(9, 7, 1, [](int i) { return i; }));
  EXPECT_EQ(expect_success({"run", "sobel", "in.pfm", "--probe", "4,3"}),
            "mag(4, 3) = 72.443085\n"
            "dy(4, 3) = 72\n"
            "dx(4, 3) = 8\n"
            "in(3 to 5, 2 to 4):\n"
            "        3   4   5\n"
            "    2  21  22  23\n"
            "    3  30   .  32\n"
            "    4  39  40  41\n");
  EXPECT_EQ(expect_success({"run", "sobel", "in.pfm", "--probe", "dx:0,0"}),
            "dx(0, 0) = 4\n"
            "in(0 to 1, 0 to 1):\n"
            "        0   1\n"
            "    0   0   1\n"
            "    1   9  10\n");
  EXPECT_EQ(expect_success({"run", "normalize", "in.pfm", "--probe", "1,0"}),
            "out(1, 0) = 0.016129032\n"
            "greatest = 62, from all pixels of in\n"
            "least = 0, from all pixels of in\n"
            "in(1, 0) = 1\n");
  EXPECT_EQ(files(), (std::vector<std::string>{"in.pfm"}));
}

TEST_F(Run, ProbeInOtherDimensions) {
  write("row.pfm", picture<float>(9, 1, 1, [](int i) { return i * i; }));
  EXPECT_EQ(own({"run", "steps", "row.pfm", "--probe", "3"}),
            "steps(3) = 7\n"
            "in(3 to 4):\n"
            "       3   4\n"
            "       9  16\n");
  write("in.tif", volume<float>(5, 4, 3, [](int i) { return i / 20; }));
  EXPECT_EQ(own({"run", "smooth", "in.tif", "--probe", "2,1,0"}),
            "smooth(2, 1, 0) = 0.33333334\n"
            "in(2, 1, 0 to 1):\n"
            "  z = 0\n"
            "       2\n"
            "    1  0\n"
            "  z = 1\n"
            "       2\n"
            "    1  1\n");
}

TEST_F(Run, ProbeOfLargeWindows) {
  write("in.pfm", picture<float>(20, 15, 1, [](int i) { return i; }));
  const std::string text = expect_success({"run", "bilateral", "in.pfm", "--probe", "10,7"});
  EXPECT_TRUE(text.ends_with("\nin(4 to 16, 1 to 13): 169 pixels, of values from 24 to 276\n")) << text;
}

TEST_F(Run, ProbeAsJson) {
  write("in.pfm", picture<float>(9, 7, 1, [](int i) { return i; }));
  auto json =
      nlohmann::json::parse(expect_success({"run", "sobel", "in.pfm", "--probe", "dx:4,3", "--json"}));
  EXPECT_EQ(json["application"], "sobel");
  EXPECT_EQ(json["probe"][0]["name"], "dx");
  EXPECT_EQ(json["probe"][0]["pixels"][0]["at"], (std::vector<int>{4, 3}));
  json = nlohmann::json::parse(expect_success(
      {"run", "sobel", "in.pfm", "--probe", "4,3", "--json", "-o", "out.pfm", "--target", "reference"}));
  EXPECT_EQ(json["outputs"][0]["file"], "out.pfm");
  EXPECT_EQ(json["probe"][0]["pixels"][0]["value"], read("out.pfm").at<float>(4, 3));
}

TEST_F(Run, SyntheticScene) {
  const std::string text = expect_success({"run", "unsharp", "--size", "64x48", "-o", "out.png"});
  EXPECT_TRUE(text.starts_with("input: a synthetic scene, 64x48\nout.png: out, 64x48 u8x3, computed in "))
      << text;
}

TEST_F(Run, Json) {
  const auto json =
      nlohmann::json::parse(expect_success({"run", "sobel", "--size", "64x48", "-o", "out.png", "--json"}));
  EXPECT_EQ(json["application"], "sobel");
  EXPECT_EQ(json["target"], "cpu");
  EXPECT_EQ(json["inputs"][0]["synthetic"], true);
  EXPECT_EQ(json["outputs"][0]["file"], "out.png");
  EXPECT_EQ(json["outputs"][0]["size"], (std::vector<int>{64, 48}));
  EXPECT_GE(json["seconds"]["run"], 0);
}

TEST_F(Run, JsonOfNamesThatAreNoUtf8) {
  const auto json =
      nlohmann::json::parse(expect_success({"run", "sobel", "--size", "64x48", "-o", "\xff.png", "--json"}));
  EXPECT_EQ(json["outputs"][0]["file"], "\xef\xbf\xbd.png") << "U+FFFD stands for what is no character";
}

TEST_F(Run, Volumes) {
  write("in.tif", volume<float>(5, 4, 3, [](int i) { return i / 20; }));  // the number of the page
  EXPECT_TRUE(own({"run", "smooth", "in.tif", "-o", "out.tif"}).starts_with("out.tif: smooth, 5x4x3 f32, "));
  const weft::Buffer out = read("out.tif");
  ASSERT_EQ(out.extents(), (std::vector<std::int64_t>{5, 4, 3}));
  EXPECT_FLOAT_EQ(out.at<float>(4, 3, 0), 1 / 3.f);
  EXPECT_FLOAT_EQ(out.at<float>(0, 0, 1), 1);
  EXPECT_FLOAT_EQ(out.at<float>(4, 3, 2), 5 / 3.f);

  write("page.tif", picture<float>(5, 4, 1, [](int i) { return i; }));  // one page is a volume, too
  own({"run", "smooth", "page.tif", "-o", "one.tif"});
  EXPECT_EQ(read("one.tif").at<float>(3, 2), 13);

  EXPECT_TRUE(own({"run", "smooth", "--size", "7x5x9", "-o", "blobs.tif"})
                  .starts_with("input: synthetic blobs, 7x5x9\nblobs.tif: smooth, 7x5x9 f32, "));
}

TEST_F(Run, Rows) {
  write("in.pfm", picture<float>(6, 1, 1, [](int i) { return i * i; }));
  EXPECT_TRUE(own({"run", "steps", "in.pfm", "-o", "out.pfm"}).starts_with("out.pfm: steps, 6 f32, "));
  const weft::Buffer out = read("out.pfm");
  ASSERT_EQ(out.extents(), (std::vector<std::int64_t>{6, 1}));
  for (int x = 0; x < 6; ++x) EXPECT_EQ(out.at<float>(x, 0), x < 5 ? 2 * x + 1 : 0);
  const auto json = nlohmann::json::parse(own({"run", "steps", "in.pfm", "--json"}));
  EXPECT_EQ(json["outputs"][0]["values"], (std::vector<float>{1, 3, 5, 7, 9, 0}));
  EXPECT_EQ(json["inputs"][0]["size"], std::vector<int>{6});
  own({"run", "steps", "--size", "1000", "-o", "synthetic.tif"});
  EXPECT_EQ(read("synthetic.tif").extents(), (std::vector<std::int64_t>{1000, 1}));
}

TEST_F(Run, IntegersArriveExactly) {
  write("in.png", picture<std::uint8_t>(3, 2, 1, [](int i) { return i == 0 ? 255 : i; }));
  const auto json = nlohmann::json::parse(own({"run", "profile", "in.png", "-o", "squares.tif", "-o",
                                               "long=long.tif", "-o", "pair=pair.tif", "--json"}));
  EXPECT_EQ(json["outputs"][0]["values"],
            (std::vector<std::uint32_t>{255u * 255u * 65537u, 65537, 4 * 65537}));
  EXPECT_EQ(
      json["outputs"][1]["values"],
      (std::vector<std::int64_t>{std::int64_t{255} << 54, std::int64_t{1} << 54, std::int64_t{1} << 55}));
  EXPECT_EQ(json["outputs"][1]["written_as"], "f64");
  EXPECT_EQ(read("squares.tif").at<std::uint32_t>(0, 0), 255u * 255u * 65537u);
  const weft::Buffer pair = read("pair.tif");
  EXPECT_EQ(pair.type(), (Type{Scalar::I8, 2}));
  EXPECT_EQ(static_cast<const std::int8_t*>(pair.data())[4], 2);
  EXPECT_EQ(static_cast<const std::int8_t*>(pair.data())[5], -2);
}

TEST_F(Run, SizesWithoutImages) {
  own({"run", "ramp", "-o", "default.tif"});
  EXPECT_EQ(read("default.tif").extents(), (std::vector<std::int64_t>{8, 6}));
  own({"run", "ramp", "-o", "sized.tif", "--size", "5x3"});
  EXPECT_EQ(read("sized.tif").at<float>(4, 2), 42);
  own({"run", "ramp", "-o", "mixed.tif", "--size", "5x3", "--param", "width=9"});
  EXPECT_EQ(read("mixed.tif").extents(), (std::vector<std::int64_t>{9, 3}));
}

TEST_F(Run, ImagesOfDifferentSizes) {
  own({"run", "weighted", "--size", "9x7", "-o", "out.tif"});
  EXPECT_EQ(read("out.tif").extents(), (std::vector<std::int64_t>{4, 3}));
}

TEST_F(Run, SingleValuesAndCounts) {
  write("in.png", picture<std::uint8_t>(3, 2, 1, [](int i) { return i == 0 ? 255 : 7; }));
  const std::string text = own({"run", "statistics", "in.png"});
  EXPECT_TRUE(text.starts_with("total = 81627743246090240, computed in ")) << text;  // 290 << 48
  EXPECT_NE(text.find("\nmean = 29, computed in "), std::string::npos) << text;
  const Arguments files = {"run",       "statistics", "in.png",        "--json", "-o",
                           "total.tif", "-o",         "mean=mean.pfm", "-o",     "histogram=histogram.tif"};
  const auto json = nlohmann::json::parse(own(files));
  EXPECT_EQ(json["outputs"][0]["value"], std::int64_t{290} << 48);
  EXPECT_EQ(json["outputs"][1]["value"], 29);
  EXPECT_EQ(json["outputs"][2]["values"][7], 5);
  EXPECT_EQ(json["outputs"][2]["values"][255], 1);
  EXPECT_EQ(read("total.tif").extents(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(read("total.tif").at<double>(0, 0), 0x1p48 * 290);
  EXPECT_EQ(read("mean.pfm").at<float>(0, 0), 29);
  EXPECT_EQ(read("histogram.tif").extents(), (std::vector<std::int64_t>{256, 1}));
  EXPECT_EQ(read("histogram.tif").at<std::uint32_t>(7, 0), 5);
  own({"run", "statistics", "in.png", "-o", "histogram=histogram.pfm"});
  EXPECT_EQ(read("histogram.pfm").at<float>(7, 0), 5);
}

}  // namespace
