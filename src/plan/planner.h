// Makes the plan of one kernel: what follows from the stages, and what is chosen unless it is asked for.
#pragma once

#include <optional>
#include <string>

#include "plan/choices.h"
#include "plan/group.h"
#include "plan/plan.h"

namespace weft::plan {

/// The plan of a group that is chosen for that memory.
KernelPlan plan_of(const Group& group, const Memory& memory);
/// Of one stage by itself.
KernelPlan plan_of(const ir::Stage& stage, const Memory& memory);

struct PlanOrWhy {
  std::optional<KernelPlan> plan;
  std::string why;  ///< A clause.
};
/// With what is asked for; or why there is no such plan.
PlanOrWhy plan_of(const Group& group, const Memory& memory, const Choices& asked);

}  // namespace weft::plan
