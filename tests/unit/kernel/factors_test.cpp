#include "kernel/factors.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/visit.h"
#include "tests/support/symbols.h"

namespace weft::kernel::factors_test {
namespace {

Expr product(std::int64_t factor, Scalar type = Scalar::I32) {
  return binary(ir::BinaryOp::Mul, constant(type, {.i = factor}), load("in"_s, type, name("i"_s)));
}
Stmt loop(const Expr& value, LoopKind kind = LoopKind::Vector) {
  return {For{kind, "i"_s, literal(0), name("n"_s), {{Store{"out"_s, name("i"_s), value}}}}};
}

/// What the statements declare so that compilers do not see it.
std::string hidden_of(Block block) {
  Function function{"f"_s, "", {}, std::move(block)};
  hide_factors(function, {});
  std::string text;
  for (const Stmt& statement : function.body) {
    const auto* let = std::get_if<Let>(&statement.op);
    text += let && let->is_opaque ? let->name.spelling() + "; " : "loop; ";
  }
  return text;
}

TEST(Factors, AreHiddenWhereShiftsWouldTakeLonger) {
  EXPECT_EQ(hidden_of({loop(product(882))}), "factor_882; loop; ");
  EXPECT_EQ(hidden_of({loop(product(-103))}), "factor_m103; loop; ");
  EXPECT_EQ(hidden_of({loop(product(6))}), "factor_6; loop; ") << "(x << 3) - (x << 1)";
  EXPECT_EQ(hidden_of({loop(product(7))}), "loop; ") << "(x << 3) - x";
  EXPECT_EQ(hidden_of({loop(product(1 << 20))}), "loop; ");
  EXPECT_EQ(hidden_of({loop(product(0))}), "loop; ");
  EXPECT_EQ(hidden_of({loop(product(0x01010101))}), "loop; ") << "bits are counted";
}

TEST(Factors, StandBeforeTheFirstLoopOfABlockThatHasThem) {
  const Expr both = binary(ir::BinaryOp::Add, product(882), product(373));
  EXPECT_EQ(hidden_of({loop(product(882)), loop(both)}), "factor_882; loop; factor_373; loop; ");
}

TEST(Factors, AreReplacedWithinProducts) {
  const Expr nested = binary(ir::BinaryOp::Mul, product(882), constant(Scalar::I32, {.i = 373}));
  Function function{"f"_s, "", {}, {loop(nested)}};
  hide_factors(function, {});
  visit_expressions(function.body, [](const Expr& e) {
    const auto* product = std::get_if<Binary>(&e->op);
    if (!product || product->op != ir::BinaryOp::Mul) return;
    EXPECT_FALSE(std::holds_alternative<Const>(product->a->op));
    EXPECT_FALSE(std::holds_alternative<Const>(product->b->op));
  });
}

TEST(Factors, AreOf32BitIntegersInVectors) {
  EXPECT_EQ(hidden_of({loop(product(882, Scalar::U32))}), "factor_882; loop; ");
  EXPECT_EQ(hidden_of({loop(product(882, Scalar::I16))}), "loop; ");
  EXPECT_EQ(hidden_of({loop(product(882, Scalar::I64))}), "loop; ");
  EXPECT_EQ(hidden_of({loop(product(882), LoopKind::Scalar)}), "loop; ");
}

}  // namespace
}  // namespace weft::kernel::factors_test
