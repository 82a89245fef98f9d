#include "analysis/separable.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft {
namespace {

/// The only fold of a stage, as a column and a row.
std::optional<analysis::Separable> separated(const Stage& stage, bool strict = false) {
  std::optional<analysis::Separable> result;
  ir::visit(ir::expressions(*stage.node()), [&](const ir::Expr& e) {
    if (const auto* fold = std::get_if<ir::FoldResult>(&e->op))
      result = analysis::as_separable(*fold->fold, strict);
  });
  return result;
}

std::vector<double> numbers(const std::vector<ir::Value>& values) {
  std::vector<double> result;
  for (const ir::Value& v : values) result.push_back(v.as_double());
  return result;
}

const Mask binomial = Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1});

TEST(Separable, IntegerWeightsFactoriseExactly) {
  Image<std::uint8_t> in("in");
  const auto s =
      separated(convolve("s", in.border(Border::clamp()), Mask::outer({2, -4, 2}, {3, 6, 9, 3, 3})));
  ASSERT_TRUE(s);
  EXPECT_EQ(numbers(s->row), (std::vector<double>{1, 2, 3, 1, 1}));
  EXPECT_EQ(numbers(s->column), (std::vector<double>{6, -12, 6}));
  EXPECT_EQ(s->low_x, -2);
  EXPECT_EQ(s->low_y, -1);
}

TEST(Separable, ColumnsAreAsNarrowAsTheirSums) {
  Image<std::uint8_t> in("in");
  const auto of = [&](const Mask& mask) {
    return separated(convolve("s", in.border(Border::clamp()), mask))->column_type;
  };
  EXPECT_EQ(of(binomial), Scalar::I16);

  EXPECT_EQ(of(Mask::outer({80, 81, 82}, {1, 2, 1})), Scalar::U16) << "243 * 255 needs 16 bits";
  EXPECT_EQ(of(Mask::outer({100, 101, 102}, {1, 2, 1})), Scalar::I32) << "303 * 255 needs 17 bits";
}

TEST(Separable, FloatSumsOnlyUnlessStrict) {
  Image<float> in("in");
  const Stage s = convolve("s", in.border(Border::clamp()), binomial / 256.f);
  EXPECT_TRUE(separated(s));
  EXPECT_FALSE(separated(s, true));
}

TEST(Separable, WhatIsNoProductStaysWhole) {
  Image<float> in("in");
  auto src = in.border(Border::clamp());
  EXPECT_FALSE(separated(
      convolve("laplace", src,
               Mask{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, -24, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}})));
  EXPECT_FALSE(separated(local("disc", src, Domain::disc(2), Local::Sum)));
  EXPECT_FALSE(separated(stage("centre", in.size(), [&](Var x, Var y) {
    return sum(Domain(5, 5), [&](Tap t) { return src(x + t.x, y + t.y) * src(x, y); });
  }))) << "what is summed depends on the pixel itself";
  EXPECT_FALSE(separated(stage("turned", in.size(), [&](Var x, Var y) {
    return sum(Domain(5, 5), [&](Tap t) { return src(x + t.y, y + t.x); });
  })));
}

TEST(Separable, MinimaAndMaximaOverBoxes) {
  Image<float> in("in");
  auto src = in.border(Border::mirror());
  EXPECT_EQ(separated(local("erode", src, Domain(5, 5), Local::Min))->op, ir::BinaryOp::Min);
  EXPECT_EQ(separated(local("dilate", src, Domain(3, 7), Local::Max))->op, ir::BinaryOp::Max);
  EXPECT_FALSE(separated(local("product", src, Domain(5, 5), Local::Product)));
  EXPECT_FALSE(separated(local("strict", src, Domain(5, 5), Local::Max), true)) << "a NaN shows the order";
  Image<std::uint8_t> bytes("bytes");
  EXPECT_TRUE(separated(local("bytes", bytes.border(Border::mirror()), Domain(5, 5), Local::Max), true));
}

}  // namespace
}  // namespace weft
