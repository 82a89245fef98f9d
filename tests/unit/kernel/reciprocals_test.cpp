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

TEST(Reciprocals, AreSharedByDivisionsOfABlock) {
  const Expr w = name("w"_s, Scalar::F32), a = name("a"_s, Scalar::F32), b = name("b"_s, Scalar::F32);
  const auto by_w = [&](const Expr& e) { return binary(BinaryOp::Div, e, w); };
  Function function{"f"_s, "", {}, {{Let{"red"_s, by_w(a)}}, {Let{"green"_s, by_w(by_w(b))}}}};
  share_reciprocals(function, Names());
  ASSERT_EQ(function.body.size(), 3u);
  const auto let = [&](std::size_t i) { return std::get<Let>(function.body[i].op); };
  EXPECT_EQ(let(0).name.spelling(), "reciprocal");
  EXPECT_TRUE(same(let(0).value, by_w(real(Scalar::F32, 1))));
  const Expr r = name(let(0).name, Scalar::F32);
  const auto times_r = [&](const Expr& e) { return binary(BinaryOp::Mul, e, r); };
  EXPECT_TRUE(same(let(1).value, times_r(a)));
  EXPECT_TRUE(same(let(2).value, times_r(times_r(b))));
}

TEST(Reciprocals, AreNotSharedOfWhatChangesOrIsAnInteger) {
  const auto statements = [](Scalar type, bool is_assigned) {
    const Expr quotient = binary(BinaryOp::Div, name("a"_s, type), name("w"_s, type));
    Function function{"f"_s, "", {}, {{Let{"red"_s, quotient}}}};
    if (is_assigned) function.body.push_back({Assign{"w"_s, name("a"_s, type)}});
    function.body.push_back({Let{"green"_s, quotient}});
    share_reciprocals(function, Names());
    return function.body.size();
  };
  EXPECT_EQ(statements(Scalar::F32, false), 3u);
  EXPECT_EQ(statements(Scalar::F32, true), 3u) << "red, the assignment and green";
  EXPECT_EQ(statements(Scalar::I32, false), 2u);
}

}  // namespace
}  // namespace weft::kernel
