// Scattering by bands of the result, where the points that change one are known (analysis/bands.h). No two bands have
// a pixel in common, so there are no copies, and every pixel is changed in the order of the points.
//
//     grid_fill:  for each band: grid = initial
//                                for its points, some of a row at a time:
//                                  for each: place[i] = …, value[i] = …       in vectors
//                                  for each: grid[place[i]] += value[i]       one after another
#pragma once

#include "analysis/bands.h"
#include "lower/kernel_context.h"

namespace weft::lower {

/// Appends the function and its launch to the module.
void lower_scatter_bands(const KernelContext& context, const plan::ScatterBands& bands);

}  // namespace weft::lower
