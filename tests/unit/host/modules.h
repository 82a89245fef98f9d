// Small modules whose functions copy one number from array to array.
#pragma once

#include "kernel/build.h"
#include "kernel/ir.h"
#include "tests/support/symbols.h"

namespace weft::host {

using kernel::operator""_s;
using kernel::Symbol;

inline kernel::Block copy_of(const Symbol& from, const Symbol& to) {
  using kernel::literal;
  const Symbol source = kernel::symbol("source_" + from.spelling()),
               target = kernel::symbol("target_" + to.spelling());
  kernel::Block body;
  body.push_back({kernel::Pointer{source, from, Scalar::F32, literal(0)}});
  body.push_back({kernel::Pointer{target, to, Scalar::F32, literal(0), false}});
  const kernel::Expr value = kernel::load(source, Scalar::F32, literal(0));
  body.push_back({kernel::Store{target, literal(0), value}});
  return body;
}
/// A function that sets to[0] = from[0], through pointers.
inline kernel::Function copying(const Symbol& name, const Symbol& from, const Symbol& to) {
  return {name, "", {"first"_s, "last"_s}, copy_of(from, to)};
}

enum class On { Host, Device };

inline kernel::Launch launch_of(const Symbol& function, On on) {
  const kernel::Expr one = kernel::literal(1);
  kernel::Launch launch{function, one};
  if (on == On::Device) launch.grid = kernel::Grid{{one, one, one}, {32, 1, 1}};
  return launch;
}

inline void declare(kernel::Module& module, const Symbol& name, kernel::Array::Role role) {
  module.arrays.push_back({name, type_of<float>(), role, {}, {}});
}

/// in -> a -> b -> out, by functions "a", "b" and "out".
inline kernel::Module chain(On on = On::Host) {
  using Role = kernel::Array::Role;
  kernel::Module module;
  module.name = "chain";
  declare(module, "in"_s, Role::Input), declare(module, "out"_s, Role::Output);
  declare(module, "a"_s, Role::Intermediate), declare(module, "b"_s, Role::Intermediate);
  module.functions = {copying("a"_s, "in"_s, "a"_s), copying("b"_s, "a"_s, "b"_s),
                      copying("out"_s, "b"_s, "out"_s)};
  for (const Symbol& function : {"a"_s, "b"_s, "out"_s}) module.steps.emplace_back(launch_of(function, on));
  return module;
}

/// A field of two states: "start" gives both of them what is in the image, "next" makes one of the other
/// `count` times, "out" copies the last.
inline kernel::Module evolution(const kernel::Expr& count, On on = On::Host) {
  kernel::Module module = chain(on);
  module.functions = {copying("start"_s, "in"_s, "a"_s), copying("next"_s, "b"_s, "a"_s),
                      copying("out"_s, "a"_s, "out"_s)};
  append(module.functions[0].body, copy_of("in"_s, "b"_s));
  module.params = {{"steps"_s, Scalar::I64}};
  module.counters = {{"t"_s, Scalar::I32}};
  module.steps = {
      launch_of("start"_s, on),
      kernel::Repeat{"t"_s, {{kernel::literal(0), count, 1, {launch_of("next"_s, on)}}}, {{"a"_s, "b"_s}}},
      launch_of("out"_s, on)};
  return module;
}

}  // namespace weft::host
