// From a recipe to the pipeline that it describes, through the language itself.
#pragma once

#include <weft/pipeline.h>

#include "tools/random_recipe.h"

namespace weft::tools::recipe {

/// Writes the types of all terms and stages into the recipe. Throws weft::Error if the recipe describes no
/// legal pipeline, and std::out_of_range if a tap, an accumulator or a source in it has no meaning where it
/// is used.
Pipeline build(Recipe& recipe);

/// An operator of the language; there is none for Custom.
weft::Reduce reduction(weft::Reduce::Kind kind);
/// The type of a reduction of values of some type over so many dimensions.
Type type_of_reduction(weft::Reduce::Kind kind, Type value, int rank);

}  // namespace weft::tools::recipe
