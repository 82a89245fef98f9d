// The applications that tests of plans go through.
#pragma once

#include <string>
#include <vector>

#include "tools/arguments.h"

namespace weft::plan {

/// All that are not refused by their definition.
inline std::vector<std::string> names_of_applications() {
  std::vector<std::string> names;
  for (const Application* application : tools::select_applications("all")) names.push_back(application->name);
  return names;
}

}  // namespace weft::plan
