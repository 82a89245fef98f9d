// What kernels and memory of a GPU take, as far as a model of a pipeline's time needs it
// (schedule/block_costs.h).
//
//     gpu_speeds(board("h200")).launch.value     2.44e-6: seconds from one kernel to the next
#pragma once

#include "machine/board.h"

namespace weft::machine {

struct GpuSpeeds {
  Fact bytes;       ///< Per second, from or to memory, of all multiprocessors together.
  Fact again;       ///< Per second, of bytes that were read a moment before: from the second-level cache.
  Fact operations;  ///< Per second of one multiprocessor: instructions, counted per lane.
  Fact accesses;    ///< Likewise, beside operations: loads and stores of shared memory and the first-level
                    ///< cache.
  Fact divisions;   ///< Likewise: divisions, roots, exponentials.
  Fact latency;     ///< Seconds from a load to its value, from memory.
  Fact barrier;  ///< Seconds for which the threads of a block wait for one another, and what they then load.
  Fact fetch;    ///< Seconds for each instruction of a kernel's loops, in each launch.
  Fact launch;   ///< Seconds from the end of one kernel to the begin of the next on a stream,
  Fact graph_launch;  ///< and in a CUDA graph, if the next one waits for it.
  int multiprocessors;
  const Architecture* architecture;
};

/// Memory moves what a copy reaches, clocks are the highest, and a second-level cache that nobody measured is
/// twice as fast as memory. A launch that nobody measured takes as long as that of an H200.
GpuSpeeds gpu_speeds(const Board& board);

}  // namespace weft::machine
