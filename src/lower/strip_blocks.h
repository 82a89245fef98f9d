// Which of a result's tiles the blocks of a GPU have whose only warp goes down a strip, or through the planes of a volume.
//
// Where as many strips march as run at a time, the slowest of them decides how long that takes. Those at the ends of rows
// have borders to look for, and are half as high as the others. Blocks start in order, and theirs first: of 4 strips,
//
//     column of blocks    0 1 2 3 4 5
//     strip               3 3 0 0 1 2      of 0 and 1, 2 and 3 one has the even bands of rows, one the odd ones
#pragma once

#include "lower/tile.h"

namespace weft::lower {

class StripBlocks {
 public:
  /// `next` becomes the variable of the loop over columns of blocks. Both have to outlive this. `room` is for how many strips
  /// there is at a time; null where their height does not depend on it.
  StripBlocks(const Tile& tile, const kernel::Symbol& next, kernel::Expr room);

  /// Of a tile, but for those at the ends of rows.
  kernel::Expr height() const;
  kernel::Grid grid() const;
  /// Appends which strip a block has, and returns the loop over its tiles around `work`: of volumes those over lines, too.
  kernel::For down(kernel::Block& strip, const kernel::Expr& height, kernel::Block work) const;
  /// The loop over columns of blocks.
  kernel::For across(kernel::Block strip) const;

 private:
  kernel::Expr strips() const;
  kernel::Expr of_halves() const;
  kernel::Expr columns() const;
  kernel::Expr end() const;
  kernel::Expr side_by_side() const;
  kernel::Expr last_strip() const;
  kernel::For whole(kernel::Block& strip, const kernel::Expr& height, kernel::Block work) const;
  kernel::For with_halves(kernel::Block& strip, const kernel::Expr& height, kernel::Block work) const;

  const Tile& tile_;
  const kernel::Symbol& next_;
  const kernel::Expr room_;
  const Rows& rows_;
  const bool has_halves_;
};

}  // namespace weft::lower
