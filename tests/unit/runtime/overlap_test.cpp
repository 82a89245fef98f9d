#include "runtime/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace weft::runtime {
namespace {

std::byte memory[1 << 16];

Buffer at(std::int64_t byte, Type type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
          std::int64_t lane_stride = 1) {
  return {memory + byte, type, std::move(extents), std::move(strides), lane_stride};
}

constexpr Type u8{Scalar::U8, 1}, f32{Scalar::F32, 1}, rgb{Scalar::U8, 3};

TEST(OverlapOfPixels, OfRowsThatAreTooShort) {
  EXPECT_TRUE(overlaps_itself(at(0, u8, {64, 48}, {1, 10})));
  EXPECT_TRUE(overlaps_itself(at(0, u8, {64, 48}, {1, 63})));
  EXPECT_TRUE(overlaps_itself(at(0, u8, {64, 48}, {1, -63})));
  EXPECT_TRUE(overlaps_itself(at(0, u8, {64, 48}, {1, 0})));
  EXPECT_TRUE(overlaps_itself(at(0, rgb, {64, 48}, {1, 64})));
  EXPECT_TRUE(overlaps_itself(at(0, rgb, {64, 48}, {3, 192}, 0)));
  EXPECT_FALSE(overlaps_itself(at(0, u8, {64, 1}, {1, 10})));
}

TEST(OverlapOfPixels, NotOfUnusualOrders) {
  EXPECT_FALSE(overlaps_itself(at(0, u8, {64, 48}, {1, 64})));
  EXPECT_FALSE(overlaps_itself(at(0, u8, {64, 48}, {48, 1})));
  EXPECT_FALSE(overlaps_itself(at(9999, u8, {64, 48}, {-1, -64})));
  EXPECT_FALSE(overlaps_itself(at(0, rgb, {64, 48}, {1, 64}, 64 * 48)));
  EXPECT_FALSE(overlaps_itself(at(0, u8, {2, 3}, {3, 2}))) << "0, 2, 4, 3, 5, 7";
  EXPECT_TRUE(overlaps_itself(at(0, u8, {3, 4}, {3, 2}))) << "(2, 0) and (0, 3)";
  EXPECT_FALSE(overlaps_itself(at(0, u8, {0, 48}, {1, 0})));
}

TEST(OverlapOfPixels, OfTwoViewsOfOneBuffer) {
  const Buffer all = at(0, u8, {64, 48}, {1, 64});
  const Buffer left = at(0, u8, {32, 48}, {1, 64}), right = at(32, u8, {32, 48}, {1, 64});
  const Buffer middle = at(31, u8, {32, 48}, {1, 64});
  EXPECT_TRUE(overlap(all, left));
  EXPECT_TRUE(are_intertwined(left, right));
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, middle));
  const Buffer red = at(0, u8, {64, 48}, {3, 192}), green = at(1, u8, {64, 48}, {3, 192});
  EXPECT_FALSE(overlap(red, green));
  EXPECT_TRUE(overlap(red, at(3, u8, {64, 48}, {3, 192})));
  const Buffer even = at(0, u8, {64, 24}, {1, 128}), odd = at(64 * 47, u8, {64, 24}, {1, -128});
  EXPECT_FALSE(overlap(even, odd));
}

TEST(OverlapOfPixels, OfTypesOfOtherSizes) {
  const Buffer floats = at(0, f32, {8, 4}, {2, 32});  // every other
  EXPECT_TRUE(overlap(floats, at(3, u8, {8}, {8})));
  EXPECT_FALSE(overlap(floats, at(4, u8, {8}, {8})));
  EXPECT_TRUE(overlap(floats, at(4, u8, {8}, {7})));
}

/// The bytes of all pixels, some maybe twice.
std::vector<const std::byte*> bytes_of(const Buffer& b) {
  std::vector<const std::byte*> bytes;
  const int size = size_of(b.type().scalar);
  for (std::int64_t x = 0; x < b.extent(0); ++x) {
    for (std::int64_t y = 0; y < b.extent(1); ++y) {
      for (int l = 0; l < b.type().lanes * size; ++l)
        bytes.push_back(static_cast<const std::byte*>(b.data()) +
                        (x * b.stride(0) + y * b.stride(1) + l / size * b.lane_stride()) * size + l % size);
    }
  }
  return bytes;
}

TEST(OverlapOfPixels, IsThatOfTheirBytes) {
  std::mt19937 random(5);
  const auto draw = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  const auto buffer = [&] {
    return at(30000 + draw(0, 40), {draw(0, 1) ? Scalar::U8 : Scalar::U16, draw(1, 3)},
              {draw(1, 5), draw(1, 5)}, {draw(-9, 9), draw(-20, 20)}, draw(-2, 30));
  };
  int themselves = 0, each_other = 0;
  for (int i = 0; i < 4000; ++i) {
    const Buffer a = buffer(), b = buffer();
    const auto in_a = bytes_of(a), in_b = bytes_of(b);
    const std::set<const std::byte*> set(in_a.begin(), in_a.end());
    const bool itself = set.size() < in_a.size();
    bool other = false;
    for (const std::byte* byte : in_b) other |= set.count(byte) > 0;
    ASSERT_EQ(overlaps_itself(a), itself) << i;
    ASSERT_EQ(overlap(a, b), other) << i;
    ASSERT_EQ(overlap(b, a), other) << i;
    themselves += itself, each_other += other;
  }
  EXPECT_GT(themselves, 500);
  EXPECT_LT(themselves, 3500);
  EXPECT_GT(each_other, 500);
  EXPECT_LT(each_other, 3500);
}

}  // namespace
}  // namespace weft::runtime
