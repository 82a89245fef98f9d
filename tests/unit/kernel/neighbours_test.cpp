#include "kernel/neighbours.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::neighbours_test {
namespace {

using ir::BinaryOp;

Expr at(const std::string& array, std::int64_t place, Scalar type = Scalar::F32) {
  return load(symbol(array), type, add(add(name("left"_s), name("i"_s)), literal(place)));
}
Expr sum(const Expr& a, const Expr& b) { return binary(BinaryOp::Add, a, b); }
Store out(const Expr& value) { return {"out"_s, name("i"_s), value}; }

/// The rows of a loop with that body, each with its vector before, and that at the variable.
std::string rows_of(Block body, LoopKind kind = LoopKind::Vector) {
  Function function{"f"_s, "", {}, {{For{kind, "i"_s, literal(0), name("n"_s), std::move(body)}}}};
  find_neighbours(function, {});
  std::string text;
  for (const Neighbours& row : std::get<For>(function.body[0].op).neighbours)
    text += row.array.spelling() + " " + std::to_string(row.left) + " " + row.before.spelling() + " " +
            row.here.spelling() + "; ";
  return text;
}

TEST(Neighbours, AreFoundInRowsThatAreReadAtSeveralPlaces) {
  EXPECT_EQ(rows_of({{out(sum(sum(at("in", -1), at("in", 1)), at("up", 0)))}}), "in 1 in_before in_here; ");
  EXPECT_EQ(rows_of({{out(sum(at("in", 2), at("in", 6)))}}), "in 2 in_before in_here; ");
  EXPECT_EQ(rows_of({{out(sum(at("in", 0), at("in", 1)))}}), "");
}

TEST(Neighbours, TakeTheNamesOfVariables) {
  EXPECT_EQ(rows_of({{Let{"v"_s, at("in", 0)}}, {out(sum(at("in", -1), name("v"_s, Scalar::F32)))}}),
            "in 1 in_before v; ");
}

TEST(Neighbours, AreInTheVectorBefore) {
  EXPECT_EQ(rows_of({{out(sum(at("in", -16), at("in", 0)))}}), "in 16 in_before in_here; ");
  EXPECT_EQ(rows_of({{out(sum(at("in", -17), at("in", 0)))}}), "");
  EXPECT_EQ(rows_of({{out(sum(at("in", -9, Scalar::F64), at("in", 0, Scalar::F64)))}}), "");
}

TEST(Neighbours, AreOfLoopsOfArithmeticForVectors) {
  const Expr both = sum(at("in", -1), at("in", 0));
  EXPECT_EQ(rows_of({{out(both)}}, LoopKind::Scalar), "");
  EXPECT_NE(rows_of({{out(unary(ir::UnaryOp::Sqrt, both))}}), "");
  EXPECT_EQ(rows_of({{out(unary(ir::UnaryOp::Exp, both))}}), "");
  EXPECT_EQ(rows_of({{out(both)}, {If{name("c"_s, Scalar::Bool), {}, {}}}}), "");
  EXPECT_EQ(rows_of({{out(both)}, {Store{"other"_s, name("i"_s), constant(Scalar::F32, {.f = 1})}}}), "")
      << "a scalar is stored";
  EXPECT_EQ(rows_of({{out(both)}, {Store{"other"_s, mul(name("i"_s), literal(2)), both}}}), "")
      << "not side by side";
  const Expr gathered = load("in"_s, Scalar::F32, cast(ir::CastMode::Convert, Scalar::I64, at("places", 0)));
  EXPECT_EQ(rows_of({{out(sum(both, gathered))}}), "");
}

TEST(Neighbours, MayBeStoredTwiceWhereNoIterationReadsWhatItStores) {
  const auto may_repeat = [](const std::string& from, const std::string& of, const std::string& added,
                             const Stmt& before = {Continue{}}) {
    const Pointer row{"row"_s, symbol(of), Scalar::F32, literal(0)};
    const Expr value = sum(sum(at(from, -1), at(from, 0)), at(added, 0));
    Function function{
        "f"_s,
        "",
        {},
        {before, {row}, {For{LoopKind::Vector, "i"_s, literal(0), name("n"_s), {{out(value)}}}}}};
    find_neighbours(function, {});
    return std::get<For>(function.body[2].op).may_repeat;
  };
  EXPECT_TRUE(may_repeat("in", "other", "row"));
  EXPECT_FALSE(may_repeat("in", "other", "out"));
  EXPECT_FALSE(may_repeat("in", "out", "row")) << "through a pointer";
  EXPECT_FALSE(may_repeat("row", "out", "in"));
  const Prefetch next{"in"_s, Scalar::F32, literal(0), literal(16)};
  EXPECT_FALSE(may_repeat("in", "other", "row", {next})) << "of a portion of a row";
}

TEST(Neighbours, LeaveRegistersToTheRest) {
  const auto rows = [](int count) {
    Expr all = sum(at("r0", -1), at("r0", 0));
    for (int r = 1; r < count; ++r) {
      const std::string row = "r" + std::to_string(r);
      all = sum(all, sum(at(row, -1), at(row, 0)));
    }
    return rows_of({{out(all)}});
  };
  EXPECT_NE(rows(8), "");
  EXPECT_EQ(rows(9), "");
}

}  // namespace
}  // namespace weft::kernel::neighbours_test
