// Loads whose places differ by multiples of strides have a pointer in common.
//
//     a = grid[y * pitch + x + z * slice];                    const float* near = grid + (y * pitch + x + z * slice);
//     b = grid[(y + 1) * pitch + x + z * slice];         →    a = near[0];
//     c = grid[(y + 1) * pitch + x + (z + 1) * slice];        b = near[pitch];
//                                                             c = near[pitch + slice];
//
// Compilers for GPUs, whose addresses take two instructions for each sum, do not find that by themselves.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// `names` are those of the module; new ones are none that the function has.
void share_places(Function& function, const Module& module, Names names);

}  // namespace weft::kernel
