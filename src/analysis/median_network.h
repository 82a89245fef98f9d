// The compare-exchanges that bring the median of n values to its place.
#pragma once

#include <utility>
#include <vector>

namespace weft::lower {

/// Pairs (i, j), i < j, in order: after ordering each, position n/2 holds the element of rank n/2. This is
/// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, Algorithm 5.2.2M) without the
/// exchanges that cannot reach position n/2.
std::vector<std::pair<int, int>> median_network(int n);

}  // namespace weft::lower
