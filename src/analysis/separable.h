// Windows that are the outer product of a column and a row.
//
//     sum over 5x5 of m(t) * in(x + t.x, y + t.y),   m = [1 4 6 4 1]^T [1 4 6 4 1]
//  →  column[x] = sum over 5 of c(t) * in(x, y + t);   sum over 5 of r(t) * column[x + t]
//
// Neighbouring pixels share columns: 10 products a pixel instead of 25. Minima and maxima over boxes separate
// as well.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

struct Separable {
  ir::BinaryOp op;  ///< Add, Min or Max.
  ir::Expr value;   ///< What is combined: a function of reads at the tap.
  std::vector<ir::Value> column,
      row;  ///< Weights, by distance from `low`; of the fold's type. All 1 for Min and Max; 0 where no tap is.
  int low_x, low_y;
  int stride;          ///< Of the window along x: from one tap to the next.
  Scalar column_type;  ///< Holds every column: the fold's type, or a narrower integer.
};

/// The fold as a column and a row, if it is one and that saves work. Under `strict` windows of
/// floats are left alone: their order would change, which sums and, with NaNs or zeros, minima show.
std::optional<Separable> as_separable(const ir::Fold& fold, bool strict);

/// Windows of one row or one column, too: a line, across which there is one tap.
std::optional<Separable> as_separable_or_line(const ir::Fold& fold, bool strict);

/// Nine floats as they lie in memory are summed as fast as they are loaded: where a loop loads them, columns would
/// only add stores.
bool loads_little(const ir::Fold& fold);

/// Why it is none: a clause. Empty if it is one.
std::string why_not_separable(const ir::Fold& fold, bool strict);

}  // namespace weft::analysis
