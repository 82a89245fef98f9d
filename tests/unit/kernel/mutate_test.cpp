// Faults that are put into kernels: each kind by itself, as the text of what became of the code.
#include "kernel/mutate.h"

#include <gtest/gtest.h>

#include "emit/gpu.h"
#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::mutate_test {
namespace {

const Expr i = name("i"_s), n = name("n"_s);

/// A kernel of these statements. Its comment keeps it from looking like another's.
Module module_of(Block body) {
  Module module;
  module.name = "m";
  module.sizes = {{"n"_s, Scalar::I64}};
  const Type floats{Scalar::F32, 1};
  module.arrays = {{"in"_s, floats, Array::Role::Input, {}, {n}},
                   {"out"_s, floats, Array::Role::Output, {}, {n}}};
  module.functions.push_back({"m_kernel"_s, "", {}, std::move(body)});
  module.steps.push_back(Launch{"m_kernel"_s, literal(1), Grid{{n, literal(1), literal(1)}, {32, 1, 1}}});
  return module;
}

/// The body of the kernel in CUDA.
std::string text_of(const Module& module) {
  const std::string text = emit::emit_cuda_kernels(module);
  const std::size_t head = text.find("__global__"), begin = text.find("{\n", head) + 2;
  return text.substr(begin, text.find("\n}\n", begin) + 1 - begin);
}

/// The bodies with one fault of that kind each.
std::vector<std::string> mutants(Fault fault, Block body) {
  const Module module = module_of(std::move(body));
  std::vector<std::string> texts;
  for (const Mutation& mutation : mutations_of(module)) {
    if (mutation.fault == fault) texts.push_back(text_of(mutated(module, mutation)));
  }
  return texts;
}

using Texts = std::vector<std::string>;
Stmt store(const Expr& index, const Expr& value) { return {Store{"out"_s, index, value}}; }
const Stmt one = store(literal(3), constant(Scalar::F32, {.f = 1}));

TEST(Mutate, LeavesOutABarrier) {
  EXPECT_EQ(mutants(Fault::Barrier, {{Barrier{}}, one, {Barrier{}}}),
            (Texts{"  out[3] = 1.0f;\n  __syncthreads();\n", "  __syncthreads();\n  out[3] = 1.0f;\n"}));
}

TEST(Mutate, ShrinksARing) {
  const auto value_at = [](const Expr& index) {
    return Block{store(literal(0), load("in"_s, Scalar::F32, index))};
  };
  EXPECT_EQ(mutants(Fault::Ring, value_at(binary(ir::BinaryOp::And, n, literal(15)))),
            (Texts{"  out[0] = in[n & 7];\n"}));
  EXPECT_EQ(mutants(Fault::Ring, value_at(binary(ir::BinaryOp::Rem, n, literal(3)))),
            (Texts{"  out[0] = in[n % 2];\n"}));
  // Of one row, and of bits that are no mask, nothing is left.
  EXPECT_EQ(mutants(Fault::Ring, value_at(binary(ir::BinaryOp::Rem, n, literal(1)))), Texts{});
  EXPECT_EQ(mutants(Fault::Ring, value_at(binary(ir::BinaryOp::And, n, literal(12)))), Texts{});
}

TEST(Mutate, MovesAnAccess) {
  EXPECT_EQ(mutants(Fault::Index, {store(n, load("in"_s, Scalar::F32, literal(7)))}),
            (Texts{"  out[n - 1] = in[7];\n", "  out[n + 1] = in[7];\n", "  out[n] = in[6];\n",
                   "  out[n] = in[8];\n"}));
}

TEST(Mutate, TakesFromAnotherLane) {
  EXPECT_EQ(mutants(Fault::Lane, {{Shuffle{"next"_s, load("in"_s, Scalar::F32, n), 1}}, one}),
            (Texts{"  const float next = __shfl_up_sync(~0u, in[n], 1);\n  out[3] = 1.0f;\n",
                   "  const float next = __shfl_down_sync(~0u, in[n], 2);\n  out[3] = 1.0f;\n"}));
  EXPECT_EQ(mutants(Fault::Lane, {{Shuffle{"any"_s, load("in"_s, Scalar::F32, n), 0, n}}, one}).size(), 2u);
}

TEST(Mutate, MovesTheEndsOfALoop) {
  const auto loop = [](const char* head) {
    return "  for (" + std::string(head) + "; ++k) {\n    out[3] = 1.0f;\n  }\n";
  };
  EXPECT_EQ(mutants(Fault::Bound, {{For{LoopKind::Serial, "k"_s, n, literal(9), {one}}}}),
            (Texts{loop("int64_t k = n - 1; k < 9"), loop("int64_t k = n + 1; k < 9"),
                   loop("int64_t k = n; k < 8"), loop("int64_t k = n; k < 10")}));
}

TEST(Mutate, TakesTheOtherEndOfAComparison) {
  const auto test = [](const char* condition) {
    return "  if (" + std::string(condition) + ") {\n    out[3] = 1.0f;\n  }\n";
  };
  const Expr is_inside =
      both(binary(ir::BinaryOp::Le, literal(2), n), binary(ir::BinaryOp::Lt, n, literal(9)));
  EXPECT_EQ(mutants(Fault::Guard, {{If{is_inside, {one}, {}}}}),
            (Texts{test("2 < n && n < 9"), test("2 <= n && n <= 9")}));
  // Values of pixels are no ends.
  const Expr pixel = load("in"_s, Scalar::F32, n);
  EXPECT_EQ(mutants(Fault::Guard, {{If{binary(ir::BinaryOp::Lt, pixel, pixel), {one}, {}}}}), Texts{});
}

TEST(Mutate, ChangesOneFunctionAtATimeAndNothingElse) {
  Module module = module_of({{Barrier{}}, one});
  module.functions.push_back({"other"_s, "", {}, {{Barrier{}}, one}});
  const std::vector<Mutation> all = mutations_of(module);
  ASSERT_EQ(all.size(), 6u);  // a barrier, and an index before and after, in both
  const Module with_fault = mutated(module, all[3]);
  EXPECT_EQ(with_fault.functions[0].body.size(), 2u);
  EXPECT_EQ(with_fault.functions[1].body.size(), 1u);
  EXPECT_EQ(module.functions[1].body.size(), 2u);
}

}  // namespace
}  // namespace weft::kernel::mutate_test
