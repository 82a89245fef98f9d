// What `weft run --probe` prints: all that one pixel depends on, as values, and as grids where windows were
// read:
//
//     out(4, 2) = 9
//     in(3 to 5, 2):
//            3  4  5
//        2   4  .  5
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ir/probe.h"

namespace weft::tools {

std::string probe_text(const std::vector<ir::ProbedStage>& probed);
nlohmann::ordered_json probe_json(const std::vector<ir::ProbedStage>& probed);

}  // namespace weft::tools
