// How the time steps of an evolution are taken: one after the other, several in one kernel, or in split tiles.
#pragma once

#include <optional>
#include <string>

#include "plan/choices.h"
#include "plan/group.h"
#include "plan/plan.h"

namespace weft::plan {

/// Adds the kernels of its steps to the plan of an evolution; or says why they are not as it is asked for: a clause.
std::optional<std::string> add_steps(KernelPlan& plan, const ir::Evolution& evolution, const Memory& memory,
                                     const Choices& asked);

}  // namespace weft::plan
