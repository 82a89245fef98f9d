// A reduction as two launches: parts of the elements, then their combination.
//
//     sum_parts:  for each part of a few thousand elements            in parallel
//                   64 accumulators side by side, then combined in pairs
//     sum:        the parts, combined in pairs
#pragma once

#include "lower/lower_stage.h"

namespace weft::lower {

/// Appends the functions, arrays and launches of a reduction to the module.
void lower_reduce(const KernelContext& context);

}  // namespace weft::lower
