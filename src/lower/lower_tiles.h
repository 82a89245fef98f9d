// A kernel that keeps rows, of one stage or several, as one function over tiles (plan/plan.h). Whoever owns a
// tile, a core or a block of threads (tile_owner.h), goes through it in the same way:
//
//     in_rows, dx_rows                          the rows that are still to be read
//     for each tile of the owner:               x0, y0, y1
//       for batch from y0 - 2 to y1:
//         rows of in, borders resolved          from memory
//         rows of dx                            a pass
//         rows of gx                            the last pass, to memory
//
// Blocks wait for their threads between what is written and what is read (kernel/insert_barriers.h). What ends
// in a reduction has its states in place of gx (reduction_parts.h):
//
//         the elements of its rows, into accumulators; after the last row of a part, these to memory
#pragma once

#include "lower/kernel_context.h"
#include "lower/reduction_parts.h"

namespace weft::lower {

/// Appends the function and its tables to the module. Of a reduction it computes the parts.
kernel::Launch lower_tiles(const KernelContext& context, const ReductionParts* parts = nullptr);

}  // namespace weft::lower
