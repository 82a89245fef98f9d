// What variables of the environment say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/// None if the variable is unset or empty. Throws weft::Error, which says that it is no number of `what`, unless it is one
/// from 1 to `most`.
std::optional<std::int64_t> number_of_environment(const char* name, const std::string& what,
                                                  std::int64_t most);

/// False after "0", true after anything else; unset or empty, it says what is usual.
bool environment_says(const char* name, bool usual);

}  // namespace weft
