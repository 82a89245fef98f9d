#include "kernel/drop_unused.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/visit.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

std::string names_left(Block body) {
  kernel::Function function{"f"_s, "", {}, std::move(body)};
  drop_unused(function);
  std::string names;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.op)) names += let->name.spelling() + " ";
  });
  return names;
}

For loop(Block body) { return {LoopKind::Serial, "k"_s, literal(0), literal(9), std::move(body)}; }

TEST(DropUnused, LeavesWhatAResultNeeds) {
  EXPECT_EQ(names_left({{Let{"a"_s, literal(1)}},
                        {Let{"b"_s, kernel::add(name("a"_s), name("n"_s))}},
                        {Let{"c"_s, name("b"_s)}},
                        {Let{"d"_s, kernel::add(name("c"_s), name("b"_s))}},
                        {Store{"out"_s, literal(0), name("b"_s)}}}),
            "a b ");
}

TEST(DropUnused, LooksAtTheBlockThatDeclaresAName) {
  const auto x = [] { return Let{"x"_s, name("n"_s)}; };
  EXPECT_EQ(names_left({{loop({{x()}, {Store{"out"_s, name("x"_s), name("n"_s)}}})},
                        {loop({{x()}, {Store{"out"_s, name("k"_s), name("n"_s)}}})}}),
            "x ");
}

TEST(DropUnused, CountsTheEndsOfLoopsAndConditions) {
  const kernel::Expr condition = kernel::binary(ir::BinaryOp::Lt, name("a"_s), name("n"_s));
  For inner = loop({{Store{"out"_s, literal(0), literal(1)}}});
  inner.to = name("b"_s), inner.step = name("c"_s);
  EXPECT_EQ(names_left({{Let{"a"_s, literal(1)}},
                        {Let{"b"_s, literal(2)}},
                        {Let{"c"_s, literal(3)}},
                        {Let{"d"_s, literal(4)}},
                        {kernel::If{condition, {{std::move(inner)}}, {}}}}),
            "a b c ");
}

}  // namespace
}  // namespace weft::kernel
