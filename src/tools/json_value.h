// Values of pixels in JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "ir/value.h"

namespace weft::tools {

/// A lane as a number; integers exactly.
inline nlohmann::ordered_json value_as_json(const ir::Value& value, int lane = 0) {
  const Scalar s = value.type.scalar;
  if (s == Scalar::U64) return static_cast<std::uint64_t>(value.lane[lane].i);
  return is_float(s) ? nlohmann::ordered_json(value.as_double(lane))
                     : nlohmann::ordered_json(value.lane[lane].i);
}

}  // namespace weft::tools
