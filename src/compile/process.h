// Runs other programs: the system's C++ compiler. Never through a shell, so no name needs quoting, and never
// by fork, which would copy the page tables of a process that may hold gigabytes of images.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::compile {

struct ProcessResult {
  int exit_code = 0;       ///< 128 + n if signal n killed the program.
  std::string output;      ///< stdout and stderr, in the order in which they were written.
  bool timed_out = false;  ///< It was killed because it took longer than it may.
};

/// Variables of the environment that are other for a program than for this process.
using Environment = std::map<std::string, std::string>;

/// Runs argv[0] (see find_program) with nothing to read and waits for its end. With a limit, the program and
/// what it started in turn are killed when they take longer. They also end when this process does, even if it
/// is killed.
/// Throws weft::Error if it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv,
                          std::optional<std::chrono::milliseconds> limit = std::nullopt,
                          const Environment& environment = {});

/// The absolute path of an executable file: searched on PATH, unless the name has a slash; then it is the
/// path. Relative entries of PATH are passed over: which compiler runs must not depend on the current folder.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace weft::compile
