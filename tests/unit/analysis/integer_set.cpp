#include "analysis/integer_set.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <random>

#include "analysis/ranges.h"

using namespace weft;
using namespace weft::analysis;

TEST(IntegerSets, Emptiness) {
  IntegerSets sets;
  EXPECT_TRUE(sets.is_empty("{ [x] : 1 <= 2*x <= 1 }"));
  EXPECT_FALSE(sets.is_empty("{ [w, x] : w >= 1 and 0 <= x < w }"));
  EXPECT_TRUE(sets.is_empty("{ [w, x] : 0 <= x < floor(w/2) and not (0 <= 2*x + 1 < w) }"));
}

TEST(IntegerSets, LeastPoint) {
  IntegerSets sets;
  EXPECT_EQ(sets.least_point("{ [w, x] : w >= 3 and 1 <= x < w }", 2), (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(sets.least_point("{ [w] : w >= 3 and w < 3 }", 1), std::nullopt);
}

TEST(IntegerSets, Bounds) {
  IntegerSets sets;
  const auto bounds = sets.bounds("[w] -> { [i] : exists x: 1 <= x < w and i = 2*x - 3 }", 1);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->min.factors, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(bounds->min.constant, -1);
  EXPECT_EQ(bounds->max.factors, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(bounds->max.constant, -5);
  EXPECT_FALSE(sets.bounds("[w] -> { [i] : 0 <= i < floor(w/2) }", 1)) << "not linear";
}

TEST(IntegerSets, NonsenseIsOurMistake) {
  IntegerSets sets;
  EXPECT_THROW(sets.is_empty("{ [x : x }"), InternalError);
}

TEST(Ranges, AreNeverBelowTheMinimumThatIsClaimed) {
  const ir::Affine w{ir::Atom(ir::Size{"in", 0})};
  EXPECT_EQ(sure_minimum(w * 2 + 3), 5);
  EXPECT_EQ(sure_minimum(w - w.floor_div(2) * 2 - 7), -7);
  EXPECT_EQ(sure_minimum(w * -1), std::nullopt);
  EXPECT_TRUE(surely_not_negative(w - 1));
  EXPECT_TRUE(surely_not_negative(w - w.floor_div(2) * 2));
  EXPECT_TRUE(surely_not_negative(w.floor_div(2) - w.floor_div(4) * 2));
  EXPECT_FALSE(surely_not_negative(w.floor_div(2) * 2 - w));
  EXPECT_FALSE(surely_not_negative(w - 2));
  std::mt19937 random(3);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  int claimed = 0;
  for (int i = 0; i < 5000; ++i) {
    const ir::Affine inner = (w * pick(1, 3) + pick(-3, 3)).floor_div(pick(1, 4));
    const ir::Affine form = (inner * pick(-2, 3) + w * pick(-1, 2)).floor_div(pick(1, 3)) * pick(-2, 2) +
                            w * pick(-2, 3) + pick(-3, 3);
    const auto minimum = sure_minimum(form);
    ASSERT_EQ(surely_not_negative(form), minimum && *minimum >= 0) << form.to_string();
    if (!minimum) continue;
    ++claimed;
    for (std::int64_t size = 1; size < 40; ++size) {
      ASSERT_GE(form.evaluate([&](const ir::Atom&) { return size; }), *minimum)
          << form.to_string() << " at " << size;
    }
  }
  EXPECT_GT(claimed, 500);
}
