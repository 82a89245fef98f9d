// Kernels that are the same but for their arrays become one, which is launched once: each layer of its blocks has arrays of its own.
//
//     left_blur<<<grid>>>(left, left_blur);            blur<<<two layers of grid>>>(left, right, left_blur, right_blur);
//     right_blur<<<grid>>>(right, right_blur);   →       layer_left = layer == 1 ? right : left; …
//
// A launch takes microseconds, and fetches the kernel's code anew. Frames of a film, exposures of a scene, the eyes of a camera and
// the pictures that a mask blends have such kernels.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Of a module for GPUs, whose blocks are not chosen yet. A launch comes earlier if nothing in between keeps it from that; `names`
/// are those of the module.
void join_alike(Module& module, const Names& names);

}  // namespace weft::kernel
