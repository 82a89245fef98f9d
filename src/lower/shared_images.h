// Rows of an image in the shared memory of a block of threads that goes down a tile, batch by batch:
//
//     the rows that the windows of this batch reach and those of the batch before did not: the threads load
//     them, from wherever they are → shared memory, borders resolved, in whole sectors
#pragma once

#include "lower/tile.h"

namespace weft::lower {

/// In the array of an image, by its border.
FoundPixel find_pixel(const Tile::Source& image, int d, const kernel::Expr& index, const Rows& rows);

/// A loop that loads the rows of a batch. A thread takes some columns, and loads from each several rows one
/// after the other. Those of a tile that lies inside need no border.
kernel::For load_rows(const Tile& tile, const Tile::Source& image, bool is_inside = false);

/// One lane, by its number, of a constant border.
kernel::Expr border_lane(const ir::Expr& constant, const kernel::Expr& lane, ExpressionLowering& expressions);

}  // namespace weft::lower
