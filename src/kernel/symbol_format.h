// fmt prints a symbol as it is spelt.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "kernel/symbol.h"

template <>
struct fmt::formatter<weft::kernel::Symbol> : fmt::formatter<std::string_view> {
  auto format(const weft::kernel::Symbol& symbol, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(symbol.spelling(), context);
  }
};
