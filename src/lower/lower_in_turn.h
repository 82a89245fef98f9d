// Small stages as one GPU kernel of one block: each is computed as a whole, then the next.
//
//     for y, x by the threads:  half[x, y] = … in …          32 threads along a row, 16 rows at a time
//     barrier
//     for y, x by the threads:  quarter[x, y] = … half …
#pragma once

#include "lower/kernel_context.h"

namespace weft::lower {

/// Appends the kernel and the tables of its stages.
kernel::Launch lower_in_turn(const KernelContext& context);

}  // namespace weft::lower
