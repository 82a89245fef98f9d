// Float arithmetic that disappears when expressions become kernel code, and what has to stay.
#include <gtest/gtest.h>

#include "kernel/build.h"
#include "lower/expressions.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;
using ir::UnaryOp;
using lower::computable;
using lower::simplified_binary;
using lower::simplified_unary;
using lower::stored_as;

Expr real(double value) { return constant(Scalar::F32, {.f = value}); }
const Expr x = cast(ir::CastMode::Convert, Scalar::F32, name("x"_s));  // a coordinate
const Expr pixel = name("v"_s, Scalar::F32);                           // perhaps NaN

Expr simplified(BinaryOp op, const Expr& a, const Expr& b) { return simplified_binary(op, a, b, false); }
bool is_untouched(BinaryOp op, const Expr& a, const Expr& b, bool strict = false) {
  return same(simplified_binary(op, a, b, strict), binary(op, a, b));
}

TEST(Simplify, ZeroTimesACoordinate) {
  EXPECT_TRUE(same(simplified(BinaryOp::Mul, real(0), x), real(0)));
  EXPECT_TRUE(same(simplified(BinaryOp::Mul, x, real(0)), real(0)));
  EXPECT_TRUE(is_untouched(BinaryOp::Mul, real(0), x, true)) << "0 * -1 is -0";
  EXPECT_TRUE(is_untouched(BinaryOp::Mul, real(0), pixel)) << "0 * NaN is NaN";
}

TEST(Simplify, ACoordinateWithoutItself) {
  EXPECT_TRUE(same(simplified(BinaryOp::Sub, x, x), real(0)));
  EXPECT_TRUE(is_untouched(BinaryOp::Sub, pixel, pixel));
}

TEST(Simplify, IntegersAreRounded) {
  for (const UnaryOp op : {UnaryOp::Floor, UnaryOp::Ceil, UnaryOp::Rint, UnaryOp::Trunc}) {
    EXPECT_TRUE(same(simplified_unary(op, x), x));
    EXPECT_TRUE(same(simplified_unary(op, pixel), unary(op, pixel)));
  }
  EXPECT_TRUE(same(simplified_unary(UnaryOp::Sqrt, x), unary(UnaryOp::Sqrt, x)));
}

TEST(Simplify, ConstantsAreComputedInTheirType) {
  EXPECT_TRUE(same(simplified(BinaryOp::Mul, real(3), real(0.1)), real(3 * 0.1f)));
  EXPECT_TRUE(same(simplified(BinaryOp::Div, real(3), real(4)), real(0.75)));
  EXPECT_TRUE(is_untouched(BinaryOp::Div, real(1), real(3))) << "1 / 3 says more than its digits";
  EXPECT_TRUE(same(simplified(BinaryOp::Sub, real(1), real(0.25)), real(0.75)));
  EXPECT_TRUE(is_untouched(BinaryOp::Lt, real(1), real(2)));
}

// A half overflows: 0 times it is NaN.
TEST(Simplify, AHalfOfACoordinateMayBeInfinite) {
  const Expr half = cast(ir::CastMode::Convert, Scalar::F16, name("x"_s));
  EXPECT_TRUE(is_untouched(BinaryOp::Sub, half, half));
}

// Found by: weft verify --random 1 --seed 48000020, which GCC compiled for minutes.
TEST(Simplify, MinimaOfHalvesAreRoundedOnce) {
  const Expr a = computable(name("a"_s, Scalar::F16)), b = computable(name("b"_s, Scalar::F16));
  const Expr least = binary(BinaryOp::Min, a, b);
  EXPECT_TRUE(same(computable(stored_as(Scalar::F16, least)), least));
  const Expr largest = binary(BinaryOp::Max, computable(stored_as(Scalar::F16, least)), b);
  EXPECT_TRUE(same(computable(stored_as(Scalar::F16, largest)), largest));
  const Expr total = binary(BinaryOp::Add, a, b);
  EXPECT_FALSE(same(computable(stored_as(Scalar::F16, total)), total))
      << "a sum need not be of half precision";
}

}  // namespace
}  // namespace weft::kernel
