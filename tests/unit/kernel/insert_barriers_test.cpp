// Where the threads of a block wait for each other.
#include "kernel/insert_barriers.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::insert_barriers_test {
namespace {

const Expr i = name("i"_s), n = name("n"_s);

Stmt shared(const std::string& array) {
  return {LocalArray{symbol(array), Scalar::F32, 64, Storage::Shared}};
}
Stmt threads(Block body, const Expr& from = literal(0), const Expr& to = n) {
  return {For{LoopKind::Threads, "i"_s, from, to, std::move(body)}};
}
Stmt turns(Block body) { return {For{LoopKind::Serial, "turn"_s, literal(0), n, std::move(body)}}; }
/// to[at] = from[at_from], for each i of the threads.
Stmt copied(const std::string& to, const std::string& from, const Expr& at, const Expr& at_from) {
  return threads({{Store{symbol(to), at, load(symbol(from), Scalar::F32, at_from)}}});
}
Stmt combined(const std::string& to, const Expr& at) {
  return threads({{Atomic{ir::BinaryOp::Add, symbol(to), at, i}}});
}
const Expr next = add(i, literal(1));

/// The statements after the pass, a letter each: b barrier, w that of a warp, t threads, l loop with what is inside, ? branch.
std::string shape_of(const Block& block) {
  std::string shape;
  for (const Stmt& s : block) {
    if (const auto* barrier = std::get_if<Barrier>(&s.op)) shape += barrier->is_of_warp ? 'w' : 'b';
    if (const auto* loop = std::get_if<For>(&s.op))
      shape += loop->kind == LoopKind::Threads ? "t" : "l(" + shape_of(loop->body) + ")";
    if (const auto* branch = std::get_if<If>(&s.op)) shape += "?(" + shape_of(branch->then) + ")";
  }
  return shape;
}
std::string with_barriers(Block body) {
  body.insert(body.begin(), {shared("a"), shared("b")});
  Function function{"kernel"_s, "", {}, std::move(body)};
  insert_barriers(function);
  return shape_of(function.body);
}

TEST(InsertBarriers, BetweenWritesAndReadsOfOthers) {
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), copied("out", "a", i, next)}), "tbt");
  EXPECT_EQ(with_barriers({copied("out", "a", i, next), copied("a", "in", i, i)}), "tbt");
  EXPECT_EQ(with_barriers({copied("a", "in", next, i), copied("a", "in", i, i)}), "tbt");
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), copied("b", "in", i, i)}), "tt");
}

TEST(InsertBarriers, OneForAllThatWasWritten) {
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), copied("b", "in", i, i), copied("out", "a", i, next),
                           copied("out2", "b", i, next)}),
            "ttbtt");
}

TEST(InsertBarriers, NoneForElementsOfAThreadsOwn) {
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), copied("out", "a", i, i)}), "tt");
  // Turns that are counted from elsewhere go to other threads.
  EXPECT_EQ(with_barriers({copied("a", "in", i, i),
                           threads({{Store{"out"_s, i, load("a"_s, Scalar::F32, i)}}}, literal(1))}),
            "tbt");
}

TEST(InsertBarriers, TheFirstThreadAloneWaitsForOthers) {
  const auto alone = [](Block body) { return threads(std::move(body), literal(0), literal(1)); };
  const Stmt read = {Store{"out"_s, name("part"_s), load("a"_s, Scalar::F32, literal(0))}};
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), alone({read})}), "tt");  // its own element
  EXPECT_EQ(with_barriers({copied("a", "in", next, i), alone({read})}), "tbt");
}

TEST(InsertBarriers, TurnsOfALoopWaitForEachOther) {
  EXPECT_EQ(with_barriers({turns({copied("a", "in", i, i), copied("out", "a", i, next)})}), "l(btbt)");
  // Two barriers a turn keep the turns apart as well.
  EXPECT_EQ(with_barriers(
                {turns({copied("a", "in", i, i), copied("b", "a", i, next), copied("out", "b", i, next)})}),
            "l(tbtbt)");
  EXPECT_EQ(with_barriers({turns({turns({copied("a", "a", i, next)})})}), "l(l(bt))");
}

TEST(InsertBarriers, WarpsWaitForTheirOwnLanes) {
  const auto warps = [](Block body) -> Stmt {
    return {For{LoopKind::Warps, "warp"_s, literal(0), literal(4), std::move(body)}};
  };
  // Each warp has arrays of its own, so that nothing of one is another's.
  EXPECT_EQ(with_barriers({warps({copied("a", "in", i, i), copied("out", "a", i, next)})}), "l(twt)");
  EXPECT_EQ(with_barriers({turns({warps({copied("a", "in", i, i), copied("out", "a", i, next)})})}),
            "l(l(wtwt))");
}

TEST(InsertBarriers, WhatWasBeforeALoopIsWaitedForOnce) {
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), turns({copied("out", "a", i, next)})}), "tbl(t)");
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), turns({combined("a", next)}), copied("out", "a", i, i)}),
            "tbl(t)bt");  // updates are atomic
}

TEST(InsertBarriers, BranchesThatAllThreadsTake) {
  EXPECT_EQ(with_barriers({copied("a", "in", i, i),
                           {If{name("c"_s, Scalar::Bool), {copied("out", "a", i, next)}, {}}},
                           copied("a", "in", i, i)}),
            "t?(bt)bt");
}

TEST(InsertBarriers, PointersStandForTheirArrays) {
  const Stmt reads = threads({{Pointer{"row"_s, "a"_s, Scalar::F32, literal(8)}},
                              {Store{"out"_s, i, load("row"_s, Scalar::F32, i)}}});
  EXPECT_EQ(with_barriers({copied("a", "in", i, i), reads}), "tbt");
}

TEST(InsertBarriers, MemoryCountsToo) {
  EXPECT_EQ(with_barriers({copied("parts", "in", i, i), copied("out", "parts", i, next)}), "tbt");
}

}  // namespace
}  // namespace weft::kernel::insert_barriers_test
