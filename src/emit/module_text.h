// What emitters of all languages say and ask about a module.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "emit/c_like.h"
#include "host/plan.h"
#include "kernel/ir.h"

namespace weft::emit {

/// The pipeline's name as a part of identifiers.
std::string identifier(const kernel::Module& module);
std::string function_name(const kernel::Module& module);
/// The pipeline's name as that of files, without an extension: it stays in its folder, and is one word for
/// shells, CMake and #include. Letters of other languages are kept.
std::string file_name(const kernel::Module& module);
/// The pipeline's name on one line.
std::string title(const kernel::Module& module);
/// Where users find the function, unless they ask for another place: a namespace of the pipeline's name.
std::string default_namespace(const kernel::Module& module);
/// The text inside of a namespace, "a" or "a::b"; as it is for "".
std::string inside(const std::string& name_space, const std::string& text);
/// What the pipeline is and how it runs.
std::string head_comment(const kernel::Module& module);
/// The type of stored halves, where the text needs it and the header, if there is one, does not.
std::string half_type(const std::string& text, const std::string& header = "");
std::string pointer_type(const kernel::Array& a);
/// Calls one of the two for each parameter of the pipeline's function: inputs, each with its strides, sizes,
/// parameters, outputs.
void each_parameter(const kernel::Module& module, const std::function<void(const kernel::Array&)>& array,
                    const std::function<void(const kernel::Field&)>& field);
/// The same as declarations, one string each.
std::vector<std::string> parameters(const kernel::Module& module);
/// The condition under which images are too small for the pipeline; empty: none are.
std::string too_small(const kernel::Module& module);
/// What the parameters mean, for the header.
std::string documentation(const kernel::Module& module);

/// The module's tables; `qualifier` is what its language puts before a constant.
void print_tables(Writer& out, const kernel::Module& module, const std::string& qualifier);
/// The module's networks, functions of the exchanges that are called by name; `qualifiers` make compilers inline them, as
/// only then values stay in registers, and what networks have in common is done once.
void print_networks(Writer& out, const kernel::Module& module, const std::string& qualifiers);

// ---- host plans ----

/// The loops of a repeat, which rotate its arrays; `print` prints what is in them, and variables have the
/// prefix.
void print_repeat(Writer& out, CLike& printer, const kernel::Module& module, const host::Repeat& repeat,
                  const std::string& prefix,
                  const std::function<void(const std::vector<host::Node>&)>& print);
/// Whether an empty line sets the node off from those before: it launches or repeats, or is the first to
/// allocate what these need.
bool begins_step(const std::vector<host::Node>& nodes, const host::Node& node);

/// A C function `name` of fixed signature,
///     int name(void* const* arrays, const int64_t* integers, const void* const* params, LAST)
/// that calls the pipeline's function, with `argument` last.
std::string entry_function(const kernel::Module& module, const std::string& name, const std::string& function,
                           const std::string& last = "", const std::string& argument = "");
/// Of the entry of a module that shares its text with others.
std::string entry_name(std::size_t module);

}  // namespace weft::emit
