// What steps read and write follows from the functions that they launch.
#include <gtest/gtest.h>
#include <weft/error.h>

#include "host/host.h"
#include "kernel/build.h"
#include "kernel/verify.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

using Names = std::set<std::string>;

/// A function that sets to[0] = from[0], through pointers.
Function copying(const std::string& name, const std::string& from, const std::string& to) {
  Function function{name, "", {"first", "last"}, {}};
  function.body.push_back({Pointer{"source", from, Scalar::F32, literal(0)}});
  function.body.push_back({Pointer{"target", to, Scalar::F32, literal(0), false}});
  function.body.push_back({Store{"target", literal(0), load("source", Scalar::F32, literal(0))}});
  return function;
}

/// in -> a -> b -> out, by functions "a", "b" and "out".
Module chain() {
  Module module;
  module.name = "chain";
  const auto array = [&](const std::string& name, Array::Role role) {
    module.arrays.push_back({name, type_of<float>(), role, {}, {}});
  };
  array("in", Array::Role::Input), array("out", Array::Role::Output);
  array("a", Array::Role::Intermediate), array("b", Array::Role::Intermediate);
  module.functions = {copying("a", "in", "a"), copying("b", "a", "b"), copying("out", "b", "out")};
  for (const char* function : {"a", "b", "out"}) module.steps.push_back(Launch{function, literal(1)});
  return module;
}

std::string refusal(const Module& module) {
  try {
    verify(module, "a pass");
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(KernelSteps, UseWhatTheirFunctionsLoadAndStore) {
  Module module = chain();
  EXPECT_EQ(uses_of(module, "b").reads, Names{"a"});
  EXPECT_EQ(uses_of(module, "b").writes, Names{"b"});
  module.functions.push_back({"both", "", {"first", "last"}, {}});
  for (const char* callee : {"a", "b"})
    module.functions.back().body.push_back({CallFunction{callee, {literal(0), literal(1)}}});
  EXPECT_EQ(uses_of(module, "both").reads, (Names{"a", "in"}));
  EXPECT_EQ(uses_of(module, "both").writes, (Names{"a", "b"}));
}

TEST(KernelSteps, PointersIntoOneOfTwoArraysUseBoth) {
  Module module = chain();
  auto& pointer = std::get<Pointer>(module.functions[2].body[0].op);
  pointer.unless = constant(Scalar::Bool, {.i = 1}), pointer.instead = "in";
  EXPECT_EQ(uses_of(module, "out").reads, (Names{"b", "in"}));
}

TEST(KernelSteps, KeepMemoryFromTheFirstUseToTheLast) {
  const std::vector<host::Lifetimes> lifetimes = host::lifetimes_of(chain());
  const std::vector<std::size_t> a = {2}, b = {3};  // in module.arrays
  EXPECT_EQ(lifetimes[0].begin, a);
  EXPECT_EQ(lifetimes[1].begin, b);
  EXPECT_EQ(lifetimes[1].end, a);
  EXPECT_EQ(lifetimes[2].end, b);
}

TEST(KernelSteps, AreRefusedInAnOrderThatReadsWhatIsNotThereYet) {
  Module module = chain();
  EXPECT_EQ(refusal(module), "");
  std::swap(module.steps[0], module.steps[1]);
  EXPECT_EQ(refusal(module), "after a pass: 'b' reads 'a' before any step writes it");
  module = chain();
  module.steps.pop_back();
  EXPECT_EQ(refusal(module), "after a pass: no step writes the output 'out'");
}

/// Two states of a field: each time one becomes the other. Both have to be there before the second time.
TEST(KernelSteps, OfRepeatsReadWhatRotationsBring) {
  Module module = chain();
  module.functions = {copying("start", "in", "a"), copying("next", "b", "a"), copying("out", "a", "out")};
  module.steps = {Launch{"start", literal(1)},
                  Repeat{literal(3), "t", {Launch{"next", literal(1)}}, {{"a", "b"}}},
                  Launch{"out", literal(1)}};
  EXPECT_EQ(refusal(module), "");
  std::get<Repeat>(module.steps[1]).rotations.clear();
  EXPECT_EQ(refusal(module), "after a pass: 'next' reads 'b' before any step writes it");
}

}  // namespace
}  // namespace weft::kernel
