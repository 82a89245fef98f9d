// Divisions by constants that become products.
#include "kernel/reciprocals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;

Expr real(Scalar type, double value) { return constant(type, ir::Value::real({type, 1}, value).lane[0]); }

/// What `x / divisor`, stored, becomes.
Expr divided(Scalar type, const Expr& divisor) {
  Function function{
      "f"_s, "", {}, {{Store{"out"_s, literal(0), binary(BinaryOp::Div, name("x"_s, type), divisor)}}}};
  multiply_by_reciprocals(function);
  return std::get<Store>(function.body[0].op).value;
}

TEST(Reciprocals, OfConstants) {
  for (const Scalar type : {Scalar::F32, Scalar::F64}) {
    const Expr inverse = binary(BinaryOp::Div, real(type, 1), real(type, 118));
    EXPECT_TRUE(same(divided(type, real(type, 118)), binary(BinaryOp::Mul, name("x"_s, type), inverse)));
  }
}

TEST(Reciprocals, NotOfWhatHasNone) {
  const auto stays = [](Scalar type, const Expr& divisor) {
    return same(divided(type, divisor), binary(BinaryOp::Div, name("x"_s, type), divisor));
  };
  EXPECT_TRUE(stays(Scalar::F32, name("y"_s, Scalar::F32)));
  EXPECT_TRUE(stays(Scalar::I32, constant(Scalar::I32, {.i = 3})));
  for (const double divisor : std::initializer_list<double>{0., 16., 1e-40, 3e38, INFINITY, NAN})
    EXPECT_TRUE(stays(Scalar::F32, real(Scalar::F32, divisor))) << divisor;
}

TEST(Reciprocals, InWhatIsDivided) {
  const Expr three = real(Scalar::F32, 3), x = name("x"_s, Scalar::F32);
  Function function{"f"_s, "", {}, {}};
  function.body.push_back({Let{"v"_s, binary(BinaryOp::Div, binary(BinaryOp::Div, x, three), three)}});
  multiply_by_reciprocals(function);
  const Expr third = binary(BinaryOp::Div, real(Scalar::F32, 1), three);
  EXPECT_TRUE(same(std::get<Let>(function.body[0].op).value,
                   binary(BinaryOp::Mul, binary(BinaryOp::Mul, x, third), third)));
}

}  // namespace
}  // namespace weft::kernel
