#include "base/environment.h"

#include <weft/error.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace weft {

std::optional<std::int64_t> number_of_environment(const char* name, const std::string& what,
                                                  std::int64_t most) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error == std::errc() && stop == end && number >= 1 && number <= most) return number;
  const std::string variable = name;
  throw Error(variable + " is '" + text + "', which is not a number of " + what)
      .help("set " + variable + " to a number from 1 to " + std::to_string(most) + ", or unset it");
}

bool environment_says(const char* name, bool usual) {
  const char* text = std::getenv(name);
  return text && *text ? std::strcmp(text, "0") != 0 : usual;
}

}  // namespace weft
