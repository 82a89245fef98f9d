// Decides how many threads the blocks of each kernel have, by the rule of target/block.h.
//
//     launch dx_kernel, blocks of 1 x 1, a thread per pixel   ->   blocks of 32 x 2
//     launch sum_part, blocks of 1, 16 of them                ->   blocks of 256, 16 of them
#pragma once

#include "kernel/ir.h"
#include "machine/architecture.h"

namespace weft::target {

/// Of all launches of a module for a GPU whose grids have blocks of one thread. Nothing else changes: every
/// kernel computes the same with any block.
void choose_blocks(kernel::Module& module, const machine::Architecture& architecture);

}  // namespace weft::target
