// What one pixel of a pipeline is made of: its value, and those of all the pixels of stages and images that
// it depends on, as the interpreter computes them, and no others:
//
//     out(x, y) = in(x - 1, y) + in(x + 1, y)      probed at (4, 2): out(4, 2), in(3, 2), in(5, 2)
#pragma once

#include <cstdint>
#include <vector>

#include "ir/bindings.h"

namespace weft::ir {

struct ProbedPixel {
  std::vector<std::int64_t> at;
  Value value;
};
struct ProbedStage {
  StagePtr stage;
  /// It reduces, scatters or evolves, so it was computed as a whole, and what it reads is not listed for it.
  bool is_whole = false;
  std::vector<ProbedPixel> pixels;  ///< In order of memory, x fastest.
};

/// That of the stage first, then those that it depends on, consumers before producers. Throws weft::Error for
/// a point outside of the stage's box, for bindings that do not fit, if there are more than `most` pixels, or
/// if whole stages take more than 32 times as many points.
std::vector<ProbedStage> probe(const Pipeline& pipeline, const Bindings& bindings, const StagePtr& stage,
                               const std::vector<std::int64_t>& at, std::int64_t most = 1 << 20);

}  // namespace weft::ir
