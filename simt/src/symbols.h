// What a compiled text says about itself: its functions and variables by address, and the source line of an
// instruction. Most names of a text have no linkage, so the dynamic loader does not know them.
#pragma once

#include "simt/report.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace simt {

/// Stands in line tables for the folder that names of texts are relative to.
inline constexpr const char* relative_root = "/simt-relative";

struct Symbol {
  std::uintptr_t address = 0;  ///< Relative to where the object is loaded.
  std::size_t size = 0;
  std::string name;     ///< Without namespaces without a name, parameters and result: "blur", "tile".
  std::string owner;    ///< Of a function's variable: the function.
  std::string linkage;  ///< As the loader knows it.
  bool exported = false;
};

class Symbols {
 public:
  explicit Symbols(const std::filesystem::path& object);

  const Symbol* function_at(std::uintptr_t address) const { return at(functions_, address); }
  const Symbol* variable_at(std::uintptr_t address) const { return at(variables_, address); }
  const std::map<std::uintptr_t, Symbol>& functions() const { return functions_; }
  const std::map<std::uintptr_t, Symbol>& variables() const { return variables_; }

  /// Lines of instructions; where a header was inlined, the line of the text that it was inlined into.
  std::map<std::uintptr_t, Place> places(const std::vector<std::uintptr_t>& addresses) const;

 private:
  static const Symbol* at(const std::map<std::uintptr_t, Symbol>& symbols, std::uintptr_t address);

  std::filesystem::path object_;
  std::map<std::uintptr_t, Symbol> functions_, variables_;
};

}  // namespace simt
