// How high tiles are once the size of the image is known.
#include "plan/extent.h"

#include <gtest/gtest.h>

#include "kernel/evaluate.h"

namespace weft::plan {
namespace {

TEST(Extents, InRoomMakeNoMoreTilesThanRunAtATime) {
  const Extent extent = in_room(8, 3, 64);  // rows: 8, 11, 14 …
  EXPECT_EQ(size_over(extent, 2048, 4), 128) << "16 of 128 rows, 4 side by side";
  EXPECT_EQ(size_over(extent, 100, 4), 8);
  EXPECT_EQ(size_over(extent, 2048, 200), 2048) << "one of all rows";
}

TEST(Extents, HaveHalvesThatAreSizesThemselves) {
  const Extent extent = in_room(8, 3, 64);
  const auto half = [&](std::int64_t rows) {
    return kernel::evaluate(half_of(extent, kernel::literal(rows)), {});
  };
  EXPECT_EQ(half(128), 65) << "8 + 19 * 3, no less than 64";
  EXPECT_EQ(half(17), 11) << "no less than 9";
  EXPECT_EQ(half(8), 8) << "the least";
}

TEST(Extents, OfMultiplesLeaveEnoughTiles) {
  const Extent extent = multiples(16, 48, 256, 64);
  EXPECT_EQ(to_string(extent), "256..48 by 16 for 64");
  EXPECT_EQ(size_over(extent, 100000, 1), 256) << "the most";
  EXPECT_EQ(size_over(extent, 2200, 4), 128) << "64 * 128 rows are no more than 4 * 2200, 64 * 144 are";
  EXPECT_EQ(size_over(extent, 480, 2), 48) << "the least, though there are 20 tiles";
  EXPECT_EQ(to_string(multiples(16, 16, 256, 64)), "256..16 for 64");
}

}  // namespace
}  // namespace weft::plan
