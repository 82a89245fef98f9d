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

}  // namespace
}  // namespace weft::plan
