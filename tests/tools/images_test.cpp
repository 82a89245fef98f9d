#include "tools/images.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include "tests/tools/small_images.h"

namespace weft::tools {
namespace {

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

TEST(Images, LuminanceOfRgbAndRgba) {
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 3}, {255, 0, 0, 0, 0, 255}), {Scalar::U8, 1}, 255)),
            (Values{76, 29}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 4}, {10, 10, 10, 99}), {Scalar::F32, 1}, 255)), (Values{10}));
}

TEST(Images, TheFileDecidesAmongTypes) {
  const DeclaredImage any{"in", {Scalar::U8, Scalar::F32}, {1, 3}, 2};
  const auto chosen = [&](Type type) {
    return type_for_picture(any, Buffer::allocate(type, {2, 2}), "file");
  };
  EXPECT_EQ(chosen({Scalar::U8, 3}), (Type{Scalar::U8, 3}));
  EXPECT_EQ(chosen({Scalar::U16, 1}), (Type{Scalar::F32, 1}));
  EXPECT_EQ(chosen({Scalar::F32, 1}), (Type{Scalar::F32, 1}));
  EXPECT_THROW(chosen({Scalar::I16, 1}), Error);
}

/// The lanes of an image that takes some, for a picture that has `of_picture`; 0 if it is refused.
int lanes_of(std::vector<int> some, int of_picture, Channels channels = Channels::AsStored) {
  try {
    return type_for_picture({"in", {Scalar::U8}, std::move(some), 2},
                            Buffer::allocate({Scalar::U8, of_picture}, {2, 2}), "file", {channels, 255, ""})
        .lanes;
  } catch (const Error&) {
    return 0;
  }
}

TEST(Images, ChannelsAreConvertedWhereThatIsNoGuess) {
  EXPECT_EQ(lanes_of({3}, 1), 3);
  EXPECT_EQ(lanes_of({4}, 1), 4);
  EXPECT_EQ(lanes_of({4}, 3), 4);
  EXPECT_EQ(lanes_of({1, 3}, 4), 3);
  EXPECT_EQ(lanes_of({1, 3}, 2), 1);
  EXPECT_EQ(lanes_of({1, 3, 4}, 2), 4);
  EXPECT_EQ(lanes_of({3}, 2), 3);
  EXPECT_EQ(lanes_of({1}, 3), 0);
  EXPECT_EQ(lanes_of({1}, 4), 0);
  EXPECT_EQ(lanes_of({2}, 1), 0);
  EXPECT_EQ(lanes_of({2}, 3), 0);
  for (int of_picture : {1, 2, 3, 4}) {
    EXPECT_EQ(lanes_of({1, 3, 4}, of_picture, Channels::Grey), 1);
    EXPECT_EQ(lanes_of({1, 3, 4}, of_picture, Channels::Rgb), 3);
    EXPECT_EQ(lanes_of({1}, of_picture, Channels::Grey), 1);
  }
  EXPECT_EQ(lanes_of({4}, 3, Channels::Grey), 4) << "where one channel will do";
}

TEST(Images, ChannelsAreRepeatedDroppedOrFull) {
  const auto converted = [](const Values& values, int from, int to) {
    return lanes(to_image(pixels({Scalar::U8, from}, values), {Scalar::U8, to}, 1));
  };
  EXPECT_EQ(converted({7, 8}, 1, 3), (Values{7, 7, 7, 8, 8, 8}));
  EXPECT_EQ(converted({7}, 1, 4), (Values{7, 7, 7, 255}));
  EXPECT_EQ(converted({7, 9}, 2, 1), (Values{7}));
  EXPECT_EQ(converted({7, 9}, 2, 3), (Values{7, 7, 7}));
  EXPECT_EQ(converted({7, 9}, 2, 4), (Values{7, 7, 7, 9}));
  EXPECT_EQ(converted({1, 2, 3}, 3, 4), (Values{1, 2, 3, 255}));
  EXPECT_EQ(converted({1, 2, 3, 4}, 4, 3), (Values{1, 2, 3}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::F32, 3}, {.25, .5, 1}), {Scalar::F32, 4}, 1)),
            (Values{.25, .5, 1, 1}));
}

TEST(Images, IntegersOfOtherDepthsKeepBlackAndWhite) {
  const auto chosen = [](std::vector<Scalar> scalars, Scalar of_picture, double range = 255) {
    return type_for_picture({"in", std::move(scalars), {1}, 2}, Buffer::allocate({of_picture, 1}, {2, 2}),
                            "file", {Channels::AsStored, range, ""})
        .scalar;
  };
  EXPECT_EQ(chosen({Scalar::U8}, Scalar::U16), Scalar::U8);
  EXPECT_EQ(chosen({Scalar::U8, Scalar::F32}, Scalar::U16), Scalar::F32) << "nothing is lost";
  EXPECT_EQ(chosen({Scalar::U32, Scalar::U16}, Scalar::U8), Scalar::U16);
  EXPECT_EQ(chosen({Scalar::U8, Scalar::U16}, Scalar::U32), Scalar::U16);
  EXPECT_THROW(chosen({Scalar::U16}, Scalar::U8, 1023), Error) << "values of a sensor";
  EXPECT_THROW(chosen({Scalar::U8}, Scalar::F32), Error);
  EXPECT_THROW(chosen({Scalar::U8}, Scalar::I8), Error);
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U16, 1}, {0, 128, 129, 65535}), {Scalar::U8, 1}, 1)),
            (Values{0, 0, 1, 255}));
  EXPECT_EQ(lanes(to_image(pixels({Scalar::U8, 1}, {0, 1, 255}), {Scalar::U16, 1}, 1)),
            (Values{0, 257, 65535}));
}

TEST(Images, ConversionsAreSaid) {
  const auto said = [](Type picture, Type image) { return conversion_text(picture, image); };
  EXPECT_EQ(said({Scalar::U8, 1}, {Scalar::F32, 1}), "");
  EXPECT_EQ(said({Scalar::U8, 1}, {Scalar::F32, 3}), "as RGB");
  EXPECT_EQ(said({Scalar::U8, 2}, {Scalar::F32, 3}), "as RGB, without its alpha channel");
  EXPECT_EQ(said({Scalar::U16, 4}, {Scalar::U8, 1}),
            "as luminance, without its alpha channel, in 8 bits instead of 16");
  EXPECT_EQ(said({Scalar::U8, 3}, {Scalar::U8, 4}), "with full alpha");
  EXPECT_EQ(said({Scalar::U8, 1}, {Scalar::Bool, 1}), "as true where it is not 0");
}

TEST(Images, SyntheticSensorsHaveTheirRange) {
  const Buffer grey = pixels({Scalar::U8, 3}, {0, 0, 0, 51, 51, 51, 255, 255, 255});
  EXPECT_EQ(lanes(synthetic_image(grey, {Scalar::U16, 1}, 1023)), (Values{0, 205, 1023}));
  EXPECT_EQ(lanes(synthetic_image(grey, {Scalar::I16, 1}, 1023)), (Values{0, 205, 1023}));
  EXPECT_EQ(lanes(synthetic_image(grey, {Scalar::U16, 1}, 255)), (Values{0, 51 * 257, 65535}));
}

}  // namespace
}  // namespace weft::tools
