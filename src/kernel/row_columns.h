// Rows whose pixels share columns, as one loop for vectors.
//
//     for (x0 = 1; x0 < w - 1; x0 += 1024) {                       column_here = vector of columns at 0
//       for (i = 0; i < count + 2; ++i)                            for (i = 0; i < w; i += 32) {
//         column[i] = a[x0 + i - 1] + b[x0 + i - 1];           →     column_after = vector of columns at i + 32
//       for (i = 0; i < count; ++i)                                  out[i .. i + 31] = what these have in common
//         out[x0 + i] = column[i] + column[i + 1] + column[i + 2];   column_before = column_here, column_here = column_after
//     }                                                            }
//
// Strips keep columns in an array of the first-level cache, as each is read by several pixels; vectors of them can stay in
// registers.
#pragma once

#include <optional>

#include "kernel/ir.h"

namespace weft::kernel {

struct RowOfColumns {
  Block once;  ///< What is the same for the whole row, and stands before it.
  For whole;   ///< The row in vectors.
};
/// What strips of a row compute, with what is beyond its ends (For::ends), if it is no more than columns and arithmetic with them.
std::optional<RowOfColumns> row_of_columns(const For& strips);

/// A block that keeps columns in local arrays, and has one loop that reads them: makes vectors of these two, if it can, and returns
/// the loop that is left. What the loop reads beside its own pixels is there.
For* keep_columns_in_registers(Block& block);

}  // namespace weft::kernel
