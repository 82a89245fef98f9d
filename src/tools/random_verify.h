// Random pipelines against the interpreter, on every pixel: draws recipes, compiles them many at a time, runs
// them both ways, and makes what fails small.
#pragma once

#include <weft/pipeline.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuzz/recipe.h"
#include "tools/sizes.h"
#include "tools/targets.h"

namespace weft::tools::recipe {

struct RandomPlan {
  std::int64_t count = 2000;
  std::uint64_t seed = 1;          ///< Of the first pipeline; the others follow.
  std::vector<tools::Size> sizes;  ///< Of images of as many dimensions; empty: drawn with each pipeline.
  /// Each pipeline runs on all of them, but of the SIMT checker's builds on one: they take turns, batch by
  /// batch.
  std::vector<RunTarget> targets = {RunTarget::Cpu};
  /// Tile::Auto: every fourth batch is not computed in tiles on the CPU, and is on the checker. If fuse is
  /// Auto, too, each pipeline runs with random groups of its stages as well.
  compile::Scheduling scheduling;
  std::vector<std::string> compiler_flags;  ///< They are added to Weft's own.
  int workers = 0;                          ///< Each compiles and runs; 0: one per core.
  std::chrono::seconds shrinking{60};       ///< Of a failure; what is not small by then is small enough.
};

struct Failure {
  enum class Kind {
    Drawing,      ///< The recipe was not legal: a mistake of the generator.
    Lowering,     ///< An exception out of the compiler.
    Compilation,  ///< The C++ compiler rejected what was emitted.
    Difference    ///< Wrong pixels, or a report of the SIMT checker.
  };
  Kind kind = Kind::Difference;
  RunTarget target = RunTarget::Cpu;
  std::uint64_t seed = 0;
  std::string message;
  std::string reproducer;  ///< A C++ file, once shrunk.
};

struct RandomTotals {
  std::int64_t pipelines = 0, runs = 0, refused = 0, pixels = 0;
  std::int64_t too_large = 0;  ///< Random groups without room in the shared memory of a block.
  std::vector<Failure> failures;
};

/// `progress` is called now and then, by one thread at a time; failures are added as they come. Code that
/// ends the process has its recipe printed on stderr.
RandomTotals verify_random(const RandomPlan& plan, const std::function<void(const RandomTotals&)>& progress);

}  // namespace weft::tools::recipe
