#include "analysis/median_network.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace weft::analysis {
namespace {

using Positions = std::vector<int>;  // in the order of their values
using Exchanges = std::vector<std::pair<int, int>>;

/// Every other one, from the first or the second on.
Positions every_other(const Positions& sorted, std::size_t first) {
  Positions chosen;
  for (std::size_t i = first; i < sorted.size(); i += 2) chosen.push_back(sorted[i]);
  return chosen;
}

Positions merged(const Positions& a, const Positions& b, Exchanges& network) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  if (a.size() == 1 && b.size() == 1) {
    network.emplace_back(a[0], b[0]);
    return {a[0], b[0]};
  }
  const Positions even = merged(every_other(a, 0), every_other(b, 0), network),
                  odd = merged(every_other(a, 1), every_other(b, 1), network);
  Positions all{even[0]};
  for (std::size_t i = 0; i < std::max(odd.size(), even.size() - 1); ++i) {
    if (i < odd.size() && i + 1 < even.size()) network.emplace_back(odd[i], even[i + 1]);
    if (i < odd.size()) all.push_back(odd[i]);
    if (i + 1 < even.size()) all.push_back(even[i + 1]);
  }
  return all;
}

Positions sorted(const Positions& all, Exchanges& network) {
  if (all.size() < 2) return all;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  const Positions first = sorted({all.begin(), middle}, network),
                  second = sorted({middle, all.end()}, network);
  return merged(first, second, network);
}

/// The position of the value of a rank in two sorted lists, which is the minimum of max(a[i], b[rank - i - 1]) over all i. Rank 2
/// of 1 4 and 2 3: min(max(1, 3), max(4, 2)) = 3.
int selected(const Positions& a, const Positions& b, int rank, Exchanges& network) {
  Positions candidates;
  for (int of_a = 0; of_a <= std::min<int>(rank + 1, static_cast<int>(a.size())); ++of_a) {
    const int of_b = rank + 1 - of_a;
    if (of_b > static_cast<int>(b.size())) continue;
    if (of_a > 0 && of_b > 0) network.emplace_back(a[of_a - 1], b[of_b - 1]);
    candidates.push_back(of_b > 0 ? b[of_b - 1] : a[of_a - 1]);
  }
  while (candidates.size() > 1) {
    Positions less;
    for (std::size_t i = 0; i < candidates.size(); i += 2) {
      if (i + 1 < candidates.size()) network.emplace_back(candidates[i], candidates[i + 1]);
      less.push_back(candidates[i]);
    }
    candidates = std::move(less);
  }
  return candidates.at(0);
}

/// Points with the same coordinate there.
std::vector<Positions> lists_along(const WindowPoints& points, int dim) {
  std::map<int, Positions> lists;
  for (std::size_t p = 0; p < points.size(); ++p) lists[points[p].at(dim)].push_back(static_cast<int>(p));
  std::vector<Positions> all;
  for (auto& [at, list] : lists) all.push_back(std::move(list));
  return all;
}

/// Without exchanges that the value at a position does not depend on.
Exchanges pruned(const Exchanges& network, int position, std::size_t values) {
  std::vector<bool> is_needed(values, false);
  is_needed.at(position) = true;
  Exchanges kept;
  for (auto exchange = network.rbegin(); exchange != network.rend(); ++exchange) {
    const auto& [lesser, greater] = *exchange;
    if (!is_needed[lesser] && !is_needed[greater]) continue;
    is_needed[lesser] = is_needed[greater] = true;
    kept.push_back(*exchange);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace

MedianNetwork median_network(const WindowPoints& points, int along, bool is_odd) {
  MedianNetwork network;
  std::vector<Positions> lists = lists_along(points, along);
  for (Positions& list : lists) list = sorted(list, network.exchanges);
  Positions own;
  if (lists.size() > 1 && lists.size() % 2 == 1) {
    const auto list = is_odd ? lists.end() - 1 : lists.begin();
    own = std::move(*list);
    lists.erase(list);
  }
  while (lists.size() > 1) {
    std::vector<Positions> fewer;
    for (std::size_t i = 0; i < lists.size(); i += 2)
      fewer.push_back(i + 1 < lists.size() ? merged(lists[i], lists[i + 1], network.exchanges) : lists[i]);
    lists = std::move(fewer);
  }
  const Positions& common = lists.at(0);
  const int rank = static_cast<int>(points.size() / 2),
            least = std::max(rank - static_cast<int>(own.size()), 0);
  const Positions middle(common.begin() + least,
                         common.begin() + std::min<int>(rank + 1, static_cast<int>(common.size())));
  network.median = selected(own, middle, rank - least, network.exchanges);
  network.exchanges = pruned(network.exchanges, network.median, points.size());
  return network;
}

std::int64_t operations_of_medians(const WindowPoints& points, int along, int neighbours) {
  constexpr std::size_t most_counted = 121;
  if (points.size() > most_counted) {
    const std::int64_t values = static_cast<std::int64_t>(points.size()),
                       log = std::bit_width(points.size() - 1);
    return values * log * (log + 1) / 2;  // in each of log * (log + 1) / 2 turns half as many exchanges
  }
  // Values by number: loads come first in each row, then results, each after what it is made of.
  std::map<std::vector<int>, int> loads;
  std::map<std::tuple<bool, int, int>, int> results;  // whether it is the greater, and of what
  std::vector<std::pair<int, int>> made_of;           // (-1, -1) of loads
  std::vector<bool> is_needed;
  const auto number = [&](auto& known, const auto& what, std::pair<int, int> of) {
    const auto [entry, is_new] = known.try_emplace(what, static_cast<int>(made_of.size()));
    if (is_new) made_of.push_back(of), is_needed.push_back(false);
    return entry->second;
  };
  for (int neighbour = 0; neighbour < neighbours; ++neighbour) {
    std::vector<int> at;
    for (std::vector<int> point : points) {
      point.at(along) += neighbour;
      at.push_back(number(loads, point, {-1, -1}));
    }
    const MedianNetwork network = median_network(points, along, neighbour % 2 != 0);
    for (const auto& [i, j] : network.exchanges) {
      const std::pair<int, int> of = std::minmax(at[i], at[j]);
      at[i] = number(results, std::tuple(false, of.first, of.second), of);
      at[j] = number(results, std::tuple(true, of.first, of.second), of);
    }
    is_needed[at[network.median]] = true;
  }
  std::int64_t count = 0;
  for (std::size_t v = made_of.size(); v-- > 0;) {
    if (!is_needed[v] || made_of[v].first < 0) continue;
    is_needed[made_of[v].first] = is_needed[made_of[v].second] = true;
    ++count;
  }
  return (count + neighbours - 1) / neighbours;
}

}  // namespace weft::analysis
