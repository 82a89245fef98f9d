// Draws recipes. Everything that it draws is legal: a weft::Error from building one is a mistake in here.
#pragma once

#include "fuzz/recipe.h"

namespace weft::fuzz {

/// The same recipe for the same seed, on every machine.
Recipe random_recipe(std::uint64_t seed);

}  // namespace weft::fuzz
