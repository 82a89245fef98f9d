// A schedule: the decisions about how a pipeline runs, as a plain value that prints, with a reason for each.
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::schedule {

/// Where a stage's pixels live.
struct StagePlan {
  std::string stage;
  bool stored = true;
  std::string into;  ///< The stage that computes it in place, when it is not stored.
  std::string why;   ///< A sentence.
};

struct Schedule {
  std::vector<StagePlan> stages;  ///< One per stage of the pipeline, in its order.

  const StagePlan& of(const std::string& stage) const;
};

/// A stage is computed in place where its only consumer reads it at the current pixel alone; all others are
/// stored.
Schedule choose(const ir::Pipeline& pipeline);

std::string to_text(const Schedule& schedule);
std::string to_json(const Schedule& schedule);

}  // namespace weft::schedule
