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

/// What each statement loads, and which variables it reads.
std::string text_of(const Block& block) {
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

/// Names that are given to loads, and loads that are left.
std::string shared(Block block) {
  int count = 0;
  share_loads(block, [&](const std::string& wanted) { return symbol(wanted + std::to_string(++count)); });
  return text_of(block);
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

// ---- in loops ----

/// A lane of each pixel.
Expr lane(const std::string& array, std::int64_t number) {
  return load(symbol(array), Scalar::F32, add(mul(name("i"_s), literal(3)), literal(number)));
}
const Stmt store_1{Store{"out"_s, literal(0), constant(Scalar::F32, {.f = 0})}};
const Stmt store_2{Store{"out"_s, literal(1), constant(Scalar::F32, {.f = 0})}};

/// How often a loop loads, once what it does more than once has names.
std::string shared_in_loop(Block block, const Block& before = {}) {
  Function function{"f"_s, "", {}, before};
  function.body.push_back({For{LoopKind::Vector, "i"_s, literal(0), literal(9), std::move(block)}});
  share_spread_loads(function, Names());
  return text_of(std::get<For>(function.body.back().op).body);
}

TEST(ShareSpreadLoads, TakesTheNameThatALoadHas) {
  EXPECT_EQ(
      shared_in_loop(
          {{Let{"a"_s, lane("in", 0)}}, {Let{"b"_s, sum(lane("in", 0), lane("in", 1))}}, store_1, store_2}),
      "a: load; b: a load; store:; store:; ");
}

/// Nor anywhere in the function: what is the same in all iterations leaves its loop later.
TEST(ShareSpreadLoads, GivesNamesThatTheFunctionHasNot) {
  const Stmt twice{Let{"b"_s, sum(lane("in", 0), lane("in", 0))}};
  EXPECT_EQ(shared_in_loop({twice, store_1, store_2}), "v: load; b: v v; store:; store:; ");
  const Stmt own{Let{"v"_s, literal(1)}};
  EXPECT_EQ(shared_in_loop({own, twice, store_1, store_2}), "v:; v_2: load; b: v_2 v_2; store:; store:; ");
  EXPECT_EQ(shared_in_loop({twice, store_1, store_2}, {own}), "v_2: load; b: v_2 v_2; store:; store:; ");
  const Stmt loop{For{LoopKind::Serial, "j"_s, literal(0), literal(2), {own}}};
  EXPECT_EQ(shared_in_loop({twice, store_1, store_2}, {loop}), "v_2: load; b: v_2 v_2; store:; store:; ");
}

TEST(ShareSpreadLoads, LeavesWhatCompilersShare) {
  const Stmt once{Store{"out"_s, name("i"_s), sum(lane("in", 0), lane("in", 0))}};
  EXPECT_EQ(shared_in_loop({once}), "store: load load; ") << "no store lies between";
  const Stmt beside{Let{"b"_s, sum(at("in", 0), at("in", 0))}};
  EXPECT_EQ(shared_in_loop({beside, store_1, store_2}), "b: load load; store:; store:; ") << "side by side";
}

/// By their own names, or through pointers.
TEST(ShareSpreadLoads, LeavesArraysThatAreWritten) {
  const Stmt twice{Let{"a"_s, sum(lane("out", 1), lane("out", 1))}};
  EXPECT_EQ(shared_in_loop({twice, store_1, store_2}), "a: load load; store:; store:; ");
  const Stmt through{Let{"a"_s, sum(lane("row", 1), lane("row", 1))}};
  const auto pointing = [](const Symbol& array) {
    return Block{{Pointer{"row"_s, array, Scalar::F32, literal(0)}}};
  };
  EXPECT_EQ(shared_in_loop({through, store_1, store_2}, pointing("out"_s)), "a: load load; store:; store:; ");
  EXPECT_EQ(shared_in_loop({through, store_1, store_2}, pointing("in"_s)),
            "v: load; a: v v; store:; store:; ");
}

}  // namespace
}  // namespace weft::kernel
