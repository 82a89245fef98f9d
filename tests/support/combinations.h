// Tests of every subject with every border mode.
#pragma once

#include <tuple>
#include <vector>

namespace weft::testing_support {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool instrumented = true;
#else
constexpr bool instrumented = false;
#endif

/// Every pair of the two; in instrumented builds, which take several times as long, each subject with one of
/// the modes, in turn.
template <class Subject, class Mode>
std::vector<std::tuple<Subject, Mode>> combinations(const std::vector<Subject>& subjects,
                                                    const std::vector<Mode>& modes) {
  std::vector<std::tuple<Subject, Mode>> all;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    for (std::size_t m = 0; m < modes.size(); ++m) {
      if (!instrumented || m == s % modes.size()) all.emplace_back(subjects[s], modes[m]);
    }
  }
  return all;
}

}  // namespace weft::testing_support
