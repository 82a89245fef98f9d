// Rows of a static tile that lies inside all images. A lane computes all rows of a stage before the next stage: the first rows
// stay in registers, and the others lie in shared memory until a pass gets to what reads them.
//
//     k          the number of a row among those that a tile needs
//     in_rows    the rows that stay, and room for those that come back
//     in_rest    a lane's pixels of the others
#pragma once

#include <optional>

#include "lower/lane_passes.h"

namespace weft::lower {

class LanesByStages : protected LanePasses {
 protected:
  using LanePasses::LanePasses;

  const kernel::Symbol& rest_of(const Source& source) const { return variables_of(&source).rest; }
  /// The first row of a source that a tile needs, from y0 on; of the result, if null.
  static int first_of(const Source* source) { return source ? static_cast<int>(source->kept.down().min) : 0; }
  /// Where a row, by its number, begins in registers: if it stays there at its place, else where it comes back to.
  Expr slot(const plan::Kept& kept, const Expr& number) const;
  /// The row with the number k, where it lies until it is read.
  Block kept_row(const Source& source, const kernel::Symbol& own);
  /// A row from shared memory, if it lies there.
  Block back_to_registers(const Source& source, const Expr& number);
  Block all_rows_of_image(const Source& image);

  /// Rows below its own pixel that a pass reads of a source; nothing if it does not read it.
  static std::optional<plan::Reach> rows_read(const Tile::PassLanes& pass, const ir::Stage& source);

 private:
  static Expr slot_of_guest(const plan::Kept& kept, const Expr& number);
  /// A lane's pixels of a row in shared memory, which no other lane reads.
  Expr place_of_rest(const Source& source, const Expr& number) const;
  /// From an array to a row in registers, with the columns beside them.
  Block to_registers(const Source& source, const Expr& slot, const kernel::Symbol& own);
};

}  // namespace weft::lower
