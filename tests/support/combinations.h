// Tests of every subject with every border mode.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace weft::testing_support {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool instrumented = true;
#else
constexpr bool instrumented = false;
#endif

/// All of them; two, which find pixels outside of images in different ways, where tests take several times as
/// long, as in instrumented builds.
inline std::vector<std::string> border_modes(bool is_slow = instrumented) {
  if (is_slow) return {"mirror", "constant"};
  return {"clamp", "mirror", "mirror101", "repeat", "constant"};
}

/// Every pair of the two, but subjects for which `with_all` does not hold with one of the modes, in turn; so
/// all of them in instrumented builds, which take several times as long.
template <class Subject, class Mode>
std::vector<std::tuple<Subject, Mode>> combinations(
    const std::vector<Subject>& subjects, const std::vector<Mode>& modes,
    const std::function<bool(const Subject&)>& with_all = [](const Subject&) { return true; }) {
  std::vector<std::tuple<Subject, Mode>> pairs;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const bool all = !instrumented && with_all(subjects[s]);
    for (std::size_t m = 0; m < modes.size(); ++m) {
      if (all || m == s % modes.size()) pairs.emplace_back(subjects[s], modes[m]);
    }
  }
  return pairs;
}

}  // namespace weft::testing_support
