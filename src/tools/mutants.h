// How many faults in kernels the checks find: each mutant of an application's kernels (kernel/mutate.h) runs on the
// SIMT checker, and what it computes is compared with the interpreter.
#pragma once

#include <weft/application.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compile/scheduling.h"
#include "kernel/mutate.h"
#include "tools/compare.h"
#include "tools/sizes.h"
#include "tools/targets.h"

namespace weft::tools {

struct MutantPlan {
  std::size_t most = 0;  ///< Mutants, drawn from all; 0: all.
  std::uint64_t seed = 0;
  std::vector<Size> sizes;         ///< Empty: small ones, and such as the kernels' strips have to do with.
  std::vector<RunTarget> targets;  ///< Builds of the checker.
  compile::Scheduling scheduling;
  std::vector<std::string> params;
  Tolerance tolerance;
};

/// Who finds a mutant first. The builds of the checker have their turns one after another, each at all sizes.
enum class Finder {
  Checker,     ///< Reports a fault.
  Comparison,  ///< The result differs from the interpreter's.
  Compiler,    ///< Refuses the text.
  End,         ///< It ends the process, or never ends.
  Tolerance,   ///< Nobody, though some bits of the result are others than without the fault.
  Nobody,      ///< And the result is the same.
};
std::string name_of(Finder finder);

struct MutantResult {
  kernel::Fault fault;
  std::string kernel;
  int line = 0;               ///< Of the kernel's text, from its head on.
  std::string before, after;  ///< The lines that differ.
  Finder finder = Finder::Nobody;
  std::string how;  ///< What was reported, or differs.

  bool is_found() const { return finder != Finder::Nobody && finder != Finder::Tolerance; }
};

struct MutantScore {
  std::size_t places = 0;  ///< Faults that the kernels can have.
  std::vector<MutantResult> results;

  std::size_t found() const;
};

/// Throws weft::Error where the checks find something in the kernels as they are.
MutantScore score_mutants(const Application& application, const MutantPlan& plan,
                          const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace weft::tools
