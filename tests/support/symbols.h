// Symbols of tests, which write kernels by hand: there is one for each spelling.
#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>

#include "kernel/names.h"

namespace weft::kernel {

inline Symbol symbol(const std::string& spelling) {
  static std::map<std::string, Symbol> known;
  const auto [found, is_new] = known.try_emplace(spelling);
  if (is_new) found->second = Names().local(spelling);
  return found->second;
}
/// "x"_s is a symbol that reads x.
inline Symbol operator""_s(const char* spelling, std::size_t length) { return symbol({spelling, length}); }

/// In what a failing test says.
inline std::ostream& operator<<(std::ostream& out, const Symbol& symbol) { return out << symbol.spelling(); }

}  // namespace weft::kernel
