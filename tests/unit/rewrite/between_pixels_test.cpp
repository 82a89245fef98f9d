#include "rewrite/between_pixels.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/print.h"
#include "ir/visit.h"

namespace weft::between_pixels_test {
namespace {

using Rgb = Vec<float, 3>;

class BetweenPixels : public testing::Test {
 protected:
  template <class F>
  std::optional<rewrite::BetweenPixels> parts(F f) {
    return rewrite::between_pixels(*stage("out", fine.size(), f).node());
  }
  Image<Rgb> fine{"fine"};
  Image<Rgb> coarse{"coarse"};
  Image<float> mask{"mask"};
  Accessor c = coarse.border(Border::clamp());
};

TEST_F(BetweenPixels, AreStagesOfTheirOwn) {
  const auto result = parts([&](Var x, Var y) {
    return fine(x, y) - (c(x / 2, y) + c((x + 1) / 2, y)) * 0.5f * mask.border(Border::clamp())(x, y);
  });
  ASSERT_TRUE(result);
  ASSERT_EQ(result->between.size(), 1u);
  const ir::Stage& between = *result->between[0];
  EXPECT_EQ(between.type, (Type{Scalar::F32, 3}));
  EXPECT_EQ(between.box, result->rest.box);
  EXPECT_EQ(ir::reads(between).size(), 3u);
  for (const ir::Expr& e : ir::reads(between)) EXPECT_NE(std::get<ir::Read>(e->op).source, fine.node());
  bool reads_it = false;
  for (const ir::Expr& e : ir::reads(result->rest)) {
    const auto& read = std::get<ir::Read>(e->op);
    EXPECT_NE(read.source, coarse.node());
    reads_it |= read.source == result->between[0] && ir::reads_current_pixel(read, result->rest.box);
  }
  EXPECT_TRUE(reads_it);
}

TEST_F(BetweenPixels, OfEachSum) {
  const auto result = parts([&](Var x, Var y) { return c(x / 2, y) * fine(x, y) + c((x + 1) / 2, y); });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->between.size(), 2u);
}

TEST_F(BetweenPixels, OfSingleLanesStayThose) {
  const Accessor m = mask.border(Border::clamp());
  const auto result = parts([&](Var x, Var y) { return fine(x, y) * (m(x / 2, y) + m(x, y)); });
  ASSERT_TRUE(result);
  ASSERT_EQ(result->between.size(), 1u);
  EXPECT_EQ(result->between[0]->type, (Type{Scalar::F32, 1}));
  EXPECT_EQ(ir::reads(*result->between[0]).size(), 2u);
}

TEST_F(BetweenPixels, AllOfWhatReadsNoLanesAtPixels) {
  const auto out = [&](auto f) { return stage("out", fine.size(), f); };
  const Stage up = out([&](Var x, Var y) { return c(x / 2, y) * mask.border(Border::clamp())(x, y); });
  EXPECT_FALSE(rewrite::reads_lanes_at_pixels(*up.node()));
  EXPECT_TRUE(
      rewrite::reads_lanes_at_pixels(*out([&](Var x, Var y) { return c(x / 2, y) + fine(x, y); }).node()));
  const auto result = rewrite::between_pixels(*up.node());
  ASSERT_TRUE(result);
  EXPECT_EQ(ir::reads(result->rest).size(), 1u);
}

TEST_F(BetweenPixels, NoneWithoutADivision) {
  EXPECT_FALSE(parts([&](Var x, Var y) { return c(2 * x, y) + fine(x, y); }));
}

}  // namespace
}  // namespace weft::between_pixels_test
