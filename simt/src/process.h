// Runs another program and collects what it prints. Never through a shell, so no name needs quoting.
#pragma once

#include <string>
#include <vector>

namespace simt {

struct ProcessResult {
  int exit_code = 0;
  std::string output;  ///< stdout and, if asked for, stderr.
};

/// Throws Failure if argv[0], looked for on PATH, cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, bool with_errors);

}  // namespace simt
