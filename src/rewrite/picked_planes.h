// Reads at a plane that each pixel computes, as choices among the values of all planes.
//
//     volume(x/2, y, k) + volume(x/2 + 1, y, k)              k(x, y) one of 3
//  →  k <= 0 ? v0 : k <= 1 ? v1 : v2                         v0 = volume(x/2, y, 0) + volume(x/2 + 1, y, 0), …
//
// A vector of neighbours loads each plane and keeps what its pixels chose, where it would gather: processors load 16
// neighbours at once, and gather one by one. What pixels choose at k and k + 1 is computed once.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Of up to 8 planes, for cores. Results are the same to the bit.
ir::Pipeline picked_planes(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
