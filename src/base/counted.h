#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// "1 pixel", "2 pixels"
inline std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace weft
