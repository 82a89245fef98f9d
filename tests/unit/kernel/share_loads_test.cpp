#include "kernel/share_loads.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/visit.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

Expr at(const std::string& array, std::int64_t index) {
  return load(symbol(array), Scalar::F32, add(name("i"_s), literal(index)));
}
Expr sum(const Expr& a, const Expr& b) { return binary(ir::BinaryOp::Add, a, b); }

/// Names that are given to loads, and loads that are left.
std::string shared(Block block) {
  int count = 0;
  share_loads(block, [&](const std::string& wanted) { return symbol(wanted + std::to_string(++count)); });
  std::string text;
  for (const Stmt& statement : block) {
    const auto* let = std::get_if<Let>(&statement.op);
    text += let ? let->name.spelling() + ":" : "store:";
    each_operand(statement, [&](const Expr& e) {
      any_of(e, [&](const Node& node) {
        if (std::holds_alternative<Load>(node.op)) text += " load";
        if (const auto* n = std::get_if<Name>(&node.op); n && n->name != "i"_s)
          text += " " + n->name.spelling();
        return false;
      });
    });
    text += "; ";
  }
  return text;
}

TEST(ShareLoads, NamesWhatIsLoadedTwiceWhereItIsFirst) {
  EXPECT_EQ(shared({{Let{"a"_s, sum(at("in", -1), at("in", 0))}},
                    {Store{"out"_s, name("i"_s), name("a"_s, Scalar::F32)}},
                    {Store{"below"_s, name("i"_s), sum(at("in", 0), at("in", 1))}}}),
            "v1: load; a: load v1; store: a; store: v1 load; ");
}

TEST(ShareLoads, LeavesWhatMayNotBeReached) {
  const Expr inside = binary(ir::BinaryOp::Lt, name("i"_s), literal(8));
  const auto guarded = [&](const std::string& let) {
    return Let{symbol(let), select(inside, at("in", 1), constant(Scalar::F32, {.f = 0}))};
  };
  EXPECT_EQ(shared({{guarded("a")}, {guarded("b")}}), "a: load; b: load; ");
}

TEST(ShareLoads, LeavesArraysThatAreWritten) {
  EXPECT_EQ(shared({{Store{"out"_s, name("i"_s), sum(at("out", 1), at("out", 1))}}}), "store: load load; ");
}

TEST(ShareLoads, LeavesPlacesThatAreAssigned) {
  const Expr at_k = load("in"_s, Scalar::F32, name("k"_s));
  EXPECT_EQ(shared({{Let{"k"_s, literal(0), true}},
                    {Let{"a"_s, at_k}},
                    {Assign{"k"_s, literal(1)}},
                    {Let{"b"_s, sum(at_k, name("a"_s, Scalar::F32))}}}),
            "k:; a: k load; store:; b: k load a; ");
}

}  // namespace
}  // namespace weft::kernel
