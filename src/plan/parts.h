// How the elements of a reduction are divided, whoever computes them: with the parts and the order within
// them the bits of a sum of floats are the same.
#pragma once

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "plan/choices.h"

namespace weft::plan {

/// A part has `columns` columns of `rows` rows. Where an image has fewer columns than that, a part has more rows instead, up to
/// the same number of elements: of 256 x 16 and an image 64 wide, 64 rows.
struct Parts {
  int columns = 0, rows = 1;
  int accumulators = 1;    ///< Side by side.
  bool by_column = false;  ///< Each accumulator has a column of the part.
  int bytes = 0;           ///< Of an accumulator.

  bool operator==(const Parts&) const = default;
};
inline std::int64_t bytes_of_accumulators(const Parts& parts) {
  return std::int64_t{parts.accumulators} * parts.bytes;
}
Parts parts_of(const ir::Reduce& reduce, const Memory& memory);

/// Rows of a part where all elements have `all_columns` columns.
kernel::Expr rows_of_part(const Parts& parts, const kernel::Expr& all_columns);
std::int64_t rows_of_part(const Parts& parts, std::int64_t all_columns);

}  // namespace weft::plan
