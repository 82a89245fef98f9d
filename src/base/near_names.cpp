#include "base/near_names.h"

#include <algorithm>
#include <iterator>

namespace weft {
namespace {

/// Insertions, deletions, substitutions and swaps of neighbours that lead from a to b.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

bool is_near(const std::string& name, const std::string& candidate) {
  if (name.size() >= 2 && candidate.starts_with(name)) return true;
  const std::size_t distance = edits(name, candidate);
  const bool replaced = distance >= std::max(name.size(), candidate.size());  // no letter is left of it
  return !replaced && distance <= std::max<std::size_t>(1, name.size() / 3);
}

}  // namespace

std::vector<std::string> near_names(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> near;
  std::copy_if(names.begin(), names.end(), std::back_inserter(near),
               [&](const std::string& candidate) { return is_near(name, candidate); });
  return near;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& names) {
  const std::vector<std::string> near = near_names(name, names);
  if (near.empty()) return "";
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + near[i];
  return text + "?";
}

}  // namespace weft
