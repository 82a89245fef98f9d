// Networks that select the median, for every number of inputs that a window may have.
#include "lower/median_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace weft::lower {
namespace {

using Network = std::vector<std::pair<int, int>>;

template <class T>
T median_by(const Network& network, std::vector<T> values) {
  for (const auto& [i, j] : network) {
    if (values[j] < values[i]) std::swap(values[i], values[j]);
  }
  return values[values.size() / 2];
}

template <class T>
T median_of(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The 0-1 principle: a network that is right for all inputs of zeros and ones is right for all inputs.
TEST(MedianNetwork, IsRightForEveryInputOfZerosAndOnes) {
  for (int n = 1; n <= 9; ++n) {
    const Network network = median_network(n);
    for (unsigned bits = 0; bits < 1u << n; ++bits) {
      std::vector<int> values;
      for (int i = 0; i < n; ++i) values.push_back(static_cast<int>(bits >> i & 1u));
      ASSERT_EQ(median_by(network, values), median_of(values)) << n << " values, bits " << bits;
    }
  }
}

TEST(MedianNetwork, IsRightForRandomInputs) {
  std::mt19937_64 random(1);
  for (int n = 1; n <= 121; ++n) {
    const Network network = median_network(n);
    for (int trial = 0; trial < 300; ++trial) {
      // every third trial has zeros and ones only, around the one balance that tells ranks apart
      const bool is_binary = trial % 3 == 0;
      std::vector<std::uint64_t> values;
      for (int i = 0; i < n; ++i) values.push_back(is_binary ? random() & 1 : random() % 1000);
      ASSERT_EQ(median_by(network, values), median_of(values)) << n << " values, trial " << trial;
    }
    for (int ones = 0; ones <= n; ++ones) {
      std::vector<int> values(static_cast<std::size_t>(n), 0);
      std::fill(values.begin(), values.begin() + ones, 1);
      std::shuffle(values.begin(), values.end(), random);
      ASSERT_EQ(median_by(network, values), median_of(values)) << n << " values, " << ones << " ones";
    }
  }
}

TEST(MedianNetwork, OrdersNeighboursUpwardsOnly) {
  for (int n = 1; n <= 121; ++n) {
    for (const auto& [i, j] : median_network(n)) {
      ASSERT_LE(0, i);
      ASSERT_LT(i, j);
      ASSERT_LT(j, n);
    }
  }
}

TEST(MedianNetwork, LeavesOutWhatCannotReachTheMiddle) {
  EXPECT_TRUE(median_network(1).empty());
  EXPECT_EQ(median_network(2), (Network{{0, 1}}));
  EXPECT_EQ(median_network(3).size(), 3u);
  EXPECT_LT(median_network(9).size(), 27u);    // Batcher's sort of 9
  EXPECT_LT(median_network(25).size(), 139u);  // and of 25
}

}  // namespace
}  // namespace weft::lower
