// What split tiles move at least, against what counting pixels gave.
#include "plan/split_traffic.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace weft::split_traffic_test {
namespace {

/// Of a star of radius 1, for each update: tiles of (pitch, top) along each dimension.
double words(int steps, const std::vector<std::pair<int, int>>& tiles) {
  plan::SplitTiles split;
  split.steps = steps, split.level = {0}, split.turn = 2;
  for (const auto& [pitch, top] : tiles) {
    plan::SplitDimension d;
    d.dim = static_cast<int>(split.dims.size()), d.pitch = pitch, d.top = top, d.left = d.right = 1;
    split.dims.push_back(d);
  }
  const plan::PixelsOfBand pixels = plan::pixels_of_band(split, 0);
  return (pixels.read + pixels.written) / steps;
}

TEST(SplitTraffic, IsWhatTilesReadOfOneAnother) {
  EXPECT_NEAR(words(16, {{256, 224}}), .155, .001);
  EXPECT_NEAR(words(32, {{512, 448}}), .078, .001);
  EXPECT_NEAR(words(8, {{64, 48}, {128, 112}}), .424, .001);
  EXPECT_NEAR(words(16, {{64, 32}, {128, 96}}), .305, .001);
  EXPECT_NEAR(words(4, {{16, 10}, {16, 10}, {32, 24}}), 1.40, .07) << "corners that several tiles hold";
  EXPECT_NEAR(words(4, {{24, 18}, {24, 18}, {32, 26}}), 1.15, .06);
}

TEST(SplitTraffic, OfOneStepIsThatOfASweep) { EXPECT_NEAR(words(1, {{1 << 20, 1 << 19}}), 2, .001); }

}  // namespace
}  // namespace weft::split_traffic_test
