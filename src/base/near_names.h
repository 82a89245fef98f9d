// Which of the names that there are somebody may have meant: did_you_mean("guassian", {"gaussian", "sobel"})
// is "; did you mean gaussian?".
#pragma once

#include <string>
#include <vector>

namespace weft {

/// Those that differ by a letter in three at most, two neighbours exchanged among them, or that begin so.
std::vector<std::string> near_names(const std::string& name, const std::vector<std::string>& names);
/// The end of a message about a name that is not among them; "" if none is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names);

}  // namespace weft
