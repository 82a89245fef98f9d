// Scattering as two launches: private copies of the stage, each filled from a part of the rows, then their
// sum.
//
//     hist_copies:  for each copy: clear it; for its rows: copy[place] += value      in parallel
//     hist:         initial + copy 0 + copy 1 + …
//
// The number of copies depends on the stage's size alone: results do not depend on the number of threads. Where places
// move with the points, there are no copies (lower_scatter_bands.h; on GPUs lower_scatter_columns.h).
#pragma once

#include "lower/lower_stage.h"

namespace weft::lower {

/// Appends the functions, the array of copies and the launches to the module.
void lower_scatter(const KernelContext& context);

}  // namespace weft::lower
