// Evolutions of a few steps become stages, one for each step, if that number is known. What prepares the first step and what
// reads the last can then be parts of the same kernel:
//
//     start -> evolve u, 3 steps -> out          start -> u@1 -> u@2 -> u -> out
//
// An evolution by itself begins with an image in memory and leaves one: two passes over memory more.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Evolutions of 0 to 8 steps of one field of 2 to `most_rank` dimensions. Others stay as they are: lines have kernels of their
/// own, and several fields kernels that store them together.
ir::Pipeline few_steps(const ir::Pipeline& pipeline, int most_rank);

}  // namespace weft::rewrite
