// How far a run has got: whoever computes tells, another thread looks at it when it likes, and nobody waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft {

struct RunProgress {
  std::atomic<double> done{0};                  ///< The share of the run's work, from 0 to 1.
  std::atomic<std::int64_t> step{0}, steps{0};  ///< Of the evolution that runs, step from 1; steps 0: none.
};

}  // namespace weft
