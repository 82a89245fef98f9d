// How far a run of a module has got, found from its launches, which follow one another. A launch's share of
// the work is that of the pixels it touches: those of the arrays that it reads and writes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_progress.h"
#include "ir/bindings.h"
#include "kernel/ir.h"

namespace weft::runtime {

class LaunchProgress {
 public:
  /// Of a run of `pipeline`, which `module` was lowered from. Starts from 0.
  LaunchProgress(const kernel::Module& module, const ir::Pipeline& pipeline, const ir::Bindings& bindings,
                 RunProgress& progress);

  /// The next launch begins; it has this number of iterations.
  void begin(std::int64_t iterations);
  /// More of its iterations are done. Any thread may say so.
  void advance(std::int64_t iterations);
  void end();

 private:
  /// Of an evolution: those before, those that a time takes, and all. None of other launches.
  struct Steps {
    std::int64_t before = 0, at_once = 0, all = 0;
  };
  /// Launches that are repeated, one round after another.
  struct Turns {
    std::vector<double> shares;  ///< Of one round.
    std::int64_t times;
    Steps steps;
  };

  RunProgress& progress_;
  std::vector<Turns> turns_;
  std::size_t turn_ = 0, launch_ = 0;  ///< The launch that runs, or the next one.
  std::int64_t time_ = 0;
  double finished_ = 0;       ///< The share of the launches before.
  double per_iteration_ = 0;  ///< Of the launch that runs; 0 if nobody would see it.
};

}  // namespace weft::runtime
