#include "tools/results.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <cmath>

#include "tests/tools/small_images.h"

namespace weft::tools {
namespace {

TEST(Results, WideIntegersInFiles) {
  const Type i64{Scalar::I64, 1};
  EXPECT_EQ(to_picture(pixels(i64, {-7, 1e15}), "a.tif", {}).buffer.type(), (Type{Scalar::F64, 1}));
  EXPECT_EQ(lanes(to_picture(pixels(i64, {-7, 1e15}), "a.tif", {}).buffer), (Values{-7, 1e15}));
  EXPECT_EQ(lanes(to_picture(pixels(i64, {-7, 9}), "a.pfm", {}).buffer), (Values{-7, 9}));
  EXPECT_THROW(check_result("a.png", "out", i64, 2, {}), Error);
}

TEST(Results, FloatResultsRoundHalfToEvenAndClamp) {
  const ResultPicture out =
      to_picture(pixels({Scalar::F32, 1}, {-1, 0.5, 1.5, 2.5, 254.5, 255.4, 256, 1e30}), "a.png", {});
  EXPECT_EQ(lanes(out.buffer), (Values{0, 0, 2, 2, 254, 255, 255, 255}));
  EXPECT_EQ(out.clamped, 3);
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F64, 1}, {0.25, 1}), "a.png", {.range = 1}).buffer),
            (Values{64, 255}));
}

TEST(Results, BlueGreenRedResultsAreWrittenRedFirst) {
  const PictureOptions bgr{.range = 255, .bgr = true};
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::U8, 3}, {1, 2, 3, 4, 5, 6}), "a.png", bgr).buffer),
            (Values{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 4}, {1, 2, 3, 4}), "a.png", bgr).buffer),
            (Values{3, 2, 1, 4}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::U8, 1}, {7}), "a.png", bgr).buffer), Values{7});
}

TEST(Results, FloatFilesTakeFloatsAsTheyAre) {
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 1}, {-1.5, 1e6}), "a.pfm", {}).buffer),
            (Values{-1.5, 1e6}));
  EXPECT_EQ(to_picture(pixels({Scalar::F32, 2}, {1, 2}), "a.tif", {}).buffer.type(), (Type{Scalar::F32, 2}));
}

TEST(Results, ScalarsAndRowsAreWrittenAsOneRow) {
  Buffer scalar = Buffer::allocate({Scalar::U8, 1}, {});
  *static_cast<std::uint8_t*>(scalar.data()) = 9;
  EXPECT_EQ(to_picture(scalar, "a.png", {}).buffer.extents(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(lanes(to_picture(scalar, "a.png", {}).buffer), Values{9});
  EXPECT_EQ(to_picture(Buffer::allocate({Scalar::U8, 1}, {5}), "a.png", {}).buffer.extents(),
            (std::vector<std::int64_t>{5, 1}));
}

TEST(Results, NormalizeIgnoresWhatIsNotFinite) {
  const ResultPicture out =
      to_picture(pixels({Scalar::F32, 1}, {-10, 0, 10, INFINITY, NAN}), "a.png", {.normalize = 100});
  EXPECT_EQ(lanes(out.buffer), (Values{0, 128, 255, 255, 0}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 1}, {4, 4}), "a.png", {.normalize = 100}).buffer),
            (Values{0, 0}));
}

TEST(Results, UnfitFilesAreRefused) {
  EXPECT_THROW(check_result("a.png", "out", {Scalar::I16, 1}, 2, {}), Error);
  EXPECT_THROW(check_result("a.pfm", "out", {Scalar::F32, 1}, 2, {.normalize = 100}), Error);
  EXPECT_NO_THROW(check_result("a.tif", "out", {Scalar::I8, 2}, 2, {}));
}

TEST(Results, NormalizeOfAPercentile) {
  Values values;
  for (int i = 0; i <= 1000; ++i) values.push_back(i);
  values[1000] = 1e9, values[0] = -1e9;
  const auto shown = lanes(to_picture(pixels({Scalar::F32, 1}, values), "a.png", {.normalize = 90}).buffer);
  EXPECT_EQ(shown[0], 0);
  EXPECT_EQ(shown[100], 0);
  EXPECT_EQ(shown[500], 128);
  EXPECT_EQ(shown[900], 255);
  EXPECT_EQ(shown[1000], 255);
}

TEST(Results, NormalizeLeavesAlphaAsItIs) {
  const Buffer result = pixels({Scalar::U8, 4}, {10, 20, 30, 200, 20, 20, 20, 100});
  EXPECT_EQ(lanes(to_picture(result, "a.png", {.normalize = 100}).buffer),
            (Values{0, 128, 255, 200, 128, 128, 128, 100}));
}

