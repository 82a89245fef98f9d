#include "tools/json_text.h"

#include <nlohmann/json.hpp>

namespace weft::tools {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json json_of(const std::string& text) { return nlohmann::ordered_json::parse(text); }

}  // namespace weft::tools
