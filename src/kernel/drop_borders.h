// Computed indices that surely are inside need no border, nor a test.
//
//     const int32_t z = (int32_t)(10.0f * min(max(in[i], 0.0f), 1.0f));
//     out[i] = table[clamp_index(z, 12)];                               →  out[i] = table[z];
//     place[i] = 0 <= z && z < 11 ? z * slice : -1;                     →  place[i] = z * slice;
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

void drop_borders(Function& function);

}  // namespace weft::kernel
