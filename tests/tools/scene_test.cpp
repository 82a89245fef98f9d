#include "tools/scene.h"

#include <gtest/gtest.h>

#include <set>

namespace weft::tools {
namespace {

std::set<int> values(const Buffer& bytes) {
  const auto* data = static_cast<const std::uint8_t*>(bytes.data());
  return {data, data + bytes.bytes()};
}

TEST(Scene, HasManyTones) { EXPECT_GT(values(draw_scene({160, 120}, 1)).size(), 150); }

TEST(Scene, AnySize) {
  for (const PictureSize& size : {PictureSize{1, 1}, {1, 40}, {40, 1}, {3, 3}}) {
    EXPECT_EQ(draw_scene(size, 1).pixels(), size.width * size.height);
    EXPECT_EQ(draw_noise(size, 1).pixels(), size.width * size.height);
    EXPECT_EQ(draw_gradient(size).pixels(), size.width * size.height);
  }
}

TEST(Scene, RandomImagesHoldTheExtremes) {
  Random random(1);
  const Buffer bytes = random_image({Scalar::U8, 3}, {50, 50}, 255, random);
  EXPECT_EQ(values(bytes).size(), 256);
  const Buffer floats = random_image({Scalar::F32, 1}, {50, 50}, 1, random);
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
