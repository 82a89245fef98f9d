// Makes a recipe that fails smaller, as long as it keeps failing.
#pragma once

#include <functional>

#include "fuzz/recipe.h"

namespace weft::fuzz {

/// Tries simpler recipes, one change at a time, and keeps those for which `fails` holds, until no change is
/// left that does. `fails` is also given recipes that are not legal, for which it has to be false. It may
/// write types into them.
Recipe shrink(Recipe recipe, const std::function<bool(Recipe&)>& fails);

}  // namespace weft::fuzz
