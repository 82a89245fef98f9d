// From a recipe to the pipeline that it describes, through the language itself.
#pragma once

#include <weft/pipeline.h>

#include "fuzz/recipe.h"

namespace weft::fuzz {

/// Writes the types of all terms and stages into the recipe. Throws weft::Error if the recipe describes no
/// legal pipeline, and std::out_of_range if a tap, an accumulator or a source in it has no meaning where it
/// is used.
Pipeline build(Recipe& recipe);

/// The type of a reduction by the stage's operator, of values of that type over `rank` dimensions.
Type type_of_reduction(const Stage& stage, Type value, int rank);

}  // namespace weft::fuzz
