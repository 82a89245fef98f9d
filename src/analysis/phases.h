// Pixels of a row that read a coarser image, by their place between its pixels.
#pragma once

#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// How many neighbours, a power of two, make the pattern of what `reads` of one pixel divide along x: out(x) = in(x / 2) +
/// in((x + 1) / 2) has 2. 1 if none divides, if it were more than `most`, or if some read is at computed indices whose
/// neighbours are not known; reads at indices that x has no part in do not count.
int phase_count(const std::vector<const ir::Read*>& reads, int most);

/// Whether some read divides x, and how is known.
bool divides_x(const std::vector<const ir::Read*>& reads);

}  // namespace weft::analysis
