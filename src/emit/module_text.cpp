#include "emit/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "ir/identifiers.h"
#include "kernel/build.h"
#include "kernel/names.h"
#include "kernel/symbol_format.h"
#include "kernel/visit.h"

namespace weft::emit {

using host::array_named;
using kernel::Array;
using kernel::before_stand_in;
using kernel::Expr;
using kernel::Module;

namespace {

/// Pointers and pitches move together.
void rotate(Writer& out, CLike& printer, const Module& module, const kernel::Rotation& arrays,
            const std::string& prefix) {
  const std::string swap = printer.helper("exchange");
  for (std::size_t i = arrays.size() - 1; i > 0; --i) {
    const Array &to = array_named(module, arrays[i]), &from = array_named(module, arrays[i - 1]);
    out.line(fmt::format("{0}({1}{2}, {1}{3});", swap, prefix, to.name, from.name));
    for (std::size_t d = 0; d < to.strides.size(); ++d)
      out.line(fmt::format("{0}({1}{2}, {1}{3});", swap, prefix, to.strides[d], from.strides[d]));
  }
}

/// Those of arrays that a part reads.
std::vector<kernel::StandIn> read_in(const host::Turns& part, std::vector<kernel::StandIn> all) {
  std::erase_if(all, [&](const kernel::StandIn& one) {
    return std::none_of(part.nodes.begin(), part.nodes.end(), [&](const host::Node& node) {
      return std::any_of(node.uses.reads.begin(), node.uses.reads.end(),
                         [&](const host::Place& place) { return place.array == one.array; });
    });
  });
  return all;
}

/// Pointers and pitches of arrays become those of what stands in for them.
void stand_in(Writer& out, const Module& module, const std::vector<kernel::StandIn>& arrays,
              const std::string& is_first, const std::string& prefix) {
  for (const kernel::StandIn& one : arrays) {
    out.line(fmt::format("auto* const {2}{1} = {0}{1};", prefix, one.array, before_stand_in));
    for (const kernel::Symbol& stride : array_named(module, one.array).strides)
      out.line(fmt::format("const int64_t {2}{1} = {0}{1};", prefix, stride, before_stand_in));
  }
  out.open(is_first);
  out.comment("The first step reads what the fields begin with where it lies.");
  for (const kernel::StandIn& one : arrays) {
    const Array &array = array_named(module, one.array), &other = array_named(module, one.other);
    out.line(fmt::format("{0}{1} = const_cast<{2}*>({0}{3});", prefix, one.array, c_type(array.type.scalar),
                         one.other));
    for (std::size_t d = 0; d < array.strides.size(); ++d)
      out.line(fmt::format("{0}{1} = {0}{2};", prefix, array.strides[d], other.strides[d]));
  }
  out.close();
}
void put_back(Writer& out, const Module& module, const std::vector<kernel::StandIn>& arrays,
              const std::string& prefix) {
  for (const kernel::StandIn& one : arrays) {
    out.line(fmt::format("{0}{1} = {2}{1};", prefix, one.array, before_stand_in));
    for (const kernel::Symbol& stride : array_named(module, one.array).strides)
      out.line(fmt::format("{0}{1} = {2}{1};", prefix, stride, before_stand_in));
  }
}

/// Words among the functions of C and Unix. Where a header declares them, no namespace can have their name.
bool is_of_the_c_library(const std::string& name) {
  static const std::set<std::string> functions = {
      "abort",  "abs",    "access", "alarm",  "cbrt",      "clock",  "close",       "copysign", "creat",
      "crypt",  "daemon", "div",    "dup",    "erf",       "erfc",   "exit",        "exp10",    "exp2",
      "expm1",  "fdim",   "finite", "fma",    "fmax",      "fmin",   "fork",        "free",     "frexp",
      "gamma",  "hypot",  "index",  "isinf",  "isnan",     "j0",     "j1",          "jn",       "kill",
      "labs",   "ldexp",  "ldiv",   "lgamma", "link",      "log10",  "log1p",       "log2",     "logb",
      "lrint",  "lround", "modf",   "nan",    "nearbyint", "nice",   "open",        "pause",    "pipe",
      "raise",  "rand",   "random", "read",   "remainder", "remove", "remquo",      "rename",   "rewind",
      "rindex", "scalb",  "scalbn", "select", "signal",    "sleep",  "significand", "stat",     "swab",
      "sync",   "system", "tgamma", "time",   "truncate",  "unlink", "wait",        "write",    "y0",
      "y1",     "yn"};
  return functions.count(name) > 0;
}

}  // namespace

std::string identifier(const Module& module) {
  std::string name;
  for (char c : module.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

// Lowering claims this text, too, that with _on_host and IDENTIFIER_frame (lower/layout.cpp), so that no symbol has it.
std::string function_name(const Module& module) {
  // The function shares its scope with the kernels, which are called STAGE_rows and STAGE_pixel.
  return "run_" + identifier(module);
}

std::string file_name(const Module& module) {
  std::string name;
  for (const char c : module.name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-.", c) || (c & 0x80);
    name += c != '\0' && kept ? c : '_';
  }
  // Neither hidden, nor another folder, nor an option of a compiler.
  if (name.empty() || name[0] == '.' || name[0] == '-') name.insert(0, "_");
  return name;
}

std::string title(const Module& module) {
  std::string text = module.name;
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

std::string default_namespace(const Module& module) {
  const std::string name = ir::safe_identifier(module.name);
  if (name[0] == '_') return "pipeline" + name;
  return is_of_the_c_library(name) ? name + "_" : name;
}

std::string inside(const std::string& name_space, const std::string& text) {
  if (name_space.empty()) return text;
  return "namespace " + name_space + " {\n\n" + text + "\n}  // namespace " + name_space + "\n";
}

std::string head_comment(const Module& module) {
  Writer out;
  out.comment("Pipeline '" + title(module) + "', emitted by Weft. How it runs:");
  std::string schedule = module.comment;
  while (!schedule.empty() && schedule.back() == '\n') schedule.pop_back();
  out.comment("  " + replaced(schedule, "\n", "\n  "));
  return out.text();
}

std::string half_type(const std::string& text, const std::string& header) {
  const bool missing = mentions(text, "half_t") && !mentions(header, "half_t");
  return missing ? "typedef uint16_t half_t;  // IEEE binary16, stored\n\n" : "";
}

std::string pointer_type(const Array& a) {
  return (a.role == Array::Role::Input ? "const " : "") + c_type(a.type.scalar) + "*";
}

void each_parameter(const Module& module, const std::function<void(const Array&)>& array,
                    const std::function<void(const kernel::Field&)>& field) {
  const auto arrays = [&](Array::Role role) {
    for (const Array& a : module.arrays) {
      if (a.role == role) array(a);
    }
  };
  arrays(Array::Role::Input);
  for (const auto* fields : {&module.sizes, &module.params}) {
    for (const kernel::Field& f : *fields) field(f);
  }
  arrays(Array::Role::Output);
}

std::vector<std::string> parameters(const Module& module) {
  std::vector<std::string> result;
  const auto add_array = [&](const Array& a) {
    result.push_back(pointer_type(a) + " " + a.name.spelling());
    for (const kernel::Symbol& stride : a.strides) result.push_back("int64_t " + stride.spelling());
  };
  each_parameter(module, add_array,
                 [&](const kernel::Field& f) { result.push_back(c_type(f.type) + " " + f.name.spelling()); });
  return result;
}

std::string too_small(const Module& module) {
  Writer out;
  CLike printer(out, module.strict);
  std::vector<std::string> tests;
  for (const kernel::Needed& n : module.needed) {
    const Expr test = kernel::binary(ir::BinaryOp::Lt, n.extent, kernel::literal(n.least));
    tests.push_back(printer.text(test));
  }
  return fmt::format("{}", fmt::join(tests, " || "));
}

std::string documentation(const Module& module) {
  Writer out;
  for (const Array& a : module.arrays) {
    if (a.role == Array::Role::Intermediate) continue;
    CLike printer(out, module.strict);
    std::string extents;
    for (const Expr& e : a.extents) extents += (extents.empty() ? "" : " x ") + printer.text(e);
    out.comment(fmt::format(
        "{} {}: {} pixels{}{}", a.role == Array::Role::Input ? "input " : "output", a.name,
        extents.empty() ? "one" : extents,
        a.type.lanes > 1 ? fmt::format(" of {} interleaved {}s", a.type.lanes, c_type(a.type.scalar)) : "",
        a.strides.empty()
            ? ""
            : fmt::format("; {} counts {}s from row to row", a.strides[0], c_type(a.type.scalar))));
  }
  if (!module.needed.empty()) out.comment(fmt::format("Images are too small if {}.", too_small(module)));
  return out.text();
}

void print_tables(Writer& out, const kernel::Module& module, const std::string& qualifier) {
  for (const kernel::Table& table : module.tables) {
    std::string values;
    for (const ir::Value& v : table.values)
      values += (values.empty() ? "" : ", ") + c_literal(table.type, v.lane[0]);
    out.line(fmt::format("{} {} {}[{}] = {{{}}};", qualifier, c_type(table.type), table.name,
                         table.values.size(), values));
    out.blank();
  }
}

void print_networks(Writer& out, const kernel::Module& module, const std::string& qualifiers) {
  constexpr std::size_t of_line = 4;
  for (const kernel::Network& network : module.networks) {
    out.comment("A network of exchanges that bring the median to one place, which the caller knows.");
    out.line("template <class T>");
    out.open(fmt::format("{} void {}(T* v)", qualifiers, network.name));
    std::string line;
    for (std::size_t e = 0; e < network.exchanges.size(); ++e) {
      const auto& [i, j] = network.exchanges[e];
      line += fmt::format("{}order_pair(v[{}], v[{}]);", line.empty() ? "" : " ", i, j);
      if ((e + 1) % of_line != 0 && e + 1 < network.exchanges.size()) continue;
      out.line(line);
      line.clear();
    }
    out.close();
    out.blank();
  }
}

namespace {

Scalar type_of_counter(const Module& module, const kernel::Symbol& name) {
  const auto found = std::find_if(module.counters.begin(), module.counters.end(),
                                  [&](const kernel::Field& field) { return field.name == name; });
  return found->type;
}

}  // namespace

void print_repeat(Writer& out, CLike& printer, const Module& module, const host::Repeat& repeat,
                  const std::string& prefix,
                  const std::function<void(const std::vector<host::Node>&)>& print) {
  for (const kernel::Rotation& arrays : repeat.rotations) {
    // With these turns in front, the last one ends with every array in its place.
    out.open(fmt::format("for (int64_t turn = {}; turn > 0; --turn)",
                         printer.text(host::turns_ahead(repeat, arrays))));
    rotate(out, printer, module, arrays, prefix);
    out.close();
  }
  for (const host::Turns& part : repeat.parts) {
    const std::string counter = prefix + repeat.counter.spelling();
    const Scalar type = type_of_counter(module, repeat.counter);
    const Expr from = kernel::cast(ir::CastMode::Convert, type, part.from);
    const Expr step = kernel::cast(ir::CastMode::Convert, Scalar::I64, kernel::name(repeat.counter, type));
    const std::string next = part.by == 1 ? "++" + counter : fmt::format("{} += {}", counter, part.by);
    const Expr goes_on = kernel::binary(ir::BinaryOp::Lt, step, part.to);
    out.open(fmt::format("for ({} = {}; {}; {})", counter, printer.text(from),
                         printer.text(goes_on, prefix, {repeat.counter}), next));
    for (int place = 0; place < part.places; ++place) {
      for (const kernel::Rotation& arrays : repeat.rotations) rotate(out, printer, module, arrays, prefix);
    }
    const std::vector<kernel::StandIn> first = read_in(part, repeat.first);
    const std::string is_first = fmt::format("if ({} == 0)", counter);
    if (!first.empty()) stand_in(out, module, first, is_first, prefix);
    print(part.nodes);
    if (!first.empty()) put_back(out, module, first, prefix);
    out.close();
  }
}

bool begins_step(const std::vector<host::Node>& nodes, const host::Node& node) {
  const auto allocates = [](const host::Node& n) {
    return std::holds_alternative<host::Allocate>(n.what) && n.when == host::When::Always;
  };
  const bool follows = &node != nodes.data() && allocates(*(&node - 1));
  return !follows && (allocates(node) || !host::array_of(node));
}

std::string entry_function(const Module& module, const std::string& name, const std::string& function,
                           const std::string& last, const std::string& argument) {
  Writer entry;
  entry.blank();
  entry.open(fmt::format(
      "extern \"C\" int {}(void* const* arrays, const int64_t* integers, const void* const* params{})", name,
      last.empty() ? "" : ", " + last));
  std::vector<std::string> arguments;
  std::size_t array = 0, stride = module.sizes.size(), field = 0;
  const auto add_array = [&](const Array& a) {
    arguments.push_back(fmt::format("static_cast<{}*>(arrays[{}])", c_type(a.type.scalar), array++));
    for (std::size_t s = 0; s < a.strides.size(); ++s)
      arguments.push_back(fmt::format("integers[{}]", stride++));
  };
  const auto add_field = [&](const kernel::Field& f) {
    const std::size_t sizes = module.sizes.size(), index = field++;
    arguments.push_back(
        index < sizes ? fmt::format("integers[{}]", index)
                      : fmt::format("*static_cast<const {}*>(params[{}])", c_type(f.type), index - sizes));
  };
  each_parameter(module, add_array, add_field);
  if (!argument.empty()) arguments.push_back(argument);
  entry.line(fmt::format("return {}({});", function, fmt::join(arguments, ", ")));
  entry.close();
  return entry.text();
}

std::string entry_name(std::size_t module) { return fmt::format("weft_entry_{}", module); }

}  // namespace weft::emit
