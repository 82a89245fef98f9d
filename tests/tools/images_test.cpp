#include "tools/images.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <cmath>

#include "ir/value.h"

namespace weft::tools {
namespace {

Buffer pixels(Type type, const std::vector<double>& lanes) {
  Buffer buffer = Buffer::allocate(type, {static_cast<std::int64_t>(lanes.size()) / type.lanes, 1});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    ir::store(type.scalar, static_cast<std::byte*>(buffer.data()) + i * size_of(type.scalar),
              ir::Value::real(type.lane(), lanes[i]).lane[0]);
  }
  return buffer;
}

std::vector<double> lanes(const Buffer& buffer) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < buffer.pixels(); ++i) {
    for (int l = 0; l < buffer.type().lanes; ++l) all.push_back(lane_value(buffer, i, l).as_double());
  }
  return all;
}

using Values = std::vector<double>;

TEST(Images, IntegersScaleToTheRange) {
  const Type f32{Scalar::F32, 1};
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 1}, {0, 51, 255}), f32, 255)), (Values{0, 51, 255}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U16, 1}, {0, 257, 65535}), f32, 255)), (Values{0, 1, 255}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 1}, {0, 255}), f32, 1)), (Values{0, 1}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::F64, 1}, {-7.5, 1000}), f32, 1)), (Values{-7.5, 1000}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 1}, {0, 3}), {Scalar::Bool, 1}, 255)), (Values{0, 1}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 1}, {0, 51}), {Scalar::F16, 1}, 255)), (Values{0, 51}));
}

TEST(Images, PicturesTakeTheRankOfTheImage) {
  const auto shaped = [](int rank, std::vector<std::int64_t> extents) {
    return with_rank({"in", {Scalar::U8}, {1}, rank}, Buffer::allocate({Scalar::U8, 1}, extents), "file")
        .extents();
  };
  using Extents = std::vector<std::int64_t>;
  EXPECT_EQ(shaped(1, {5, 1}), Extents{5});
  EXPECT_EQ(shaped(3, {5, 4}), (Extents{5, 4, 1}));
  EXPECT_EQ(shaped(3, {5, 4, 3}), (Extents{5, 4, 3}));
  EXPECT_EQ(shaped(0, {1, 1}), Extents{});
  EXPECT_THROW(shaped(1, {5, 2}), Error);
  EXPECT_THROW(shaped(2, {5, 4, 3}), Error);
}

TEST(Images, WideIntegersInFiles) {
  const Type i64{Scalar::I64, 1};
  EXPECT_EQ(to_picture(pixels(i64, {-7, 1e15}), "a.tif", {}).buffer.type(), (Type{Scalar::F64, 1}));
  EXPECT_EQ(lanes(to_picture(pixels(i64, {-7, 1e15}), "a.tif", {}).buffer), (Values{-7, 1e15}));
  EXPECT_EQ(lanes(to_picture(pixels(i64, {-7, 9}), "a.pfm", {}).buffer), (Values{-7, 9}));
  EXPECT_THROW(check_result("a.png", "out", i64, 2, {}), Error);
}

TEST(Images, LuminanceOfRgbAndRgba) {
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 3}, {255, 0, 0, 0, 0, 255}), {Scalar::U8, 1}, 255)),
            (Values{76, 29}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 4}, {10, 10, 10, 99}), {Scalar::F32, 1}, 255)), (Values{10}));
}

TEST(Images, TheFileDecidesAmongTypes) {
  const DeclaredImage any{"in", {Scalar::U8, Scalar::F32}, {1, 3}, 2};
  const auto chosen = [&](Type type) {
    return type_for_picture(any, Buffer::allocate(type, {2, 2}), "file", false);
  };
  EXPECT_EQ(chosen({Scalar::U8, 3}), (Type{Scalar::U8, 3}));
  EXPECT_EQ(chosen({Scalar::U16, 1}), (Type{Scalar::F32, 1}));
  EXPECT_EQ(chosen({Scalar::F32, 1}), (Type{Scalar::F32, 1}));
  EXPECT_EQ(type_for_picture(any, Buffer::allocate({Scalar::U8, 4}, {2, 2}), "file", true),
            (Type{Scalar::U8, 1}));
  EXPECT_THROW(chosen({Scalar::U8, 2}), Error);
  EXPECT_THROW(chosen({Scalar::I16, 1}), Error);
}

