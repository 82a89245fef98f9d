// Pixels of a row, or a column, that read a coarser image, by their place between its pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// Along a dimension the pixels rate * step + first, by the number of the step.
struct InSteps {
  std::int64_t rate, first;
};
/// A form of the coordinates as one of numbers of steps: in the first dimensions, as many as there are `steps`.
ir::Affine in_steps(const ir::Affine& a, const std::vector<InSteps>& steps);

/// How many neighbours along a dimension, a power of two, make the pattern of what `reads` of one pixel divide: out(x) =
/// in(x / 2) + in((x + 1) / 2) has 2. 1 if none divides, if it were more than `most`, or if some read is at computed indices
/// whose neighbours are not known; reads at indices that the coordinate has no part in do not count.
int phase_count(const std::vector<const ir::Read*>& reads, int most, int dim = 0);

/// Whether some read divides x, and how is known.
bool divides_x(const std::vector<const ir::Read*>& reads);

}  // namespace weft::analysis
