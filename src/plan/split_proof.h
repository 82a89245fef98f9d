// Proofs, by integer sets, that split tiles compute every pixel of every step once, and after all that it needs: for
// whatever extents of images and number of steps.
//
// A tile is a product of intervals, so each dimension is proved by itself:
//   - the intervals of a level lie side by side from before the first pixel to behind the last;
//   - what an upright tile needs of the band is in the same interval, what an inverted one needs in the same, in that
//     of the upright tile on either side, or below the band.
// Then what a tile needs is in itself, or in a tile that is inverted along fewer dimensions, which comes before it.
#pragma once

#include <string>

#include "plan/split_tiles.h"

namespace weft::plan {

struct SplitProof {
  int sets = 0;         ///< That were shown to be empty.
  std::string refuted;  ///< What does not hold, with an example; empty: all of it is proved.
};

SplitProof prove(const SplitTiles& tiles, const analysis::TimeDependences& needs);

}  // namespace weft::plan
