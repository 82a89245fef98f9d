// The verifier of kernels catches every way to break one.
#include "kernel/verify.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::verify_test {
namespace {

const Expr zero = literal(0), one = literal(1);
const Expr real = constant(Scalar::F32, {.f = 1});

/// A module with an input `in`, an output `out`, a size `n` and a function of the given body, which another
/// one spares the trouble of writing the output.
Module module_of(Block body) {
  Module module;
  module.sizes = {{"n"_s, Scalar::I64}};
  module.arrays = {{"in"_s, {Scalar::F32, 1}, Array::Role::Input, {}, {name("n"_s)}},
                   {"out"_s, {Scalar::F32, 1}, Array::Role::Output, {}, {name("n"_s)}}};
  module.functions = {{"rows"_s, "", {"first"_s, "last"_s}, std::move(body)},
                      {"fill"_s, "", {"first"_s, "last"_s}, {{Store{"out"_s, zero, real}}}}};
  module.networks = {{"network"_s, {{0, 1}}}};
  module.steps = {Launch{"fill"_s, one}};
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
                            "x"_s,
                            name("first"_s),
                            name("last"_s),
                            {{Let{"v"_s, load("in"_s, Scalar::F32, name("x"_s))}},
                             {Store{"out"_s, name("x"_s), name("v"_s, Scalar::F32)}}}}}}),
            "");
}

TEST(KernelVerifier, Names) {
  EXPECT_EQ(complaint({{Let{"a"_s, name("b"_s)}}}), "'b' is used before it is defined");
  EXPECT_EQ(complaint({{Let{"a"_s, zero}}, {Let{"a"_s, one}}}), "'a' is defined twice");
  EXPECT_EQ(complaint({{Let{"n"_s, zero}}}), "'n' is defined twice");
  EXPECT_EQ(complaint({{Let{"a"_s, name("in"_s)}}}), "'in' is no scalar");
  EXPECT_EQ(complaint({{Let{"a"_s, load("n"_s, Scalar::F32, zero)}}}), "'n' is no array");
  EXPECT_EQ(complaint({{Let{"a"_s, name("n"_s, Scalar::F32)}}}), "'n' is used as f32");
}

TEST(KernelVerifier, SymbolsNotSpellings) {
  const Symbol a = Names().claim("a"), other = Names().claim("a");
  EXPECT_EQ(complaint({{Let{a, zero}}, {Let{"b"_s, name(a)}}}), "");
  const std::string another = "'a' is another symbol than the one defined";
  EXPECT_EQ(complaint({{Let{a, zero}}, {Let{"b"_s, name(other)}}}), another);
  EXPECT_EQ(complaint({{LocalArray{a, Scalar::F32, 1}}, {Let{"b"_s, load(other, Scalar::F32, zero)}}}),
            another);
  EXPECT_EQ(complaint({{Let{a, zero}}, {Let{other, one}}}), "'a' is defined twice") << "emitted code has one";
  EXPECT_EQ(complaint({{Scope{{{Let{a, zero}}}}}, {Scope{{{Let{other, one}}}}}}), "");
  EXPECT_EQ(complaint({{Let{Symbol(), zero}}}), "a declaration without a symbol");
}

TEST(KernelVerifier, NamesEndWithTheirBlock) {
  const For loop{LoopKind::Serial, "i"_s, zero, one, {{Let{"a"_s, zero}}}};
  EXPECT_EQ(complaint({{loop}, {loop}}), "");
  EXPECT_EQ(complaint({{loop}, {Let{"b"_s, name("a"_s)}}}), "'a' is used before it is defined");
  EXPECT_EQ(complaint({{loop}, {Let{"b"_s, name("i"_s)}}}), "'i' is used before it is defined");
}

TEST(KernelVerifier, Assignments) {
  EXPECT_EQ(complaint({{Let{"a"_s, zero, true}}, {Assign{"a"_s, one}}}), "");
  EXPECT_EQ(complaint({{Let{"a"_s, zero}}, {Assign{"a"_s, one}}}), "assignment to 'a'");
  EXPECT_EQ(complaint({{Let{"a"_s, zero, true}}, {Assign{"a"_s, real}}}), "assignment to 'a'");
}

