// The passes of a march: which of its members one loop along a row computes, and in which order.
//
//     xx = dx * dx, gxx = blur(xx), sum = gxx + gyy        dx xx yy | gxx gyy sum: dx, gxx and gyy are values
#pragma once

#include <set>
#include <vector>

#include "plan/march.h"

namespace weft::plan {

/// Members that one loop along a row computes, pixel by pixel.
using StagePass = std::vector<const ir::Stage*>;

/// The passes over the rows of each step, in order. Members of one pass need the same columns of the same
/// row; of them only those in `values` are read in it, at the pixel itself: there they are values of the
/// loop.
std::vector<StagePass> passes_of(const std::vector<StageReads>& members, const March& march,
                                 const std::set<const ir::Stage*>& values = {});

/// Which of the candidates, stages that are read at the reader's pixel alone, are read in their own pass
/// alone, so that no row of theirs has to be kept.
std::set<const ir::Stage*> values_of_passes(const std::vector<StageReads>& members, const March& march,
                                            std::set<const ir::Stage*> candidates);

}  // namespace weft::plan
