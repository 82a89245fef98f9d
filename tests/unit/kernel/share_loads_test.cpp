#include "kernel/share_loads.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

Expr at(const std::string& array, std::int64_t index) {
  return load(array, Scalar::F32, add(name("i"), literal(index)));
}
Expr sum(const Expr& a, const Expr& b) { return binary(ir::BinaryOp::Add, a, b); }

/// Names that are given to loads, and loads that are left.
std::string shared(Block block) {
  int count = 0;
  share_loads(block, [&](const std::string& wanted) { return wanted + std::to_string(++count); });
  std::string text;
  for (const Stmt& statement : block) {
    const auto* let = std::get_if<Let>(&statement.op);
    text += let ? let->name + ":" : "store:";
    each_operand(statement, [&](const Expr& e) {
      any_of(e, [&](const Node& node) {
        if (std::holds_alternative<Load>(node.op)) text += " load";
        if (const auto* n = std::get_if<Name>(&node.op); n && n->name != "i") text += " " + n->name;
        return false;
      });
    });
    text += "; ";
  }
  return text;
}

TEST(ShareLoads, NamesWhatIsLoadedTwiceWhereItIsFirst) {
  EXPECT_EQ(shared({{Let{"a", sum(at("in", -1), at("in", 0))}},
                    {Store{"out", name("i"), name("a", Scalar::F32)}},
                    {Store{"below", name("i"), sum(at("in", 0), at("in", 1))}}}),
            "v1: load; a: load v1; store: a; store: v1 load; ");
}

TEST(ShareLoads, LeavesWhatMayNotBeReached) {
  const Expr inside = binary(ir::BinaryOp::Lt, name("i"), literal(8));
  const auto guarded = [&](const std::string& let) {
    return Let{let, select(inside, at("in", 1), constant(Scalar::F32, {.f = 0}))};
  };
  EXPECT_EQ(shared({{guarded("a")}, {guarded("b")}}), "a: load; b: load; ");
}

TEST(ShareLoads, LeavesArraysThatAreWritten) {
  EXPECT_EQ(shared({{Store{"out", name("i"), sum(at("out", 1), at("out", 1))}}}), "store: load load; ");
}

TEST(ShareLoads, LeavesPlacesThatAreAssigned) {
  const Expr at_k = load("in", Scalar::F32, name("k"));
  EXPECT_EQ(shared({{Let{"k", literal(0), true}},
                    {Let{"a", at_k}},
                    {Assign{"k", literal(1)}},
                    {Let{"b", sum(at_k, name("a", Scalar::F32))}}}),
            "k:; a: k load; store:; b: k load a; ");
}

}  // namespace
}  // namespace weft::kernel
