// A stage that reads windows, or a group of stages, as one GPU kernel: each block of threads goes down a
// strip of columns, some rows at a time, through all members (plan/march.h). What lies around a strip is
// computed by its neighbours, too: overlapped tiles.
//
//     strip of W columns and H rows, per block of threads:
//       for each batch of rows:
//         in's rows → shared memory, borders resolved                      lower/shared_rows.h
//         barrier
//         each thread a column:  for its rows of the batch:   dx_rows[row, column] = …     in shared memory
//         barrier
//         each thread a column:  for its rows of the batch:   gx[column, row] = …          in memory
//
// What ends in a reduction has its states in place of gx (reduction_parts.h). A batch is of one part alone:
//
//         each thread a column:  for its rows of the batch:   acc[column] = combined(acc[column], element)
//         after the last row of a part:  parts[part] = acc, combined in pairs
#pragma once

#include "lower/lower_marching.h"

namespace weft::lower {

/// Appends the kernel, its tables and launches to the module.
void lower_marching_grid(const GroupContext& context);
/// Appends the kernel of a stage that is no reduction, and its tables, and returns its launch.
kernel::Launch launch_of_marching_grid(const GroupContext& context);

}  // namespace weft::lower
