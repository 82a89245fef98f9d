#include "tools/scene.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace weft::tools {
namespace {

std::set<int> values(const Buffer& bytes) {
  const auto* data = static_cast<const std::uint8_t*>(bytes.data());
  return {data, data + bytes.bytes()};
}

TEST(Scene, HasManyTones) { EXPECT_GT(values(draw_scene({{160, 120}}, 1)).size(), 150); }

TEST(Scene, AnySize) {
  for (const char* text : {"1x1", "1x40", "40x1", "3x3"}) {
    const Size size = parse_size(text);
    EXPECT_EQ(draw_scene(size, 1).extents(), size.extents);
    EXPECT_EQ(draw_noise(size, 1).extents(), size.extents);
    EXPECT_EQ(draw_gradient(size).extents(), size.extents);
  }
}

TEST(Scene, BlobsOfAnyDimension) {
  for (const char* text : {"1", "64", "9x7", "1x1x1", "33x17x9", "5x4x3x2"}) {
    const Size size = parse_size(text);
    const Buffer blobs = draw_blobs(size, 1), again = draw_blobs(size, 1), other = draw_blobs(size, 2);
    ASSERT_EQ(blobs.extents(), size.extents);
    EXPECT_EQ(0, std::memcmp(blobs.data(), again.data(), blobs.bytes())) << text;
    if (size.pixels() > 1) EXPECT_NE(0, std::memcmp(blobs.data(), other.data(), blobs.bytes())) << text;
  }
  EXPECT_GT(values(draw_blobs({{40, 30, 20}}, 1)).size(), 200);
}

TEST(Sizes, AreFitted) {
  EXPECT_EQ(fitted({{640, 480}}, 1), (Size{{640}}));
  EXPECT_EQ(fitted({{640, 480}}, 3), (Size{{640, 480, 16}}));
  EXPECT_EQ(fitted({{9, 5}}, 4), (Size{{9, 5, 5, 5}}));
  EXPECT_EQ(fitted({{33, 17, 9}}, 3).text(), "33x17x9");
}

TEST(Scene, RandomImagesHoldTheExtremes) {
  fuzz::Random random(1);
  const Buffer bytes = random_image({Scalar::U8, 3}, {{50, 50}}, 255, random);
  EXPECT_EQ(values(bytes).size(), 256);
  const Buffer floats = random_image({Scalar::F32, 1}, {{50, 50}}, 1, random);
  float least = 9, largest = -9;
  for (int i = 0; i < 2500; ++i) {
    least = std::min(least, floats.at<float>(i % 50, i / 50));
    largest = std::max(largest, floats.at<float>(i % 50, i / 50));
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(largest, 1);
}

}  // namespace
}  // namespace weft::tools
