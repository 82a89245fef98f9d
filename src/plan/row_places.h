// Where a tile keeps rows that are not needed at the same time: rows that nothing reads any more leave their
// place to those that are computed next.
//
//     a static tile of e; b reads in, c reads b, d reads c, and e reads d:   in and c take turns, and b and d
#pragma once

#include <vector>

#include "plan/choices.h"
#include "plan/passes.h"

namespace weft::plan {

/// The number of a place for the rows of each source in `march.rolling`. Those of one place are of one scalar
/// type, and of no two of them any rows are needed at a time. Passes are those of the march. A strip that
/// marches needs most rows again in its next step; a static tile computes all rows of a pass before the next.
std::vector<int> places_of_rows(const std::vector<StageReads>& members, const March& march,
                                const std::vector<StagePass>& passes, Traversal traversal);

}  // namespace weft::plan
