// Divisions by the same that become products.
#include "kernel/reciprocals.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;

Expr real(Scalar type, double value) { return constant(type, ir::Value::real({type, 1}, value).lane[0]); }

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
