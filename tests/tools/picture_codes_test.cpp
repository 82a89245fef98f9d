#include "tools/picture_codes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <vector>

namespace weft::tools {
namespace {

using Colour = std::array<int, 3>;

template <class Value>
Buffer rgb_picture(std::int64_t width, std::int64_t height, Value value) {
  Buffer picture = Buffer::allocate({Scalar::U8, 3}, {width, height});
  for (std::int64_t i = 0; i < width * height * 3; ++i)
    static_cast<std::uint8_t*>(picture.data())[i] =
        static_cast<std::uint8_t>(value(i / 3 % width, i / 3 / width, i % 3));
  return picture;
}

/// What a terminal makes of it: the colours of all pixels, in percent.
std::map<std::pair<int, int>, Colour> drawn(const std::string& code, int* width, int* height) {
  EXPECT_TRUE(code.starts_with("\033P0;1q\"1;1;"));
  EXPECT_TRUE(code.ends_with("\033\\"));
  const char* at = code.c_str() + 11;
  char* next = nullptr;
  const auto number = [&] {
    const int value = static_cast<int>(std::strtol(at, &next, 10));
    at = next;
    return value;
  };
  *width = number(), ++at, *height = number();
  std::map<int, Colour> colours;
  std::map<std::pair<int, int>, Colour> pixels;
  int colour = -1, x = 0, y = 0;
  while (*at != '\033') {
    const char c = *at++;
    if (c == '#') {
      colour = number();
      if (*at != ';') continue;
      Colour defined{};
      ++at;
      EXPECT_EQ(number(), 2);
      for (int& part : defined) ++at, part = number();
      colours[colour] = defined;
    } else if (c == '$') {
      x = 0;
    } else if (c == '-') {
      x = 0, y += 6;
    } else {
      int times = 1;
      char bits = c;
      if (c == '!') times = number(), bits = *at++;
      for (; times > 0; --times, ++x) {
        for (int row = 0; row < 6; ++row) {
          if ((bits - '?') >> row & 1) pixels[{x, y + row}] = colours.at(colour);
        }
      }
    }
  }
  return pixels;
}

TEST(PictureCodes, GreysAreSixelsOfTheirPercentage) {
  const Buffer picture = rgb_picture(20, 13, [](auto x, auto y, auto) { return x * 13 % 256 + y % 2; });
  int width = 0, height = 0;
  const auto pixels = drawn(sixel_code(picture), &width, &height);
  EXPECT_EQ(width, 20);
  EXPECT_EQ(height, 13);
  ASSERT_EQ(pixels.size(), 20U * 13U);
  for (const auto& [at, colour] : pixels) {
    const double grey = static_cast<uint8_t*>(picture.data())[(at.second * 20 + at.first) * 3];
    EXPECT_NEAR(colour[0], grey * 100 / 255, 0.51);
    EXPECT_EQ(colour[0], colour[1]);
    EXPECT_EQ(colour[0], colour[2]);
  }
}

TEST(PictureCodes, DitheredColoursHaveTheRightMean) {
  const std::array<int, 3> wanted = {200, 100, 30};
  const Buffer picture = rgb_picture(16, 16, [&](auto, auto, auto c) { return wanted[c]; });
  int width = 0, height = 0;
  const auto pixels = drawn(sixel_code(picture), &width, &height);
  ASSERT_EQ(pixels.size(), 256U);
  std::array<double, 3> mean{};
  for (const auto& [at, colour] : pixels) {
    for (std::size_t c = 0; c < 3; ++c) mean[c] += colour[c] / 256.;
  }
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(mean[c], wanted[c] * 100 / 255., 1) << c;
  // The ends of the range are exact.
  const Buffer ends = rgb_picture(8, 8, [&](auto, auto, auto c) { return c == 0 ? 255 : 0; });
  for (const auto& [at, colour] : drawn(sixel_code(ends), &width, &height))
    EXPECT_EQ(colour, (Colour{100, 0, 0}));
}

TEST(PictureCodes, KittyGetsTheBytesInChunks) {
  const Buffer tiny = rgb_picture(2, 1, [](auto x, auto, auto c) { return 65 + x * 3 + c; });  // "ABCDEF"
  EXPECT_EQ(kitty_code(tiny), "\033_Ga=T,f=24,s=2,v=1,q=2,m=0;QUJDREVG\033\\");
  const std::string large =
      kitty_code(rgb_picture(64, 32, [](auto, auto, auto) { return 0; }));  // 8192 digits
  EXPECT_EQ(large, "\033_Ga=T,f=24,s=64,v=32,q=2,m=1;" + std::string(4096, 'A') + "\033\\\033_Gm=0;" +
                       std::string(4096, 'A') + "\033\\");
}

TEST(PictureCodes, ShrunkByMeans) {
  const Buffer picture = rgb_picture(8, 4, [](auto x, auto y, auto) { return 10 * x + y; });
  EXPECT_EQ(shrunk(picture, 8, 4).data(), picture.data());
  const Buffer half = shrunk(picture, 4, 100);
  EXPECT_EQ(half.extents(), (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(static_cast<std::uint8_t*>(half.data())[0], 6);  // of 0, 10, 1 and 11
  const Buffer uneven = shrunk(picture, 3, 100);
  EXPECT_EQ(uneven.extents(), (std::vector<std::int64_t>{3, 1}));
}

TEST(PictureCodes, OtherPicturesAsRgb) {
  Buffer deep = Buffer::allocate({Scalar::U16, 2}, {1, 1, 3});  // pages of grey and alpha
  for (int i = 0; i < 6; ++i)
    static_cast<std::uint16_t*>(deep.data())[i] = static_cast<std::uint16_t>(257 * i);
  const Buffer rgb = as_rgb(deep);
  EXPECT_EQ(rgb.extents(), (std::vector<std::int64_t>{1, 1}));
  for (int c = 0; c < 3; ++c) EXPECT_EQ(static_cast<std::uint8_t*>(rgb.data())[c], 2);
}

}  // namespace
}  // namespace weft::tools
