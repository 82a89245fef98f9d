// Whether a kernel can be made so: what the generator relies on.
#pragma once

#include <optional>
#include <string>

#include "plan/choices.h"
#include "plan/plan.h"

namespace weft::plan {

/// Why not: a clause that names what and where; or nothing.
std::optional<std::string> why_impossible(const KernelPlan& plan, const Memory& memory);

}  // namespace weft::plan
