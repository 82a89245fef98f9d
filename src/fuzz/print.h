// The C++ of a recipe: what a user would have written.
#pragma once

#include <string>

#include "fuzz/recipe.h"

namespace weft::fuzz {

/// A whole file with one WEFT_PIPELINE; build() of the same recipe gives the same pipeline. `comment` goes
/// first.
std::string to_cpp(const Recipe& recipe, const std::string& comment);

}  // namespace weft::fuzz
