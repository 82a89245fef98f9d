// Volumes whose planes do not meet, with their second and third dimension exchanged.
//
//     rows(x, y, z) = (fine(2*x, y, z) + fine(2*x + 1, y, z)) / 2        z: one of a few curves, frames, …
//     half(x, y, z) = (rows(x, 2*y, z) + rows(x, 2*y + 1, z)) / 2
//  →  rows(x, z, y), half(x, z, y)
//
// Stages that are computed together march along the last dimension, and may have several rates along the first and the
// last (plan/march.h). Along z such volumes have nothing to keep; along y they have what an image has.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Of volumes that are neither images nor outputs, all that read one another. Results are the same to the bit.
ir::Pipeline turned_volumes(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
