// Walks over kernel code reach every operand of every kind of statement and node.
#include "kernel/visit.h"

#include <gtest/gtest.h>

#include <map>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

using Symbols = std::set<Symbol>;

Expr operand(const std::string& of, int number) { return name(symbol(of + "." + std::to_string(number))); }

/// A statement of each kind, with as many operands as it can have, each with a name of its own, and with how
/// many there are.
struct Sample {
  std::string kind;
  Stmt statement;
  int operands;
};
std::vector<Sample> samples() {
  const auto x = [](const char* of, int number) { return operand(of, number); };
  std::vector<Sample> all = {
      {"let", {Let{"v"_s, x("let", 0)}}, 1},
      {"assign", {Assign{"v"_s, x("assign", 0)}}, 1},
      {"pointer", {Pointer{"p"_s, "a"_s, Scalar::F32, x("pointer", 0), true, x("pointer", 1), "b"_s}}, 2},
      {"array", {LocalArray{"l"_s, Scalar::F32, 4}}, 0},
      {"store", {Store{"a"_s, x("store", 0), x("store", 1)}}, 2},
      {"load pack", {LoadPack{"l"_s, "a"_s, Scalar::F32, 4, x("load pack", 0), x("load pack", 1)}}, 2},
      {"store pack", {StorePack{"l"_s, "a"_s, x("store pack", 0), x("store pack", 1)}}, 2},
      {"prefetch", {Prefetch{"a"_s, Scalar::F32, x("prefetch", 0), x("prefetch", 1)}}, 2},
      {"exceeds", {ExceedsCaches{"e"_s, x("exceeds", 0)}}, 1},
      {"found", {LookUp{"a"_s, "t"_s, "l"_s, 9, x("found", 0)}}, 1},
      {"picked",
       {PickPlanes{
           "t"_s, "a"_s, 12, 9, x("picked", 0), x("picked", 1), 3, 2, {{"l"_s, 1, {"a"_s}}}, x("picked", 2)}},
       3},
      {"past", {StorePastCaches{"a"_s, Scalar::F32, x("past", 0), "l"_s, x("past", 1)}}, 2},
      {"shuffle", {Shuffle{"s"_s, x("shuffle", 0), 0, x("shuffle", 1)}}, 2},
      {"aligned", {IsAligned{"b"_s, "a"_s, x("aligned", 0), 16}}, 1},
      {"scope", {Scope{{{Let{"v"_s, x("scope", 0)}}}}}, 1},
      {"atomic", {Atomic{ir::BinaryOp::Add, "a"_s, x("atomic", 0), x("atomic", 1)}}, 2},
      {"barrier", {Barrier{}}, 0},
      {"if", {If{x("if", 0), {{Let{"v"_s, x("if", 1)}}}, {{Let{"v"_s, x("if", 2)}}}}}, 3},
      {"vectors",
       {IfVectors{"c"_s, x("vectors", 0), {{Let{"v"_s, x("vectors", 1)}}}, {{Let{"v"_s, x("vectors", 2)}}}}},
       3},
      {"steps", {StepsInLanes{{{Let{"v"_s, x("steps", 0)}}}, 496, 16, "t"_s, x("steps", 1)}}, 2},
      {"continue", {Continue{}}, 0},
      {"call", {CallFunction{"f"_s, {x("call", 0), x("call", 1)}}}, 2},
      {"order", {Order{"l"_s, "n"_s}}, 0},
      {"comment", {Comment{"said"}}, 0},
  };
  For loop{LoopKind::Serial, "i"_s, x("for", 0), x("for", 1), {{Let{"v"_s, x("for", 2)}}}, x("for", 3)};
  all.push_back({"for", {loop}, 4});
  return all;
}

Symbols names_of(const std::vector<Sample>& all, const std::string& suffix = "") {
  Symbols names;
  for (const Sample& sample : all) {
    for (int i = 0; i < sample.operands; ++i)
      names.insert(symbol(std::get<Name>(operand(sample.kind, i)->op).name.spelling() + suffix));
  }
  return names;
}

Symbols visited_in(const Block& block) {
  Symbols names;
  visit_expressions(block, [&](const Expr& e) {
    if (const auto* n = std::get_if<Name>(&e->op)) names.insert(n->name);
  });
  return names;
}

Block block_of(const std::vector<Sample>& all) {
  Block block;
  for (const Sample& sample : all) block.push_back(sample.statement);
  return block;
}

TEST(KernelVisit, SamplesAreOfEveryKind) {
  std::set<std::size_t> kinds;
  for (const Sample& sample : samples()) kinds.insert(sample.statement.op.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<decltype(Stmt::op)>);
}

TEST(KernelVisit, EveryOperandIsVisited) { EXPECT_EQ(visited_in(block_of(samples())), names_of(samples())); }

TEST(KernelVisit, EveryOperandIsRewritten) {
  Block block = block_of(samples());
  rewrite_expressions(block, [](const Expr& e) -> Expr {
    const auto* n = std::get_if<Name>(&e->op);
    return n ? name(symbol(n->name.spelling() + "'")) : nullptr;
  });
  EXPECT_EQ(visited_in(block), names_of(samples(), "'"));
}

TEST(KernelVisit, OperandsOfEveryNodeAreRewritten) {
  const Expr a = name("a"_s), b = name("b"_s), c = name("c"_s, Scalar::Bool);
  const std::vector<Expr> nodes = {unary(ir::UnaryOp::Neg, a),
                                   binary(ir::BinaryOp::Mul, a, b),
                                   select(c, a, b),
                                   cast(ir::CastMode::Convert, Scalar::F32, a),
                                   index_call(IndexOp::Mirror, a, b),
                                   load("array"_s, Scalar::F32, a)};
  const std::vector<Symbols> expected = {{"A"_s}, {"A"_s, "B"_s}, {"A"_s, "B"_s, "C"_s},
                                         {"A"_s}, {"A"_s, "B"_s}, {"A"_s}};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Block block = {{Let{"v"_s, nodes[i]}}};
    rewrite_expressions(block, [](const Expr& e) -> Expr {
      const std::map<Symbol, Symbol> capital = {{"a"_s, "A"_s}, {"b"_s, "B"_s}, {"c"_s, "C"_s}};
      const auto* n = std::get_if<Name>(&e->op);
      return n ? name(capital.at(n->name), e->type) : nullptr;
    });
    EXPECT_EQ(visited_in(block), expected[i]) << i;
  }
}

TEST(KernelVisit, NamesAreThoseThatABlockUses) {
  const Block block = block_of(samples());
  const Symbols names = names_in(block);
  for (const char* used : {"a", "b", "l", "v"}) EXPECT_TRUE(names.count(symbol(used))) << used;
  for (const char* only_declared : {"p", "e", "i"})
    EXPECT_FALSE(names.count(symbol(only_declared))) << only_declared;
  EXPECT_EQ(arrays_written_in(block), (Symbols{"a"_s, "l"_s}));
  // An array that is only put in order is used, too.
  EXPECT_EQ(names_in({{Order{"values"_s, "network"_s}}}), Symbols{"values"_s});
}

}  // namespace
}  // namespace weft::kernel
