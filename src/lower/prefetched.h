// A core asks memory for the next rows of an image before it needs them, if its plan says so.
//
//     for rows y of a tile:
//       prefetch in, row y + 1
//       for pixels:  out = in(x, y) + kept(x / 2)
#pragma once

#include <set>

#include "lower/tile.h"

namespace weft::lower {

/// Rows of a source, or null: of the result, by which what is fetched is ahead of what is read: all that one turn takes.
int rows_ahead(const Tile& tile, const plan::Kept* kept);

/// What a pass that computes the columns [left, right) of a row reads from memory, pixel by pixel, in the row that is
/// `ahead` further down: but for images that are in `fetched`, by a pass before. Those that it fetches join them.
kernel::Block prefetch_images(const Tile& tile, const Tile::Stages& pass, const kernel::Expr& left,
                              const kernel::Expr& right, const kernel::Expr& row, int ahead,
                              std::set<const ir::Stage*>& fetched);

}  // namespace weft::lower