TEST(Results, DepthIsThatOfTheImagesOrAsSaid) {
  const Buffer grey = pixels({Scalar::F32, 1}, {0, 1, 255});
  const auto type = [&](const char* file, const PictureOptions& options) {
    return weft::name_of(to_picture(grey, file, options).buffer.type());
  };
  EXPECT_EQ(type("a.png", {}), "u8");
  EXPECT_EQ(type("a.png", {.deep = true}), "u16");
  EXPECT_EQ(type("a.jpg", {.deep = true}), "u8");
  EXPECT_EQ(type("a.tif", {.deep = true}), "f32");
  EXPECT_EQ(type("a.png", {.depth = Scalar::U8, .deep = true}), "u8");
  EXPECT_EQ(type("a.png", {.depth = Scalar::U16}), "u16");
  EXPECT_EQ(type("a.tif", {.depth = Scalar::U8}), "u8");
  EXPECT_EQ(type("a.png", {.normalize = 100, .deep = true}), "u16");
  EXPECT_EQ(lanes(to_picture(grey, "a.png", {.deep = true}).buffer), (Values{0, 257, 65535}));
  const auto converted = [](Type of_result, const Values& values, const PictureOptions& options) {
    return lanes(to_picture(pixels(of_result, values), "a.tif", options).buffer);
  };
  EXPECT_EQ(converted({Scalar::U8, 1}, {0, 1, 255}, {.depth = Scalar::U16}), (Values{0, 257, 65535}));
  EXPECT_EQ(converted({Scalar::U16, 1}, {0, 257, 65535}, {.depth = Scalar::U8}), (Values{0, 1, 255}));
  EXPECT_EQ(converted({Scalar::U16, 1}, {0, 1023}, {.range = 1023, .depth = Scalar::U8}), (Values{0, 255}));
  EXPECT_EQ(converted({Scalar::U8, 1}, {0, 7}, {.depth = Scalar::F32}), (Values{0, 7}));
  EXPECT_EQ(converted({Scalar::Bool, 1}, {0, 1}, {.depth = Scalar::U16}), (Values{0, 65535}));
  EXPECT_THROW(check_result("a.png", "out", {Scalar::F32, 1}, 2, {.depth = Scalar::F32}), Error);
  EXPECT_THROW(check_result("a.jpg", "out", {Scalar::F32, 1}, 2, {.depth = Scalar::U16}), Error);
  EXPECT_THROW(check_result("a.tif", "out", {Scalar::I8, 1}, 2, {.depth = Scalar::U8}), Error);
}

TEST(Results, WhiteIsWhatTheApplicationSays) {
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::U8, 1}, {0, 1}), "a.png", {.white = 1}).buffer),
            (Values{0, 255}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::U8, 1}, {0, 1}), "a.tif", {.white = 1}).buffer), (Values{0, 1}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 1}, {0, 1}), "a.png", {.white = 1}).buffer),
            (Values{0, 255}));
}

TEST(Results, RawValuesOfASensorStayWhatTheyAre) {
  const Buffer raw = pixels({Scalar::U16, 1}, {0, 600, 1023});
  EXPECT_EQ(lanes(to_picture(raw, "a.png", {.range = 1023}).buffer), (Values{0, 600, 1023}));
  EXPECT_EQ(lanes(to_picture(raw, "a.tif", {.range = 1023}).buffer), (Values{0, 600, 1023}));
  EXPECT_EQ(lanes(to_picture(raw, "a.jpg", {.range = 1023}).buffer), (Values{0, 150, 255}));
  EXPECT_EQ(lanes(to_picture(raw, "a.png", {.range = 1023, .depth = Scalar::U16}).buffer),
            (Values{0, 38437, 65535}));
}

TEST(Results, TwoLanesAreADirectionInColours) {
  const Buffer flow = pixels({Scalar::I8, 2}, {4, 0, -4, 0, 0, 0, 2, 0, 0, 4});
  const ResultPicture shown = to_picture(flow, "a.png", {});
  EXPECT_EQ(lanes(shown.buffer), (Values{255, 0, 0,      // right: red
                                         0, 255, 255,    // left: cyan
                                         255, 255, 255,  // at rest: white
                                         255, 128, 128,  // half as far
                                         128, 255, 0}));
  EXPECT_EQ(shown.legend, "direction as hue (right is red, left cyan), length as colour (full from 4 on)");
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 2}, {NAN, 1, 3, 0}), "a.ppm", {.normalize = 100}).buffer),
            (Values{0, 0, 0, 255, 0, 0}));
  EXPECT_EQ(to_picture(flow, "a.tif", {}).buffer.type(), (Type{Scalar::I8, 2})) << "numbers as they are";
  EXPECT_EQ(to_picture(pixels({Scalar::F32, 2}, {5, 255}), "a.png", {.with_alpha = true}).buffer.type(),
            (Type{Scalar::U8, 2}));
  EXPECT_THROW(check_result("a.png", "out", {Scalar::U8, 2}, 2, {}), Error);
  EXPECT_NO_THROW(check_result("a.png", "out", {Scalar::U8, 2}, 2, {.with_alpha = true}));
}

TEST(Results, FaintPicturesAreNoticed) {
  const auto faint = [](Type type, const Values& values, const char* file, const PictureOptions& options) {
    return faintness(to_picture(pixels(type, values), file, options), file);
  };
  const Type f32{Scalar::F32, 1}, u8{Scalar::U8, 1}, u16{Scalar::U16, 1};
  EXPECT_EQ(faint(f32, {0, 1}, "a.png", {}),
            "a.png uses 0.39 % of its range: the values go from 0 to 1, and white is 255; --normalize "
            "spreads them");
  EXPECT_NE(faint(u8, {0, 1}, "a.tif", {}), "");
  EXPECT_NE(faint(f32, {300, 900}, "a.png", {}), "") << "all white";
  EXPECT_EQ(faint(f32, {0, 13}, "a.png", {}), "");
  EXPECT_EQ(faint(f32, {1, 1}, "a.png", {}), "") << "even pictures are";
  EXPECT_EQ(faint(f32, {0, 1}, "a.png", {.normalize = 100}), "");
  EXPECT_EQ(faint(f32, {0, 1}, "a.tif", {}), "") << "numbers";
  EXPECT_EQ(faint(u16, {0, 600}, "a.png", {.range = 1023}), "");
  EXPECT_EQ(faint(u8, {0, 1}, "a.png", {.white = 1}), "");
}

}  // namespace
}  // namespace weft::tools
