// Into which parts the rows of images are divided.
#include "host/parts.h"

#include <gtest/gtest.h>

#include "tests/unit/host/modules.h"

namespace weft::host {
namespace {

using Parts = std::vector<Part>;

Plan plan(std::int64_t above, std::int64_t below) {
  return plan_of(chain(On::Device), {analysis::RowReach{above, below}});
}

TEST(PartsOfRows, HaveTheRowsAroundThem) {
  EXPECT_EQ(parts_of(plan(1, 2), 100, 4, 2), (Parts{{0, 50, 0, 52}, {50, 100, 49, 100}}));
  EXPECT_EQ(parts_of(plan(0, 0), 11, 4, 3), (Parts{{0, 4, 0, 4}, {4, 8, 4, 8}, {8, 11, 8, 11}}));
}

TEST(PartsOfRows, BeginAtSteps) {
  const Plan in_steps = plan_of(chain(On::Device), {analysis::RowReach{3, 1, 4}});
  EXPECT_EQ(parts_of(in_steps, 21, 4, 2), (Parts{{0, 12, 0, 13}, {12, 21, 8, 21}}));
  EXPECT_EQ(parts_of(in_steps, 3, 4, 2), (Parts{{0, 3, 0, 3}}));
}

/// Of results with rows more than the images, or less, the last part has those at the end.
TEST(PartsOfRows, KeepTheirOwn) {
  const Parts parts = {{0, 50, 0, 52}, {50, 100, 49, 100}};
  const auto kept = [&](std::size_t part, std::int64_t rows) {
    const KeptRows kept = kept_rows(parts[part], parts, rows);
    return std::pair(kept.first, kept.last);
  };
  EXPECT_EQ(kept(0, 52), std::pair(std::int64_t{0}, std::int64_t{50}));
  EXPECT_EQ(kept(1, 51), std::pair(std::int64_t{1}, std::int64_t{51}));
  EXPECT_EQ(kept(1, 47), std::pair(std::int64_t{1}, std::int64_t{47}));
  EXPECT_EQ(kept(1, 53), std::pair(std::int64_t{1}, std::int64_t{53}));
  EXPECT_EQ(kept(1, 0), std::pair(std::int64_t{0}, std::int64_t{0}));
}

TEST(PartsOfRows, AreHigherThanWindowsReach) {
  EXPECT_EQ(parts_of(plan(3, 1), 16, 4, 100).size(), 4u);
  EXPECT_EQ(parts_of(plan(3, 1), 15, 4, 100), (Parts{{0, 5, 0, 6}, {5, 10, 2, 11}, {10, 15, 7, 15}}));
  EXPECT_EQ(parts_of(plan(20, 0), 15, 4, 100), (Parts{{0, 15, 0, 15}}));
}

TEST(PartsOfRows, AreManyWhereCopiesTakeLongerThanCalls) {
  const auto number = [](const Plan& plan, std::int64_t rows, std::int64_t bytes_of_row) {
    return parts_of(plan, rows, bytes_of_row).size();
  };
  // Three launches and two copies at 5 us each; 200 MB take 8 ms at 25 GB/s, 1 MB takes 40 us: the roots of 320 and 1.6.
  EXPECT_EQ(number(plan(0, 0), 10000, 20000), 17u);
  EXPECT_EQ(number(plan(0, 0), 500, 2000), 1u);
  // 100 rows more take 80 us of each part: the root of 8000 / (25 + 80).
  EXPECT_EQ(number(plan(50, 50), 10000, 20000), 8u);
}

TEST(PartsOfRows, AreOneWhereNothingIsKnownOrThere) {
  EXPECT_EQ(parts_of(plan_of(chain(On::Device)), 10000, 20000), (Parts{{0, 10000, 0, 10000}}));
  EXPECT_EQ(parts_of(plan_of(chain(On::Device)), 10000, 20000, 5).size(), 1u);
  EXPECT_EQ(parts_of(plan(1, 1), 0, 20000), (Parts{{0, 0, 0, 0}}));
}

}  // namespace
}  // namespace weft::host
