// What functions read and write.
#include <gtest/gtest.h>

#include "kernel/build.h"
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
  return module;
}

TEST(Uses, AreWhatFunctionsLoadAndStore) {
  Module module = chain();
  EXPECT_EQ(uses_of(module, "b").reads, Names{"a"});
  EXPECT_EQ(uses_of(module, "b").writes, Names{"b"});
  module.functions.push_back({"both", "", {"first", "last"}, {}});
  for (const char* callee : {"a", "b"})
    module.functions.back().body.push_back({CallFunction{callee, {literal(0), literal(1)}}});
  EXPECT_EQ(uses_of(module, "both").reads, (Names{"a", "in"}));
  EXPECT_EQ(uses_of(module, "both").writes, (Names{"a", "b"}));
}

TEST(Uses, OfPointersIntoOneOfTwoArraysAreBoth) {
  Module module = chain();
  auto& pointer = std::get<Pointer>(module.functions[2].body[0].op);
  pointer.unless = constant(Scalar::Bool, {.i = 1}), pointer.instead = "in";
  EXPECT_EQ(uses_of(module, "out").reads, (Names{"b", "in"}));
}

}  // namespace
}  // namespace weft::kernel
