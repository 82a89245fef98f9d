// Computes stages in place where the schedule says so.
//
//     dx = …            →     mag = sqrt(… * … + … * …)
//     mag = sqrt(dx * dx + dy * dy)
#pragma once

#include <string>
#include <unordered_map>

#include "ir/stage_ir.h"
#include "schedule/schedule.h"

namespace weft::lower {

struct Inlined {
  ir::Pipeline pipeline;  ///< Only the stored stages.
  /// The names of the stages that were computed in place, by the expression that took their place.
  std::unordered_map<const ir::Node*, std::string> names;
};

Inlined inline_points(const ir::Pipeline& pipeline, const schedule::Schedule& schedule);

}  // namespace weft::lower
