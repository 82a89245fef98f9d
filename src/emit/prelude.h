// The helper functions of emitted code: what C has no operator for.
#pragma once

#include <set>
#include <string>

namespace weft::emit {

/// The definitions of the helpers, each once, those they need before them. Throws InternalError for an
/// unknown name.
std::string prelude(const std::set<std::string>& helpers);
/// Declarations of C's mathematical functions, so that emitted code includes no headers.
std::string math_declarations(const std::set<std::string>& functions, bool strict);

}  // namespace weft::emit
