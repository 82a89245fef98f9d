// What a warp's lanes compute of a row, where stages have several rates, and what becomes of the row.
#pragma once

#include <optional>
#include <vector>

#include "lower/inner_lanes.h"

namespace weft::lower {

/// By how many rows a row lies below `times` * `from`, where that is a number: 3 for 2 * y0 + 3.
std::optional<int> distance_below(const kernel::Expr& row, const kernel::Symbol& from, int times = 1);

class LanePasses : protected InnerLanes {
 protected:
  using InnerLanes::InnerLanes;

  /// The rows that a pass has in one step, at several rates: all pixels of a step at once, as functions of the step's number, so
  /// that what they read lies at fixed distances from the step.
  Block rows_of_step(const Tile::Stages& pass);

  /// What becomes of a member's row when its pixels are there.
  Block after_row(const Source& source, const std::vector<Expr>& row, ExpressionLowering& expressions) const;
  /// And in a volume, when those of the plane's other rows are there, too.
  Block after_plane(const Source& source, const Expr& plane) const;

  std::vector<ir::Case> cases_of(const ir::Stage& original, const ir::Stage& placed) const;

  /// A lane's pixels of a row of a member over the same box as the result, which may be rows ahead.
  kernel::If store_of_member(const kernel::Symbol& pack, const Source& member,
                             const std::vector<Expr>& row) const;
  /// What makes a lane's pixels of the result, and the tile's own stored. Where they are stored over pixels that they are made
  /// of, lanes without some of the tile's make none: they would read what others store meanwhile.
  Block made_and_stored(const Tile::Stages& pass, const std::vector<Expr>& row, Block made,
                        Block stores) const;
  bool overwrites_what_it_reads(const Tile::Stages& pass) const;
  /// Whether such pixels are the tile's, by their row, or plane of a volume; and by their row of a plane: null if all are.
  Expr is_of_tile(const Expr& along, const plan::Kept* kept = nullptr) const;
  Expr is_line_of_tile(const Expr& line, const plan::Kept* kept = nullptr) const;
  kernel::Stmt store_of_lane(const kernel::Symbol& pack, const ArrayLayout& array,
                             const std::vector<Expr>& row) const;

 private:
  Block row_of_pass_in_step(const Tile::Stages& pass, const Source* source);
  /// Near the ends of an image: whether the pixel is there, if what computes it reads images where they lie, beyond whose
  /// ends is other memory. Else null.
  Expr is_where_images_are(const Tile::Stages& pass, const plan::Kept* kept, const Expr& pixel,
                           const Expr& row) const;
  ExpressionLowering::KeptRows rows_in_steps(const Source& source) const;
  /// The latest row of a member.
  Block store_row(const Source& source, const std::vector<Expr>& row) const;
};

}  // namespace weft::lower
