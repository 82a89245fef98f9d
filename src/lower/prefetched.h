// A core asks memory for the next rows of an image before it needs them, if its plan says so: bit by bit, as it goes along the
// row that it computes meanwhile, since a core that asks for a hundred lines at once waits for most of them.
//
//     for rows y of a tile:                                  for rows y of a tile:
//       for pixels:  out = in(x, y) + kept(x / 2)        →     for portions of the row, 64 pixels each:
//                                                                prefetch those of in, row y + 1
//                                                                for pixels of the portion:  out = in(x, y) + kept(x / 2)
#pragma once

#include <set>
#include <vector>

#include "lower/tile.h"

namespace weft::lower {

/// Rows of a source, or null: of the result, by which what is fetched is ahead of what is read: all that one turn takes.
int rows_ahead(const Tile& tile, const plan::Kept* kept);

/// A row of an image that is read soon. For each `pixels` pixels of the row that is computed meanwhile, `scalars` of it are
/// read: 3 for 2, say, of three lanes at half the resolution.
struct RowAhead {
  kernel::Prefetch row;
  std::int64_t scalars, pixels;
};

/// What a pass that computes the columns [left, right) of a row reads from memory, pixel by pixel, in the row that is
/// `ahead` further down: but for images that are in `fetched`, by a pass before. Those that it fetches join them.
std::vector<RowAhead> rows_read_ahead(const Tile& tile, const Tile::Stages& pass, const kernel::Expr& left,
                                      const kernel::Expr& right, const kernel::Expr& row, int ahead,
                                      std::set<const ir::Stage*>& fetched);

/// The loop along a row takes `count` iterations for each `pixels` pixels: 3 for 1 if lanes are flat and there are three, 1 for
/// 2 if there are two phases.
struct Iterations {
  std::int64_t count = 1, pixels = 1;
};
/// The work for a row of at most `columns` pixels, with rows that are asked for on the way: in portions by its loop over the
/// pixels, or before it, if there is no such loop or the row is too short for portions.
kernel::Block with_rows_ahead(kernel::Block work, const std::vector<RowAhead>& ahead,
                              const Iterations& iterations, int columns, const kernel::Symbol& portion);

}  // namespace weft::lower
