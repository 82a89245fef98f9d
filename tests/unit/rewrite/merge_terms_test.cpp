// Sums in which a pixel occurs more than once.
#include "rewrite/merge_terms.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/print.h"
#include "ir/visit.h"

namespace weft::rewrite::merge_terms_test {
namespace {

using ir::BinaryOp;
using ir::Expr;

class MergedTerms : public testing::Test {
 protected:
  Expr pixel(std::int64_t x) const {
    return ir::read({image, {ir::Affine(ir::Coord{0}) + x}, std::nullopt, {}});
  }
  Expr number(double value) const { return ir::constant({type, 1}, value); }
  static Expr plus(const Expr& a, const Expr& b) { return ir::binary(BinaryOp::Add, a, b); }
  Expr times(double factor, const Expr& a) const { return ir::binary(BinaryOp::Mul, number(factor), a); }
  Expr by(const Expr& a, double divisor) const { return ir::binary(BinaryOp::Div, a, number(divisor)); }

  static std::string merged(const Expr& e) { return ir::to_string(ir::Rewriter(merged_terms)(e)); }
  static std::string text(const Expr& e) { return ir::to_string(e); }

  Scalar type = Scalar::F32;
  ir::StagePtr image = std::make_shared<ir::Stage>(
      ir::Stage{"in", {Scalar::F32, 1}, {{ir::Affine(0), ir::Affine(100)}}, ir::Input{}});
};

TEST_F(MergedTerms, OfTheSamePixel) {
  const Expr a = pixel(-1), b = pixel(0), c = pixel(1);
  const Expr even = plus(plus(plus(a, times(3, b)), times(3, pixel(0))), c);
  EXPECT_EQ(merged(even), text(plus(plus(a, ir::binary(BinaryOp::Mul, b, number(6))), c)));
  const Expr odd = by(plus(plus(plus(b, times(3, pixel(0))), times(3, c)), pixel(1)), 8);
  EXPECT_EQ(merged(odd), text(ir::binary(BinaryOp::Mul, plus(b, c), number(0.5))));
}

TEST_F(MergedTerms, NotOfOthers) {
  const Expr a = pixel(0), b = pixel(1);
  for (const Expr& e : {plus(a, b), plus(times(2, a), times(-2, pixel(0))), by(plus(a, b), 8),
                        plus(times(0.1, a), times(16777216, pixel(0)))})
    EXPECT_EQ(merged(e), text(e));
}

TEST_F(MergedTerms, FactorsThatAreExact) {
  EXPECT_EQ(merged(by(times(3, pixel(0)), 4)), text(ir::binary(BinaryOp::Mul, pixel(0), number(0.75))));
  const Expr third = by(times(4, pixel(0)), 3);
  EXPECT_EQ(merged(third), text(third));
}

}  // namespace
}  // namespace weft::rewrite::merge_terms_test
