// Random pipelines against the interpreter, on every pixel: draws recipes, compiles them many at a time, runs
// them both ways, and makes what fails small.
#pragma once

#include <weft/pipeline.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cache.h"
#include "tools/random_recipe.h"
#include "tools/sizes.h"

namespace weft::tools::recipe {

struct RandomPlan {
  std::int64_t count = 2000;
  std::uint64_t seed = 1;              ///< Of the first pipeline; the others follow.
  std::vector<tools::Size> sizes;      ///< Of images of as many dimensions; empty: drawn with each pipeline.
  CompileOptions compile;              ///< Flags are added to Weft's own.
  int workers = 0;                     ///< Each compiles and runs; 0: one per core.
  std::chrono::seconds shrinking{60};  ///< Of a failure; what is not small by then is small enough.
};

struct Failure {
  enum class Kind {
    Drawing,      ///< The recipe was not legal: a mistake of the generator.
    Lowering,     ///< An exception out of the compiler.
    Compilation,  ///< The C++ compiler rejected what was emitted.
    Difference    ///< Wrong pixels.
  };
  Kind kind = Kind::Difference;
  std::uint64_t seed = 0;
  std::string message;
  std::string reproducer;  ///< A C++ file, once shrunk.
};

struct RandomTotals {
  std::int64_t pipelines = 0, runs = 0, refused = 0, pixels = 0;
  std::vector<Failure> failures;
};

/// `progress` is called now and then, by one thread at a time; failures are added as they come. Code that
/// ends the process has its recipe printed on stderr.
RandomTotals verify_random(const RandomPlan& plan, const std::function<void(const RandomTotals&)>& progress);

/// The flags that the pipeline of a seed is compiled with: for three of four, quick ones.
CompileOptions options_for(const RandomPlan& plan, std::uint64_t seed);

/// Runs a recipe both ways, compiled into `cache`; the first failure, if any. Goes no further than a failure
/// of the kind `last` takes.
std::optional<Failure> failure_of(Recipe& recipe, const CompileOptions& options,
                                  const runtime::ContentCache& cache,
                                  Failure::Kind last = Failure::Kind::Difference);

}  // namespace weft::tools::recipe
