// The applications that tests of plans go through.
#pragma once

#include <string>
#include <vector>

#include "tests/support/combinations.h"
#include "tools/arguments.h"

namespace weft::plan {

/// All that are not refused by their definition; in instrumented builds, which take ten times as long, every second one,
/// from number `first` on.
inline std::vector<std::string> names_of_applications(std::size_t first) {
  const std::vector<const Application*> all = tools::select_applications("all");
  std::vector<std::string> names;
  for (std::size_t a = 0; a < all.size(); ++a) {
    if (!testing_support::instrumented || a % 2 == first) names.push_back(all[a]->name);
  }
  return names;
}

}  // namespace weft::plan
