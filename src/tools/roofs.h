// How long each kernel of a pipeline takes of a board at least, and what it is bound by: the longest of
//
//     memory     bytes of the arrays that it reads and writes, each once / what a copy reaches
//     issue      SASS instructions / what the schedulers issue
//     warps      clocks of a warp that waits for nothing but its own results on the chip (compile/sass.h) / warps at a time
//     accesses   loads, stores and shuffles, in passes of 4 bytes a lane / lanes of that pipe; L1 and shared memory
//     float      single-precision instructions / lanes
//     special    divisions, roots, exponentials, conversions / lanes
//     latency    rounds of blocks * loads that wait for one another in each * latency under load
//
// and the time of its launch. Instructions are those of compiled code (tools/sass_counts.h), of a tile of the run with the rows
// that it computes anew, so no GPU is needed. An H100 took 1.3 times as long in the median of 65 applications, 2.7 at most
// (bench/results/2026-11-26-h100.md). A kernel whose second bound is near the first will not reach it: bounds overlap only
// as far as there is other work to do meanwhile.
//
// That is what a kernel takes at least. Each launch fetches the code of its loops anew, from the second-level cache, and warps wait for it:
// on an H100 19 clocks an instruction, 10 us for 1,000 instructions. So what is expected of a kernel is its launch, the longest
// of its bounds, with three quarters of its latency, and that (bench/results/2026-11-28-code-of-kernels.md).
//
// A pipeline's later runs are CUDA graphs (runtime/cuda_graph.h), in which independent kernels run at the same time. A graph
// takes at least as long as its longest chain of dependent kernels. Nor is it faster than memory is for the bytes of all
// kernels together, or than issue, accesses, float and special are for all their instructions.
//
// Latency under load is twice that of memory at rest (plan/block_costs.h). A warp that loads P rows ahead waits for memory in
// each P rows, and twice (study of marching strips by hand, in which 28 KB of loads under way on each multiprocessor fill
// the memory of an H200); other blocks wait in each batch, and threads without batches once.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/device_compiler.h"
#include "ir/bindings.h"
#include "kernel/ir.h"
#include "machine/board.h"
#include "plan/plan.h"

namespace weft::tools {

struct Roof {
  std::string_view what;
  double seconds = 0;
};

struct KernelRoofs {
  std::string kernel;
  std::int64_t launches = 0;
  std::vector<Roof> roofs;  ///< Of all launches, in the order above.
  double launching = 0;     ///< Seconds.
  double fetching = 0;      ///< Likewise, for code.
  std::optional<double> model =
      {};  ///< Likewise, of one launch: what the model that chooses plans expects of its plan.

  std::vector<Roof> longest_first() const;
  double seconds() const { return longest_first().front().seconds + launching; }
  double expected() const;  ///< Seconds.
};

struct PipelineRoofs {
  std::string size, compiler;  ///< The latter with the architecture, if that is not the board's.
  std::vector<KernelRoofs> kernels;
  double bytes = 0;                     ///< Of all images and results, each once,
  double floor = 0;                     ///< and seconds to copy them, in one launch.
  std::optional<double> as_graph = {};  ///< Seconds, of several launches.

  double seconds() const;
  double expected() const;
  std::string text() const;
  nlohmann::ordered_json json() const;
};

/// `plans` are those that the module was lowered from. For a board whose architecture the compiler knows no more, code
/// is that for the oldest that it knows; throws weft::Error if it does not know it yet.
PipelineRoofs roofs_of(const kernel::Module& module, const ir::Pipeline& pipeline,
                       const std::vector<plan::KernelPlan>& plans, const ir::Sizes& sizes,
                       const std::map<std::string, double>& params, const machine::Board& board,
                       const compile::DeviceCompiler& compiler);

}  // namespace weft::tools