TEST(KernelVerifier, Memory) {
  EXPECT_EQ(complaint({{Store{"in"_s, zero, real}}}), "store to 'in'");
  EXPECT_EQ(complaint({{Store{"out"_s, zero, one}}}), "store to 'out'");
  EXPECT_EQ(complaint({{Store{"out"_s, real, real}}}), "an index is not an i64");
  EXPECT_EQ(complaint({{Let{"a"_s, load("in"_s, Scalar::U8, zero)}}}), "a load from 'in'");
  EXPECT_EQ(complaint({{Pointer{"p"_s, "in"_s, Scalar::F32, zero, false}}}),
            "pointer 'p' may write what is constant");
  EXPECT_EQ(complaint({{Pointer{"p"_s, "in"_s, Scalar::U8, zero, true}}}),
            "pointer 'p' has another type than its array");
  EXPECT_EQ(complaint({{Pointer{"p"_s, "out"_s, Scalar::F32, zero, true}}, {Store{"p"_s, zero, real}}}),
            "store to 'p'");
  const Expr always = binary(ir::BinaryOp::Eq, zero, zero);
  EXPECT_EQ(complaint({{Pointer{"p"_s, "in"_s, Scalar::F32, zero, true, always, "out"_s}}}), "");
  EXPECT_EQ(complaint({{Pointer{"p"_s, "out"_s, Scalar::F32, zero, false, always, "in"_s}}}),
            "pointer 'p' into one of two arrays");
  EXPECT_EQ(complaint({{Pointer{"p"_s, "in"_s, Scalar::F32, zero, true, one, "out"_s}}}),
            "pointer 'p' into one of two arrays");
  EXPECT_EQ(complaint({{LocalArray{"a"_s, Scalar::F32, 0}}}), "local array 'a' is empty");
  EXPECT_EQ(complaint({{Order{"in"_s, "network"_s}}}), "order of a constant array");
  EXPECT_EQ(complaint({{LocalArray{"a"_s, Scalar::F32, 2}}, {Order{"a"_s, "network"_s}}}), "");
  EXPECT_EQ(complaint({{LocalArray{"a"_s, Scalar::F32, 2}}, {Order{"a"_s, "other"_s}}}),
            "order by 'other', which is no network");
}

TEST(KernelVerifier, Control) {
  EXPECT_EQ(complaint({{For{LoopKind::Serial, "i"_s, zero, one, {}, zero}}}), "a loop does not advance");
  EXPECT_EQ(complaint({{For{LoopKind::Serial, "i"_s, zero, real, {}}}}), "the ends of a loop differ");
  EXPECT_EQ(complaint({{For{LoopKind::Serial, "i"_s, real, real, {}}}}), "an index is not an i64");
  EXPECT_EQ(complaint({{If{one, {}, {}}}}), "an if's condition is not a bool");
  EXPECT_EQ(complaint({{CallFunction{"none"_s, {}}}}), "call of 'none'");
  EXPECT_EQ(complaint({{CallFunction{"rows"_s, {zero}}}}), "call of 'rows'");
}

TEST(KernelVerifier, Types) {
  EXPECT_EQ(complaint({{Let{"a"_s, nullptr}}}), "a missing expression");
  EXPECT_EQ(complaint({{Let{"a"_s, node(Scalar::I64, Binary{ir::BinaryOp::Add, one, real})}}}),
            "the operands of + differ");
  EXPECT_EQ(complaint({{Let{"a"_s, node(Scalar::I64, Binary{ir::BinaryOp::Lt, one, one})}}}),
            "the type of <");
  EXPECT_EQ(complaint({{Let{"a"_s, node(Scalar::F32, Unary{ir::UnaryOp::Neg, one})}}}), "the type of -");
  EXPECT_EQ(complaint({{Let{"a"_s, node(Scalar::I64, Select{one, one, one})}}}), "a select");
  EXPECT_EQ(complaint({{Let{"a"_s, node(Scalar::U8, Const{ir::Value::integer({Scalar::I64, 1}, 1)})}}}),
            "a constant's type");
}

}  // namespace
}  // namespace weft::kernel::verify_test