TEST(Images, FloatResultsRoundHalfToEvenAndClamp) {
  const ResultPicture out = to_picture(pixels({Scalar::F32, 1}, {-1, 0.5, 1.5, 2.5, 254.5, 255.4, 256, 1e30}),
                                       "a.png", {255, false});
  EXPECT_EQ(lanes(out.buffer), (Values{0, 0, 2, 2, 254, 255, 255, 255}));
  EXPECT_EQ(out.clamped, 3);
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F64, 1}, {0.25, 1}), "a.png", {1, false}).buffer),
            (Values{64, 255}));
}

TEST(Images, BlueGreenRedResultsAreWrittenRedFirst) {
  const PictureOptions bgr{.range = 255, .normalize = false, .bgr = true};
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::U8, 3}, {1, 2, 3, 4, 5, 6}), "a.png", bgr).buffer),
            (Values{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 4}, {1, 2, 3, 4}), "a.png", bgr).buffer),
            (Values{3, 2, 1, 4}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::U8, 1}, {7}), "a.png", bgr).buffer), Values{7});
}

TEST(Images, SyntheticSensorsHaveTheirRange) {
  const Buffer grey = pixels({Scalar::U8, 3}, {0, 0, 0, 51, 51, 51, 255, 255, 255});
  EXPECT_EQ(lanes(synthetic_image(grey, {Scalar::U16, 1}, 1023)), (Values{0, 205, 1023}));
  EXPECT_EQ(lanes(synthetic_image(grey, {Scalar::I16, 1}, 1023)), (Values{0, 205, 1023}));
  EXPECT_EQ(lanes(synthetic_image(grey, {Scalar::U16, 1}, 255)), (Values{0, 51 * 257, 65535}));
}

TEST(Images, FloatFilesTakeFloatsAsTheyAre) {
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 1}, {-1.5, 1e6}), "a.pfm", {255, false}).buffer),
            (Values{-1.5, 1e6}));
  EXPECT_EQ(to_picture(pixels({Scalar::F32, 2}, {1, 2}), "a.tif", {255, false}).buffer.type(),
            (Type{Scalar::F32, 2}));
}

TEST(Images, ScalarsAndRowsAreWrittenAsOneRow) {
  Buffer scalar = Buffer::allocate({Scalar::U8, 1}, {});
  *static_cast<std::uint8_t*>(scalar.data()) = 9;
  EXPECT_EQ(to_picture(scalar, "a.png", {}).buffer.extents(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(lanes(to_picture(scalar, "a.png", {}).buffer), Values{9});
  EXPECT_EQ(to_picture(Buffer::allocate({Scalar::U8, 1}, {5}), "a.png", {}).buffer.extents(),
            (std::vector<std::int64_t>{5, 1}));
}

TEST(Images, NormalizeIgnoresWhatIsNotFinite) {
  const ResultPicture out =
      to_picture(pixels({Scalar::F32, 1}, {-10, 0, 10, INFINITY, NAN}), "a.png", {255, true});
  EXPECT_EQ(lanes(out.buffer), (Values{0, 128, 255, 255, 0}));
  EXPECT_EQ(lanes(to_picture(pixels({Scalar::F32, 1}, {4, 4}), "a.png", {255, true}).buffer), (Values{0, 0}));
}

TEST(Images, UnfitFilesAreRefused) {
  EXPECT_THROW(check_result("a.png", "out", {Scalar::I16, 1}, 2, {}), Error);
  EXPECT_THROW(check_result("a.pfm", "out", {Scalar::F32, 1}, 2, {255, true}), Error);
  EXPECT_NO_THROW(check_result("a.tif", "out", {Scalar::I8, 2}, 2, {}));
}

}  // namespace
}  // namespace weft::tools
