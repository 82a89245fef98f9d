// Small images for tests, and their lanes as numbers.
#pragma once

#include <weft/buffer.h>

#include <vector>

#include "ir/value.h"
#include "tools/images.h"

namespace weft::tools {

inline Buffer pixels(Type type, const std::vector<double>& lanes) {
  Buffer buffer = Buffer::allocate(type, {static_cast<std::int64_t>(lanes.size()) / type.lanes, 1});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    ir::store(type.scalar, static_cast<std::byte*>(buffer.data()) + i * size_of(type.scalar),
              ir::Value::real(type.lane(), lanes[i]).lane[0]);
  }
  return buffer;
}

inline std::vector<double> lanes(const Buffer& buffer) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < buffer.pixels(); ++i) {
    for (int l = 0; l < buffer.type().lanes; ++l) all.push_back(lane_value(buffer, i, l).as_double());
  }
  return all;
}

using Values = std::vector<double>;

}  // namespace weft::tools
