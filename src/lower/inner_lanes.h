// Where a warp's tile lies inside of all that its lanes load and compute, and its memory is aligned, so that nothing has to
// be tested for each pixel.
#pragma once

#include <vector>

#include "lower/lane_rows.h"

namespace weft::lower {

class InnerLanes : protected LaneRows {
 protected:
  explicit InnerLanes(const Tile& tile) : LaneRows(tile), halo_(plan::halo_lanes(tile.plan())) {}

  /// Where nothing has to be tested.
  struct Inside {
    Expr columns;  ///< Whether those of the strip are, and of a volume the rows of a tile.
    Expr lanes;    ///< Whether ends of rows lie between lanes, and what those load is aligned.
    std::vector<Expr> first_steps, end_steps;  ///< From the largest to before the least.
  };
  /// Of the tile: all that lanes load lies inside of images, and all that they compute inside of what has a border, and
  /// in the first of two cases.
  Inside where_inside(Block& block) const;

  /// So many columns of the result, or rows, as steps, rounded down.
  Expr in_steps(const Expr& pixels, int d) const;
  Expr step_of_tile() const;  ///< That of its first column.
  /// With which a march begins.
  int steps_before() const { return tile_.plan().before / tile_.plan().step[1]; }

  const plan::HaloLanes halo_;

 private:
  /// The first step all of whose rows of a source, or of the result, if null, are there from this row on; the one after the
  /// last that ends before it. So many steps earlier, if rows are loaded before.
  Expr first_step_from(const Expr& row, const plan::Kept* kept, int before = 0) const;
  Expr end_step_before(const Expr& row, const plan::Kept* kept, int before = 0) const;
  Expr is_aligned(const ir::Stage& stage, const plan::Kept* kept, Block& block) const;
};

}  // namespace weft::lower
