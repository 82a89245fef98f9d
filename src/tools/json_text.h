// JSON as commands print it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace weft::tools {

/// On several lines. Names of files may be any bytes: what is no UTF-8 becomes U+FFFD, the replacement
/// character.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weft::tools
