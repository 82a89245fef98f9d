// The options of commands that decide about schedules.
#pragma once

#include <string>

#include "compile/scheduling.h"
#include "tools/parser.h"

namespace weft::tools {

struct ScheduleFlags {
  std::string tile = "auto", fuse = "auto", cost = "weft", file;
};
void add_schedule_flags(Command command, ScheduleFlags& flags);

/// Reads the file. Throws weft::Error for names that there are not, and flags that contradict one another.
compile::Scheduling parse(const ScheduleFlags& flags);

}  // namespace weft::tools
