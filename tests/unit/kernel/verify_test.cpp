// The verifier of kernels catches every way to break one.
#include "kernel/verify.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include "kernel/build.h"

namespace weft::kernel {
namespace {

const Expr zero = literal(0), one = literal(1);
const Expr real = constant(Scalar::F32, {.f = 1});

/// A module with an input `in`, an output `out`, a size `n` and a function of the given body, which another
/// one spares the trouble of writing the output.
Module module_of(Block body) {
  Module module;
  module.sizes = {{"n", Scalar::I64}};
  module.arrays = {{"in", {Scalar::F32, 1}, Array::Role::Input, {}, {name("n")}},
                   {"out", {Scalar::F32, 1}, Array::Role::Output, {}, {name("n")}}};
  module.functions = {{"rows", "", {"first", "last"}, std::move(body)},
                      {"fill", "", {"first", "last"}, {{Store{"out", zero, real}}}}};
  module.steps = {Launch{"fill", one}};
  return module;
}

/// What the verifier says, without the place.
std::string complaint(Block body) {
  try {
    verify(module_of(std::move(body)), "a pass");
  } catch (const InternalError& error) {
    const std::string text = error.what(), start = "after a pass: function 'rows': ";
    EXPECT_EQ(text.substr(0, start.size()), start);
    return text.substr(start.size());
  }
  return "";
}

template <class Op>
Expr node(Scalar type, Op op) {
  return std::make_shared<const Node>(Node{type, std::move(op)});
}

TEST(KernelVerifier, AcceptsASoundFunction) {
  EXPECT_EQ(complaint({{For{LoopKind::Vector,
                            "x",
                            name("first"),
                            name("last"),
                            {{Let{"v", load("in", Scalar::F32, name("x"))}},
                             {Store{"out", name("x"), name("v", Scalar::F32)}}}}}}),
            "");
}

TEST(KernelVerifier, Names) {
  EXPECT_EQ(complaint({{Let{"a", name("b")}}}), "'b' is used before it is defined");
  EXPECT_EQ(complaint({{Let{"a", zero}}, {Let{"a", one}}}), "'a' is defined twice");
  EXPECT_EQ(complaint({{Let{"n", zero}}}), "'n' is defined twice");
  EXPECT_EQ(complaint({{Let{"a", name("in")}}}), "'in' is no scalar");
  EXPECT_EQ(complaint({{Let{"a", load("n", Scalar::F32, zero)}}}), "'n' is no array");
  EXPECT_EQ(complaint({{Let{"a", name("n", Scalar::F32)}}}), "'n' is used as f32");
}

TEST(KernelVerifier, NamesEndWithTheirBlock) {
  const For loop{LoopKind::Serial, "i", zero, one, {{Let{"a", zero}}}};
  EXPECT_EQ(complaint({{loop}, {loop}}), "");
  EXPECT_EQ(complaint({{loop}, {Let{"b", name("a")}}}), "'a' is used before it is defined");
  EXPECT_EQ(complaint({{loop}, {Let{"b", name("i")}}}), "'i' is used before it is defined");
}

TEST(KernelVerifier, Assignments) {
  EXPECT_EQ(complaint({{Let{"a", zero, true}}, {Assign{"a", one}}}), "");
  EXPECT_EQ(complaint({{Let{"a", zero}}, {Assign{"a", one}}}), "assignment to 'a'");
  EXPECT_EQ(complaint({{Let{"a", zero, true}}, {Assign{"a", real}}}), "assignment to 'a'");
}

TEST(KernelVerifier, Memory) {
  EXPECT_EQ(complaint({{Store{"in", zero, real}}}), "store to 'in'");
  EXPECT_EQ(complaint({{Store{"out", zero, one}}}), "store to 'out'");
  EXPECT_EQ(complaint({{Store{"out", real, real}}}), "an index is not an i64");
  EXPECT_EQ(complaint({{Let{"a", load("in", Scalar::U8, zero)}}}), "a load from 'in'");
  EXPECT_EQ(complaint({{Pointer{"p", "in", Scalar::F32, zero, false}}}),
            "pointer 'p' may write what is constant");
  EXPECT_EQ(complaint({{Pointer{"p", "in", Scalar::U8, zero, true}}}),
            "pointer 'p' has another type than its array");
  EXPECT_EQ(complaint({{Pointer{"p", "out", Scalar::F32, zero, true}}, {Store{"p", zero, real}}}),
            "store to 'p'");
  const Expr always = binary(ir::BinaryOp::Eq, zero, zero);
  EXPECT_EQ(complaint({{Pointer{"p", "in", Scalar::F32, zero, true, always, "out"}}}), "");
  EXPECT_EQ(complaint({{Pointer{"p", "out", Scalar::F32, zero, false, always, "in"}}}),
            "pointer 'p' into one of two arrays");
  EXPECT_EQ(complaint({{Pointer{"p", "in", Scalar::F32, zero, true, one, "out"}}}),
            "pointer 'p' into one of two arrays");
  EXPECT_EQ(complaint({{LocalArray{"a", Scalar::F32, 0}}}), "local array 'a' is empty");
  EXPECT_EQ(complaint({{Order{"in", 0, 1}}}), "order of a constant array");
}

TEST(KernelVerifier, Control) {
  EXPECT_EQ(complaint({{For{LoopKind::Serial, "i", zero, one, {}, zero}}}), "a loop does not advance");
  EXPECT_EQ(complaint({{For{LoopKind::Serial, "i", zero, real, {}}}}), "the ends of a loop differ");
  EXPECT_EQ(complaint({{For{LoopKind::Serial, "i", real, real, {}}}}), "an index is not an i64");
  EXPECT_EQ(complaint({{If{one, {}, {}}}}), "an if's condition is not a bool");
  EXPECT_EQ(complaint({{CallFunction{"none", {}}}}), "call of 'none'");
  EXPECT_EQ(complaint({{CallFunction{"rows", {zero}}}}), "call of 'rows'");
}

TEST(KernelVerifier, Types) {
  EXPECT_EQ(complaint({{Let{"a", nullptr}}}), "a missing expression");
  EXPECT_EQ(complaint({{Let{"a", node(Scalar::I64, Binary{ir::BinaryOp::Add, one, real})}}}),
            "the operands of + differ");
  EXPECT_EQ(complaint({{Let{"a", node(Scalar::I64, Binary{ir::BinaryOp::Lt, one, one})}}}), "the type of <");
  EXPECT_EQ(complaint({{Let{"a", node(Scalar::F32, Unary{ir::UnaryOp::Neg, one})}}}), "the type of -");
  EXPECT_EQ(complaint({{Let{"a", node(Scalar::I64, Select{one, one, one})}}}), "a select");
  EXPECT_EQ(complaint({{Let{"a", node(Scalar::U8, Const{ir::Value::integer({Scalar::I64, 1}, 1)})}}}),
            "a constant's type");
}

}  // namespace
}  // namespace weft::kernel
