// Scattering on a GPU by columns of the result, where all coordinates of the points say where they go (analysis/bands.h).
// A thread has a column of its own, so that nothing is updated atomically, and every pixel is changed in the order of the
// points: sums of floats are the interpreter's.
//
//     grid_fill:  a thread for each x and y of grid:
//                   column[bin] = initial                          in shared memory, 64 columns side by side
//                   for its 8 x 8 points: column[bin] += value
//                   grid = column
#pragma once

#include "analysis/bands.h"
#include "lower/kernel_context.h"

namespace weft::lower {

/// Appends the kernel and its launch to the module.
void lower_scatter_columns(const KernelContext& context, const plan::ScatterColumns& columns);

}  // namespace weft::lower
