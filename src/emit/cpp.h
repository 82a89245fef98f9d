// Emits C++ for CPUs: one file per pipeline, readable, and usable without Weft.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/module_text.h"
#include "kernel/ir.h"

namespace weft::emit {

/// The text that Weft itself compiles and loads: the pipeline's functions and an entry of fixed signature,
///     extern "C" int weft_entry(void* const* arrays, const std::int64_t* integers, const void* const*
///     params,
///                               const weft_host* host)
/// with inputs then outputs in `arrays`, the module's sizes then strides in `integers`.
std::string emit_for_loading(const kernel::Module& module);
/// One text for several modules: each has a namespace to itself, and module m the entry `entry_name(m)`.
std::string emit_for_loading_together(const std::vector<const kernel::Module*>& modules);

/// Files by name for a user's own project: NAME.h declares one function taking buffers, sizes and parameters,
/// NAME.cpp defines it, CMakeLists.txt makes a library of it. The function is in `name_space`, or in none if
/// that is empty; unless it is said, in a namespace of the pipeline's name.
std::map<std::string, std::string> emit_for_users(const kernel::Module& module,
                                                  const std::optional<std::string>& name_space = {});
/// What GCC and clang may do with floats, and what they may not.
std::vector<std::string> float_flags(const kernel::Module& module);
/// What GCC and clang need for the same meaning and speed as in Weft.
std::string cpp_flags(const kernel::Module& module);

}  // namespace weft::emit
