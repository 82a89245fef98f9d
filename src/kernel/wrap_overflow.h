// Signed integers wrap in the language, but their overflow is undefined in CUDA, which has no flag against
// it.
//
//     out[i] = in[i] * k;  →  out[i] = (int32_t)((uint32_t)in[i] * (uint32_t)k);
//
// What cannot overflow stays as it is: sums of bytes, by the ranges of their types, and places in
// memory.
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

/// Comes after narrow_indices, whose ranges of sizes it takes for granted.
void wrap_overflow(kernel::Module& module);

}  // namespace weft::kernel
