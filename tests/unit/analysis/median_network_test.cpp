// Networks that select the median, for windows of all sizes and some shapes, of even and odd pixels.
#include "analysis/median_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace weft::analysis {
namespace {

using Points = WindowPoints;

Points box(int width, int height) {
  Points points;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) points.push_back({x - width / 2, y - height / 2});
  return points;
}

Points disk(int radius) {
  Points points;
  for (const std::vector<int>& p : box(2 * radius + 1, 2 * radius + 1))
    if (p[0] * p[0] + p[1] * p[1] <= radius * radius) points.push_back(p);
  return points;
}

Points cube(int width) {
  Points points;
  for (int z = 0; z < width; ++z)
    for (std::vector<int> p : box(width, width)) p.push_back(z), points.push_back(p);
  return points;
}

Points line(int width) {
  Points points;
  for (int x = 0; x < width; ++x) points.push_back({x});
  return points;
}

template <class T>
T median_by(const MedianNetwork& network, std::vector<T> values) {
  for (const auto& [i, j] : network.exchanges) {
    if (values.at(j) < values.at(i)) std::swap(values[i], values[j]);
  }
  return values.at(network.median);
}

template <class T>
T median_of(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The 0-1 principle: a network that is right for all inputs of zeros and ones is right for all inputs.
TEST(MedianNetwork, IsRightForEveryInputOfZerosAndOnes) {
  for (int width = 1; width <= 12; ++width) {
    for (int height = 1; width * height <= 12; ++height) {
      for (const bool is_odd : {false, true}) {
        const MedianNetwork network = median_network(box(width, height), 1, is_odd);
        for (unsigned bits = 0; bits < 1u << (width * height); ++bits) {
          std::vector<int> values;
          for (int i = 0; i < width * height; ++i) values.push_back(static_cast<int>(bits >> i & 1u));
          ASSERT_EQ(median_by(network, values), median_of(values))
              << width << "x" << height << ", bits " << bits;
        }
      }
    }
  }
}

TEST(MedianNetwork, IsRightForRandomInputs) {
  std::mt19937_64 random(1);
  std::vector<Points> windows{disk(1), disk(2), disk(3), cube(2), cube(3), line(1), line(2), line(25)};
  for (int width = 1; width <= 9; ++width)
    for (int height = 1; height <= 9; ++height) windows.push_back(box(width, height));
  for (const Points& points : windows) {
    for (int kind = 0; kind < 2 * static_cast<int>(points[0].size()); ++kind) {
      const MedianNetwork network = median_network(points, kind / 2, kind % 2 != 0);
      const std::size_t n = points.size();
      for (int trial = 0; trial < 300; ++trial) {
        std::vector<std::uint64_t> values;
        for (std::size_t i = 0; i < n; ++i) values.push_back(random() % (trial % 3 == 0 ? 2 : 1000));
        ASSERT_EQ(median_by(network, values), median_of(values)) << n << " values, trial " << trial;
      }
      for (std::size_t ones = 0; ones <= n; ++ones) {
        std::vector<int> values(n, 0);
        std::fill(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(ones), 1);
        std::shuffle(values.begin(), values.end(), random);
        ASSERT_EQ(median_by(network, values), median_of(values)) << n << " values, " << ones << " ones";
      }
    }
  }
}

TEST(MedianNetwork, LeavesOutWhatCannotReachTheMedian) {
  EXPECT_TRUE(median_network(line(1), 0).exchanges.empty());
  EXPECT_EQ(median_network(line(2), 0).exchanges.size(), 1u);
  EXPECT_EQ(operations_of_medians(line(2)), 1);  // the greater of two
  EXPECT_EQ(operations_of_medians(line(3)), 4);
}

TEST(MedianNetwork, SharesExchangesWithNeighbours) {
  for (const int along : {0, 1}) {
    EXPECT_EQ(operations_of_medians(box(3, 3), along), 34);
    EXPECT_EQ(operations_of_medians(box(3, 3), along, 2), 23);
    EXPECT_EQ(operations_of_medians(box(5, 5), along), 188);
    EXPECT_EQ(operations_of_medians(box(5, 5), along, 2), 108);
    EXPECT_EQ(operations_of_medians(box(5, 5), along, 16), 66);
  }
  EXPECT_EQ(operations_of_medians(box(15, 15)), 225 * 8 * 9 / 2);
}

}  // namespace
}  // namespace weft::analysis
