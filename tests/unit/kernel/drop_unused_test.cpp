#include "kernel/drop_unused.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

std::string names_left(Block body) {
  kernel::Function function{"f", "", {}, std::move(body)};
  drop_unused(function);
  std::string names;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.op)) names += let->name + " ";
  });
  return names;
}

For loop(Block body) { return {LoopKind::Serial, "k", literal(0), literal(9), std::move(body)}; }

TEST(DropUnused, LeavesWhatAResultNeeds) {
  EXPECT_EQ(names_left({{Let{"a", literal(1)}},
                        {Let{"b", kernel::add(name("a"), name("n"))}},
                        {Let{"c", name("b")}},
                        {Let{"d", kernel::add(name("c"), name("b"))}},
                        {Store{"out", literal(0), name("b")}}}),
            "a b ");
}

TEST(DropUnused, LooksAtTheBlockThatDeclaresAName) {
  const auto x = [] { return Let{"x", name("n")}; };
  EXPECT_EQ(names_left({{loop({{x()}, {Store{"out", name("x"), name("n")}}})},
                        {loop({{x()}, {Store{"out", name("k"), name("n")}}})}}),
            "x ");
}

TEST(DropUnused, CountsTheEndsOfLoopsAndConditions) {
  const kernel::Expr condition = kernel::binary(ir::BinaryOp::Lt, name("a"), name("n"));
  For inner = loop({{Store{"out", literal(0), literal(1)}}});
  inner.to = name("b"), inner.step = name("c");
  EXPECT_EQ(names_left({{Let{"a", literal(1)}},
                        {Let{"b", literal(2)}},
                        {Let{"c", literal(3)}},
                        {Let{"d", literal(4)}},
                        {kernel::If{condition, {{std::move(inner)}}, {}}}}),
            "a b c ");
}

}  // namespace
}  // namespace weft::kernel
