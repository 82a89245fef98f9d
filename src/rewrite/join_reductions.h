// Reductions of the same pixels become one, so that these are read, or computed, once:
//
//     least = min of in, greatest = max of in          least_and_greatest = (min, max) of in
//     out = (in - least) / (greatest - least)          out = (in - l_a_g[0]) / (l_a_g[1] - l_a_g[0])
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// Those over the same box that read an image or a stage in common, and do not depend on each other. Their values become lanes of
/// one pixel: up to 4, of one scalar type, or of integers, which all become 64 bits.
ir::Pipeline join_reductions(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
