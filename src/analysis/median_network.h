// The compare-exchanges that bring the median of a window to one place, such that neighbours have most of them in common.
//
//     5x5, of an even row      row 0 sorted                          of the row below it      rows 1, 2 merged \  merged
//                              rows 1, 2 sorted, merged \  merged                             rows 3, 4 merged /
//                              rows 3, 4 sorted, merged /                                     row 5 sorted
//
// Both have the four rows 1 to 4 in common, so a pair of windows merges them once, and only the middle of them: five more
// values can move the median by no more than five ranks. Each picks it from there and from its own row. Neighbours along x
// do so with columns.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::analysis {

/// The points of a window: a pixel's distances from the window's own.
using WindowPoints = std::vector<std::vector<int>>;

struct MedianNetwork {
  std::vector<std::pair<int, int>> exchanges;  ///< In order: the lesser of two goes to the first position.
  int median = 0;                              ///< The position that then has the value of rank n/2, from 0.
};

/// Of the values of a window, in positions numbered like its points, for a pixel that is computed with its neighbours along a
/// dimension, and has an even or odd number among them. Lists are merged as by Batcher (Knuth, The Art of Computer
/// Programming 3, section 5.3.4); exchanges that cannot reach the median are left out.
MedianNetwork median_network(const WindowPoints& points, int along, bool is_odd = false);

/// Minima and maxima for each pixel, rounded up, if this many neighbours along a dimension compute once what they have in
/// common. Of more than 121 values: what sorting all takes, about.
std::int64_t operations_of_medians(const WindowPoints& points, int along = 0, int neighbours = 1);

}  // namespace weft::analysis
