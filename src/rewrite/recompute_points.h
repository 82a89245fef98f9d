// Points of an input that several stages read are computed for each of them.
//
//     p = in * a          one stage reads p around its pixels, another one at its own
//  →  p = in * a, p_of_b = in * a
//
// Both read as many bytes of `in` as they would of p, which then needs no memory: each copy can become part
// of its reader's kernel. Pipelines with one copy would store p and read it again.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

ir::Pipeline recompute_points(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
