// Computes stages in place where the schedule says so.
//
//     dx = …            →     mag = sqrt(… * … + … * …)
//     mag = sqrt(dx * dx + dy * dy)
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "ir/stage_ir.h"

namespace weft::rewrite {

struct Inlined {
  ir::Pipeline pipeline;  ///< Only the stored stages.
  /// The names of the stages that were computed in place, by the expression that took their place.
  std::unordered_map<const ir::Node*, std::string> names;
};

/// `in_place` says which stages these are.
Inlined inline_points(const ir::Pipeline& pipeline, const std::function<bool(const ir::Stage&)>& in_place);

}  // namespace weft::rewrite
