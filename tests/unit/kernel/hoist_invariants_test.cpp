// What leaves a vector loop, and what has to stay.
#include "kernel/hoist_invariants.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

using namespace kernel;

const Expr x = name("x"_s), y = name("y"_s), n = name("n"_s);

/// A function of a loop over x with this body, after the pass.
Block hoisted(Block body, LoopKind kind = LoopKind::Vector) {
  Function function{"rows"_s, "", {"y"_s}, {{For{kind, "x"_s, literal(0), n, std::move(body)}}}};
  Names names;
  for (const Symbol& taken : {"n"_s, "p"_s, "q"_s}) names.avoid(taken);
  hoist_invariants(function, names);
  return function.body;
}

Expr clamped(const Expr& e) { return index_call(IndexOp::Clamp, e, n); }
Stmt stored(const Expr& value) { return {Store{"p"_s, x, value}}; }
const Block& body_of(const Block& block) { return std::get<For>(block.back().op).body; }
const Expr& value_of(const Stmt& s) { return std::get<Let>(s.op).value; }

TEST(HoistInvariants, VariablesLeaveWithWhatTheyDependOn) {
  const Block block = hoisted({{Let{"a"_s, add(y, literal(1))}},
                               {Let{"b"_s, add(x, name("a"_s))}},
                               {Let{"c"_s, clamped(name("a"_s))}},
                               stored(add(name("b"_s), name("c"_s)))});
  ASSERT_EQ(block.size(), 3u);
  EXPECT_EQ(std::get<Let>(block[0].op).name, "a"_s);
  EXPECT_EQ(std::get<Let>(block[1].op).name, "c"_s);
  ASSERT_EQ(body_of(block).size(), 2u);
  EXPECT_EQ(std::get<Let>(body_of(block)[0].op).name, "b"_s);
}

TEST(HoistInvariants, PartsWithBranchesGetOneName) {
  const Expr row = mul(clamped(y), literal(7));
  const Block block = hoisted({stored(add(row, x)), stored(add(x, row))});
  ASSERT_EQ(block.size(), 2u);
  EXPECT_TRUE(same(value_of(block[0]), row));
  const Expr name_of_row = name(std::get<Let>(block[0].op).name);
  EXPECT_TRUE(same(std::get<Store>(body_of(block)[0].op).value, add(name_of_row, x)));
  EXPECT_TRUE(same(std::get<Store>(body_of(block)[1].op).value, add(x, name_of_row)));
}

TEST(HoistInvariants, ArithmeticStaysInItsExpression) {
  EXPECT_EQ(hoisted({stored(add(mul(y, n), x))}).size(), 1u);
}

TEST(HoistInvariants, OfTwoRowsTheOneThatIsChosen) {
  const auto choice = [](const Expr& condition, const Expr& from_q = x) {
    return hoisted({{Let{"a"_s, load("p"_s, Scalar::I64, x)}},
                    {Let{"b"_s, load("q"_s, Scalar::I64, from_q)}},
                    {Store{"r"_s, x, select(condition, name("a"_s), name("b"_s))}}});
  };
  const Expr is_even = binary(ir::BinaryOp::Eq, y, literal(2));
  const Block block = choice(is_even);
  ASSERT_EQ(block.size(), 2u);
  const auto& row = std::get<Pointer>(block[0].op);
  EXPECT_TRUE(same(row.unless, is_even));
  EXPECT_EQ(row.instead, "p"_s);
  EXPECT_EQ(row.array, "q"_s);
  ASSERT_EQ(body_of(block).size(), 1u) << "nothing else is loaded";
  EXPECT_TRUE(same(std::get<Store>(body_of(block)[0].op).value, load(row.name, Scalar::I64, x)));

  EXPECT_EQ(choice(binary(ir::BinaryOp::Eq, x, literal(2))).size(), 1u) << "other for each pixel";
  EXPECT_EQ(body_of(choice(is_even, add(x, literal(1)))).size(), 3u) << "of different pixels";
  EXPECT_EQ(hoisted({{Let{"a"_s, load("p"_s, Scalar::I64, x)}},
                     {Let{"b"_s, load("q"_s, Scalar::I64, x)}},
                     stored(select(is_even, name("a"_s), name("b"_s)))})
                .size(),
            1u)
      << "one of them is stored to";
}

TEST(HoistInvariants, WhatVariesStays) {
  const Expr index = mul(y, literal(2));
  EXPECT_EQ(hoisted({stored(clamped(x))}).size(), 1u);
  EXPECT_EQ(hoisted({{Let{"a"_s, y, true}}, {Assign{"a"_s, x}}, stored(clamped(name("a"_s)))}).size(), 1u);
  EXPECT_EQ(
      hoisted({{LocalArray{"v"_s, Scalar::I64, 2}}, stored(load("v"_s, Scalar::I64, literal(0)))}).size(),
      1u);
}

TEST(HoistInvariants, LoadsStaySinceTheLoopMayBeEmpty) {
  const Block block = hoisted({{Let{"a"_s, load("q"_s, Scalar::I64, y)}}, stored(clamped(name("a"_s)))});
  EXPECT_EQ(block.size(), 1u);
}

TEST(HoistInvariants, SerialLoopsStayAsTheyAre) {
  EXPECT_EQ(hoisted({{Let{"a"_s, clamped(y)}}, stored(name("a"_s))}, LoopKind::Serial).size(), 1u);
}

}  // namespace
}  // namespace weft::kernel
