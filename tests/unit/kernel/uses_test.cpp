// What functions read and write.
#include <gtest/gtest.h>

#include "kernel/build.h"
#include "kernel/visit.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

using Symbols = std::set<Symbol>;

/// A function that sets to[0] = from[0], through pointers.
Function copying(const Symbol& name, const Symbol& from, const Symbol& to) {
  Function function{name, "", {"first"_s, "last"_s}, {}};
  function.body.push_back({Pointer{"source"_s, from, Scalar::F32, literal(0)}});
  function.body.push_back({Pointer{"target"_s, to, Scalar::F32, literal(0), false}});
  function.body.push_back({Store{"target"_s, literal(0), load("source"_s, Scalar::F32, literal(0))}});
  return function;
}

/// in -> a -> b -> out, by functions "a", "b" and "out".
Module chain() {
  Module module;
  module.name = "chain";
  const auto array = [&](const Symbol& name, Array::Role role) {
    module.arrays.push_back({name, type_of<float>(), role, {}, {}});
  };
  array("in"_s, Array::Role::Input), array("out"_s, Array::Role::Output);
  array("a"_s, Array::Role::Intermediate), array("b"_s, Array::Role::Intermediate);
  module.functions = {copying("a"_s, "in"_s, "a"_s), copying("b"_s, "a"_s, "b"_s),
                      copying("out"_s, "b"_s, "out"_s)};
  return module;
}

TEST(Uses, AreWhatFunctionsLoadAndStore) {
  Module module = chain();
  EXPECT_EQ(uses_of(module, "b"_s).reads, Symbols{"a"_s});
  EXPECT_EQ(uses_of(module, "b"_s).writes, Symbols{"b"_s});
  module.functions.push_back({"both"_s, "", {"first"_s, "last"_s}, {}});
  for (const Symbol& callee : {"a"_s, "b"_s})
    module.functions.back().body.push_back({CallFunction{callee, {literal(0), literal(1)}}});
  EXPECT_EQ(uses_of(module, "both"_s).reads, (Symbols{"a"_s, "in"_s}));
  EXPECT_EQ(uses_of(module, "both"_s).writes, (Symbols{"a"_s, "b"_s}));
}

TEST(Uses, OfPointersIntoOneOfTwoArraysAreBoth) {
  Module module = chain();
  auto& pointer = std::get<Pointer>(module.functions[2].body[0].op);
  pointer.unless = constant(Scalar::Bool, {.i = 1}), pointer.instead = "in"_s;
  EXPECT_EQ(uses_of(module, "out"_s).reads, (Symbols{"b"_s, "in"_s}));
}

}  // namespace
}  // namespace weft::kernel
