// Small modules whose functions copy one number from array to array.
#pragma once

#include <string>

#include "kernel/build.h"
#include "kernel/ir.h"

namespace weft::host {

inline kernel::Block copy_of(const std::string& from, const std::string& to) {
  using kernel::literal;
  kernel::Block body;
  body.push_back({kernel::Pointer{"source_" + from, from, Scalar::F32, literal(0)}});
  body.push_back({kernel::Pointer{"target_" + to, to, Scalar::F32, literal(0), false}});
  const kernel::Expr value = kernel::load("source_" + from, Scalar::F32, literal(0));
  body.push_back({kernel::Store{"target_" + to, literal(0), value}});
  return body;
}
/// A function that sets to[0] = from[0], through pointers.
inline kernel::Function copying(const std::string& name, const std::string& from, const std::string& to) {
  return {name, "", {"first", "last"}, copy_of(from, to)};
}

enum class On { Host, Device };

inline kernel::Launch launch_of(const std::string& function, On on) {
  const kernel::Expr one = kernel::literal(1);
  kernel::Launch launch{function, one};
  if (on == On::Device) launch.grid = kernel::Grid{{one, one, one}, {32, 1, 1}};
  return launch;
}

inline void declare(kernel::Module& module, const std::string& name, kernel::Array::Role role) {
  module.arrays.push_back({name, type_of<float>(), role, {}, {}});
}

/// in -> a -> b -> out, by functions "a", "b" and "out".
inline kernel::Module chain(On on = On::Host) {
  using Role = kernel::Array::Role;
  kernel::Module module;
  module.name = "chain";
  declare(module, "in", Role::Input), declare(module, "out", Role::Output);
  declare(module, "a", Role::Intermediate), declare(module, "b", Role::Intermediate);
  module.functions = {copying("a", "in", "a"), copying("b", "a", "b"), copying("out", "b", "out")};
  for (const char* function : {"a", "b", "out"}) module.steps.emplace_back(launch_of(function, on));
  return module;
}

/// A field of two states: "start" gives both of them what is in the image, "next" makes one of the other
/// `count` times, "out" copies the last.
inline kernel::Module evolution(const kernel::Expr& count, On on = On::Host) {
  kernel::Module module = chain(on);
  module.functions = {copying("start", "in", "a"), copying("next", "b", "a"), copying("out", "a", "out")};
  append(module.functions[0].body, copy_of("in", "b"));
  module.params = {{"steps", Scalar::I64}};
  module.counters = {{"t", Scalar::I32}};
  module.steps = {
      launch_of("start", on),
      kernel::Repeat{"t", {{kernel::literal(0), count, 1, {launch_of("next", on)}}}, {{"a", "b"}}},
      launch_of("out", on)};
  return module;
}

}  // namespace weft::host
