// Whether an architecture can run a launch.
#pragma once

#include "simt/abi.h"
#include "simt/simt.h"

#include <optional>
#include <string>

namespace simt {

struct LaunchNeeds {
  std::string kernel;
  abi::Dim grid, block;
  unsigned launch_bound;  ///< Of threads, by __launch_bounds__; 0: none.
  std::size_t static_shared, dynamic_shared;
  std::size_t dynamic_shared_allowed;  ///< What cudaFuncSetAttribute asked for; 0: nothing.
};

struct Refusal {
  int error;         ///< A value of cudaError_t.
  std::string what;  ///< With the limit.
};

/// Blocks that a multiprocessor has room for at a time. Registers count if Limits::registers has the kernel.
unsigned blocks_at_a_time(const Limits& limits, const LaunchNeeds& needs);

std::optional<Refusal> refusal(const Limits& limits, const LaunchNeeds& needs);

}  // namespace simt
