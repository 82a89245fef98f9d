// Walks over kernel code reach every operand of every kind of statement and node.
#include "kernel/visit.h"

#include <gtest/gtest.h>

#include <map>

#include "kernel/build.h"

namespace weft::kernel {
namespace {

using Names = std::set<std::string>;

Expr operand(const std::string& of, int number) { return name(of + "." + std::to_string(number)); }

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
      {"let", {Let{"v", x("let", 0)}}, 1},
      {"assign", {Assign{"v", x("assign", 0)}}, 1},
      {"pointer", {Pointer{"p", "a", Scalar::F32, x("pointer", 0), true, x("pointer", 1), "b"}}, 2},
      {"array", {LocalArray{"l", Scalar::F32, 4}}, 0},
      {"store", {Store{"a", x("store", 0), x("store", 1)}}, 2},
      {"load pack", {LoadPack{"l", "a", Scalar::F32, 4, x("load pack", 0), x("load pack", 1)}}, 2},
      {"store pack", {StorePack{"l", "a", x("store pack", 0), x("store pack", 1)}}, 2},
      {"prefetch", {Prefetch{"a", Scalar::F32, x("prefetch", 0), x("prefetch", 1)}}, 2},
      {"exceeds", {ExceedsCaches{"e", x("exceeds", 0)}}, 1},
      {"past", {StorePastCaches{"a", Scalar::F32, x("past", 0), "l", x("past", 1)}}, 2},
      {"shuffle", {Shuffle{"s", x("shuffle", 0), 0, x("shuffle", 1)}}, 2},
      {"aligned", {IsAligned{"b", "a", x("aligned", 0), 16}}, 1},
      {"scope", {Scope{{{Let{"v", x("scope", 0)}}}}}, 1},
      {"atomic", {Atomic{ir::BinaryOp::Add, "a", x("atomic", 0), x("atomic", 1)}}, 2},
      {"barrier", {Barrier{}}, 0},
      {"if", {If{x("if", 0), {{Let{"v", x("if", 1)}}}, {{Let{"v", x("if", 2)}}}}}, 3},
      {"continue", {Continue{}}, 0},
      {"call", {CallFunction{"f", {x("call", 0), x("call", 1)}}}, 2},
      {"order", {Order{"l", 0, 1}}, 0},
      {"comment", {Comment{"said"}}, 0},
  };
  For loop{LoopKind::Serial, "i", x("for", 0), x("for", 1), {{Let{"v", x("for", 2)}}}, x("for", 3)};
  all.push_back({"for", {loop}, 4});
  return all;
}

Names names_of(const std::vector<Sample>& all, const std::string& suffix = "") {
  Names names;
  for (const Sample& sample : all) {
    for (int i = 0; i < sample.operands; ++i)
      names.insert(std::get<Name>(operand(sample.kind, i)->op).name + suffix);
  }
  return names;
}

Names visited_in(const Block& block) {
  Names names;
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
    return n ? name(n->name + "'") : nullptr;
  });
  EXPECT_EQ(visited_in(block), names_of(samples(), "'"));
}

TEST(KernelVisit, OperandsOfEveryNodeAreRewritten) {
  const Expr a = name("a"), b = name("b"), c = name("c", Scalar::Bool);
  const std::vector<Expr> nodes = {unary(ir::UnaryOp::Neg, a),
                                   binary(ir::BinaryOp::Mul, a, b),
                                   select(c, a, b),
                                   cast(ir::CastMode::Convert, Scalar::F32, a),
                                   index_call(IndexOp::Mirror, a, b),
                                   load("array", Scalar::F32, a)};
  const std::vector<Names> expected = {{"A"}, {"A", "B"}, {"A", "B", "C"}, {"A"}, {"A", "B"}, {"A"}};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Block block = {{Let{"v", nodes[i]}}};
    rewrite_expressions(block, [](const Expr& e) -> Expr {
      const std::map<std::string, std::string> capital = {{"a", "A"}, {"b", "B"}, {"c", "C"}};
      const auto* n = std::get_if<Name>(&e->op);
      return n ? name(capital.at(n->name), e->type) : nullptr;
    });
    EXPECT_EQ(visited_in(block), expected[i]) << i;
  }
}

TEST(KernelVisit, NamesAreThoseThatABlockUses) {
  const Block block = block_of(samples());
  const Names names = names_in(block);
  for (const char* used : {"a", "b", "l", "v"}) EXPECT_TRUE(names.count(used)) << used;
  for (const char* only_declared : {"p", "e", "i"}) EXPECT_FALSE(names.count(only_declared)) << only_declared;
  EXPECT_EQ(arrays_written_in(block), (Names{"a", "l"}));
  // An array that is only put in order is used, too.
  EXPECT_EQ(names_in({{Order{"values", 0, 1}}}), Names{"values"});
}

}  // namespace
}  // namespace weft::kernel
