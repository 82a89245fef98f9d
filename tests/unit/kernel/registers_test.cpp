#include "kernel/registers.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

Expr real(const std::string& of) { return name(symbol(of), Scalar::F32); }
Expr loaded(std::int64_t at) { return kernel::load("in"_s, Scalar::F32, literal(at)); }

int registers(Block body) { return estimated_registers(Function{"k"_s, "", {}, std::move(body)}).most; }

/// So many values, all of them alive before their sum is stored.
Block sum_of(int values) {
  Block block;
  Expr sum = real("v0");
  for (int v = 0; v < values; ++v) block.push_back({Let{symbol("v" + std::to_string(v)), loaded(v)}});
  for (int v = 1; v < values; ++v)
    sum = kernel::binary(ir::BinaryOp::Add, sum, real("v" + std::to_string(v)));
  block.push_back({Store{"out"_s, literal(0), sum}});
  return block;
}

Block in_loop(LoopKind kind, std::int64_t iterations, Block body) {
  return {{For{kind, "i"_s, literal(0), literal(iterations), std::move(body)}}};
}

TEST(Registers, OfAKernelThatDoesLittleAreTheFewestThatMatter) {
  EXPECT_EQ(registers({}), 32);
  EXPECT_EQ(registers({{Store{"out"_s, literal(0), loaded(0)}}}), 32);
}

TEST(Registers, AreARangeBetweenSteps) {
  const auto range = [](int values) { return estimated_registers(Function{"k"_s, "", {}, sum_of(values)}); };
  EXPECT_EQ(range(1), (RegisterRange{1, 32}));
  EXPECT_EQ(range(20), (RegisterRange{33, 40}));
  EXPECT_EQ(range(300), (RegisterRange{129, 255}));
}

TEST(Registers, GrowWithTheValuesThatAreAliveAtOnce) {
  // 16, the values, and an address and the sum when it is stored.
  EXPECT_EQ(registers(sum_of(10)), 32);
  EXPECT_EQ(registers(sum_of(20)), 40);
  EXPECT_EQ(registers(sum_of(40)), 64);
  EXPECT_EQ(registers(sum_of(300)), 255);
  // One after the other, they take each other's place.
  Block block;
  for (int v = 0; v < 40; ++v) {
    block.push_back({Let{symbol("v" + std::to_string(v)), loaded(v)}});
    block.push_back({Store{"out"_s, literal(v), real("v" + std::to_string(v))}});
  }
  EXPECT_EQ(registers(block), 32);
}

TEST(Registers, OfWideValuesAreTwo) {
  Block block;
  Expr sum = name("v0"_s, Scalar::F64);
  for (int v = 0; v < 20; ++v)
    block.push_back({Let{symbol("v" + std::to_string(v)), kernel::load("in"_s, Scalar::F64, literal(v))}});
  for (int v = 1; v < 20; ++v)
    sum = kernel::binary(ir::BinaryOp::Add, sum, name(symbol("v" + std::to_string(v)), Scalar::F64));
  block.push_back({Store{"out"_s, literal(0), sum}});
  EXPECT_EQ(registers(block), 64);
}

TEST(Registers, HoldWhatALoopReadsFromAround) {
  Block block;
  for (int v = 0; v < 30; ++v) block.push_back({Let{symbol("v" + std::to_string(v)), loaded(v)}});
  Block body;
  for (int v = 0; v < 30; ++v) body.push_back({Store{"out"_s, name("i"_s), real("v" + std::to_string(v))}});
  EXPECT_EQ(registers(block), 32) << "nobody reads them";
  kernel::append(block, in_loop(LoopKind::GridX, 1000, body));
  EXPECT_EQ(registers(block), 80) << "the first store needs the last value in the next iteration";
}

TEST(Registers, CountIterationsThatAreUnderWayTogether) {
  const Block body = sum_of(5);  // 8 registers with the sum and its address
  EXPECT_EQ(registers(body), 32);
  EXPECT_EQ(registers(in_loop(LoopKind::GridX, 1000, body)), 64) << "four of them, and the variable: 49";
  EXPECT_EQ(registers(in_loop(LoopKind::Serial, 2, body)), 40) << "both: 33";
  EXPECT_EQ(registers(in_loop(LoopKind::Serial, 8, body)), 64) << "as many as are worth it";
  EXPECT_EQ(registers(in_loop(LoopKind::Unrolled, 8, body)), 32) << "results are in arrays, which count";
  Block nested = in_loop(LoopKind::Serial, 2, body);
  nested[0] = {For{LoopKind::GridX, "j"_s, literal(0), literal(1000), nested}};
  EXPECT_EQ(registers(nested), 40) << "of the inner loop alone";
}

TEST(Registers, HoldLocalArraysButNotShared) {
  const auto with = [](Storage storage) {
    return Block{{LocalArray{"a"_s, Scalar::F32, 50, storage}},
                 {Store{"a"_s, literal(0), loaded(0)}},
                 {Store{"out"_s, literal(0), kernel::load("a"_s, Scalar::F32, literal(0))}}};
  };
  EXPECT_EQ(registers(with(Storage::Local)), 80);
  EXPECT_EQ(registers(with(Storage::Shared)), 32);
}

TEST(SharedBytes, AreThoseOfSharedArrays) {
  const auto bytes = [](Block body) { return shared_bytes(Function{"k"_s, "", {}, std::move(body)}); };
  EXPECT_EQ(bytes({{LocalArray{"a"_s, Scalar::F32, 50}}}), 0);
  EXPECT_EQ(bytes({{LocalArray{"a"_s, Scalar::U8, 3, Storage::Shared}}}), 3);
  EXPECT_EQ(bytes({{LocalArray{"a"_s, Scalar::U8, 3, Storage::Shared}},
                   {LocalArray{"b"_s, Scalar::F32, 10, Storage::Shared}}}),
            44)
      << "floats begin at whole words";
}

}  // namespace
}  // namespace weft::kernel
