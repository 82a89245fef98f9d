// Scattering on a GPU: the initial value everywhere, then atomic updates. Few bins are updated in the shared
// memory of each block first.
//
//     hist:       initial                                             one thread per bin
//     hist_fill:  shared copy = identity;  for the block's points: copy[bin] += value, atomically
//                 hist += copy, atomically
//
// Sums of floats come in any order: results may differ from run to run by roundings.
#pragma once

#include "lower/lower_stage.h"

namespace weft::lower {

/// Appends the kernels and the launches to the module.
void lower_scatter_atomics(const KernelContext& context, const plan::ScatterAtomics& atomics);

}  // namespace weft::lower
