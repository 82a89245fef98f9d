// Conditions on coordinates that hold in a box: loops over a row need not ask at each pixel.
//
//     x >= 2 && y >= 2 && x < w - 2      x in [2, w - 2), y in [2, …)
#pragma once

#include <optional>
#include <vector>

#include "analysis/interior.h"
#include "ir/stage_ir.h"

namespace weft::analysis {

/// Where the condition holds, per dimension of the stage; nothing if that is no box.
std::optional<std::vector<Bounds>> box_where(const ir::Expr& condition, std::size_t rank);

}  // namespace weft::analysis
