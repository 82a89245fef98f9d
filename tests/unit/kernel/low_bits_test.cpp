#include "kernel/low_bits.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/evaluate.h"
#include "tests/support/symbols.h"

namespace weft::kernel::low_bits_test {
namespace {

using ir::BinaryOp;
using ir::CastMode;
using enum Scalar;

Expr to(Scalar type, const Expr& e) { return cast(CastMode::Convert, type, e); }
Expr variable(const char* spelling, Scalar type) { return name(symbol(spelling), type); }
Expr wide(const char* spelling, Scalar type) { return to(I32, variable(spelling, type)); }
Expr number(Scalar type, std::int64_t value) { return constant(type, {.i = value}); }

TEST(LowBits, OfSumsAndProductsAreThoseOfTheirParts) {
  const Expr sum =
      binary(BinaryOp::Add, wide("a", U8), binary(BinaryOp::Mul, number(I32, 2), wide("b", I16)));
  const Expr narrow = binary(BinaryOp::Add, to(I16, variable("a", U8)),
                             binary(BinaryOp::Mul, number(I16, 2), variable("b", I16)));
  EXPECT_TRUE(same(in_few_bits(to(I16, sum)), narrow));
  EXPECT_TRUE(same(in_few_bits(sum), sum)) << "whose high bits matter";
}

TEST(LowBits, OfWhatIsShiftedOrDividedAreThoseOfANarrowNumber) {
  const Expr v = variable("v", I16);
  const auto shifted = [&](Scalar type, const Expr& e) { return binary(BinaryOp::Shr, e, number(type, 4)); };
  EXPECT_TRUE(same(in_few_bits(to(U8, shifted(I32, to(I32, v)))), to(U8, shifted(I16, v))));
  const Expr of_sum = to(U8, shifted(I32, binary(BinaryOp::Add, to(I32, v), number(I32, 7))));
  EXPECT_TRUE(same(in_few_bits(of_sum), of_sum)) << "of a sum that may have 17 bits";
  const Expr ratio = binary(BinaryOp::Div, to(I32, v), number(I32, 70000));
  EXPECT_TRUE(same(in_few_bits(to(I16, ratio)), to(I16, ratio))) << "by more than 16 bits";
}

TEST(LowBits, OfBytesAreComputedWithSixteen) {
  const Expr sum = binary(BinaryOp::Add, wide("a", U8), wide("b", U8));
  const Expr of_shorts = binary(BinaryOp::Add, to(I16, variable("a", U8)), to(I16, variable("b", U8)));
  EXPECT_TRUE(same(in_few_bits(to(U8, sum)), to(U8, of_shorts)));
}

TEST(LowBits, OfWhatAFloatBecomesAreAllComputed) {
  const Expr rounded = to(U8, binary(BinaryOp::Add, to(I32, variable("f", F32)), number(I32, 1)));
  const Expr expected = to(U8, binary(BinaryOp::Add, to(I16, to(I32, variable("f", F32))), number(I16, 1)));
  EXPECT_TRUE(same(in_few_bits(rounded), expected));
}

}  // namespace
}  // namespace weft::kernel::low_bits_test
