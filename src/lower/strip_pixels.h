// The pixels of a strip: some neighbours of one row, which lie in local arrays between the loops that compute
// them.
#pragma once

#include <string>

#include "ir/kernel_ir.h"
#include "ir/stage_ir.h"
#include "lower/expressions.h"

namespace weft::lower {

struct Strip {
  kernel::Expr x0, count;  ///< The first pixel and their number, at most `capacity`.
  int capacity;
  std::string target;   ///< The array to store to,
  kernel::Expr offset;  ///< the first scalar of the pixel number `i`.
};

/// Whether several lanes are made from the exp, say, of one value. Compilers that see the stores of a pixel
/// side by side make vectors across its lanes, and the exp once for each.
bool lanes_share_a_function(const ir::Stage& stage);

/// Appends to `pointers` the rows that are read, and to `work` loops over the strip: those of folds too large
/// to unroll, the loop over the taps outside the loop over pixels; then those that store.
void store_strip(ExpressionLowering& expressions, const ir::Stage& stage, const Strip& strip,
                 kernel::Block& pointers, kernel::Block& work);

/// How the loop over the pixels of a row may run.
kernel::LoopKind loop_over_pixels(const ir::Stage& stage);

}  // namespace weft::lower
