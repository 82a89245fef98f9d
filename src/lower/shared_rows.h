// Rows of an image in the shared memory of a block of threads that goes down a strip of columns, batch by
// batch:
//
//     the rows that the windows of this batch reach and those of the batch before did not: the threads load
//     them, from wherever they are → shared memory, borders resolved, in whole sectors
#pragma once

#include <string>

#include "kernel/ir.h"
#include "lower/expressions.h"
#include "lower/rows.h"
#include "plan/plan.h"

namespace weft::lower {

struct SharedImage {
  const ir::Stage& source;
  const plan::Kept& kept;
  std::string array;  ///< In shared memory.
};

/// The scalar with which a row of a ring begins: number (y & (rows - 1)) * pitch.
kernel::Expr row_in(const plan::Kept& ring, const kernel::Expr& row);
/// The scalar of a row of a ring that has the first lane of a pixel, counted from the strip's first.
kernel::Expr at_kept(const plan::Kept& ring, const kernel::Expr& x);

/// A batch of rows of a strip, in the coordinates of an image: at those of the strip's stage if that has the
/// same rate.
struct Batch {
  kernel::Expr x0, y0, y1;  ///< Where the strip begins, and ends.
  kernel::Expr first;       ///< Row.
  int rows;
};

/// A loop that loads, of the rows from first + y.max on, those that the strip [y0, y1) needs. A thread takes
/// some columns, and loads from each several rows one after the other. `rows` are those of the strip's stage,
/// `expressions` of the same function.
kernel::For load_rows(const SharedImage& image, const Batch& batch, const Rows& rows, const Layout& layout,
                      ExpressionLowering& expressions);

/// One lane, by its number, of a constant border.
kernel::Expr border_lane(const ir::Expr& constant, const kernel::Expr& lane, ExpressionLowering& expressions);

}  // namespace weft::lower
