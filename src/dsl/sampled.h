// What resampling and pyramids share: reads of a source as an image that begins at 0.
#pragma once

#include <weft/stage.h>

#include <vector>

namespace weft::dsl {

/// The accessor, with a border, seen as an image whose first pixel is at 0: as a crop of its whole box if
/// that begins elsewhere.
Accessor from_zero(const Accessor& source);

/// source(at[0], at[1], …), for one to three dimensions.
Expr read_at(const Accessor& source, const std::vector<At>& at);

}  // namespace weft::dsl
