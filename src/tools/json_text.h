// JSON as commands print it, and as other folders write it. Printing and parsing take long to compile:
// json_text.cpp does both, for all.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::tools {

/// On several lines. Names of files may be any bytes: what is no UTF-8 becomes U+FFFD, the replacement
/// character.
std::string json_text(const nlohmann::ordered_json& json);

/// What Weft itself wrote.
nlohmann::ordered_json json_of(const std::string& text);

}  // namespace weft::tools
