#include "lower/median_network.h"

#include <algorithm>

namespace weft::lower {

std::vector<std::pair<int, int>> median_network(int n) {
  std::vector<std::pair<int, int>> network;
  int top = 1;
  while (top * 2 < n) top *= 2;
  if (n < 2) top = 0;
  for (int p = top; p > 0; p /= 2) {
    for (int q = top, r = 0, d = p; d > 0; d = q - p, q /= 2, r = p) {
      for (int i = 0; i + d < n; ++i) {
        if ((i & p) == r) network.emplace_back(i, i + d);
      }
      if (q == p) break;
    }
  }
  std::vector<bool> needed(n, false);
  if (n > 0) needed[n / 2] = true;
  std::vector<std::pair<int, int>> kept;
  for (auto pair = network.rbegin(); pair != network.rend(); ++pair) {
    if (!needed[pair->first] && !needed[pair->second]) continue;
    needed[pair->first] = needed[pair->second] = true;
    kept.push_back(*pair);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace weft::lower
