// Plans that a schedule's JSON asks for.
#pragma once

#include <string>

#include "compile/scheduling.h"
#include "schedule/groups.h"

namespace weft::plan {

inline schedule::ScheduleOrWhy follow(const ir::Pipeline& pipeline, const std::string& json,
                                      const Memory& memory) {
  return schedule_of_groups(pipeline, schedule::grouping_from_json(json), schedule::Tiling::March, memory);
}

}  // namespace weft::plan
