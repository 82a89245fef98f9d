// The nodes that compute from their operands alone, for visitors that treat them alike:
//     [&](const ir::Operation auto&) { … }
// names six nodes. A visitor has no case for "all others", which would take nodes that are added later.
#pragma once

#include <concepts>

#include "ir/stage_ir.h"

namespace weft::ir {

template <class N>
concept Operation = std::same_as<N, Unary> || std::same_as<N, Binary> || std::same_as<N, Select> ||
    std::same_as<N, Cast> || std::same_as<N, Pack> || std::same_as<N, Lane>;

}  // namespace weft::ir
