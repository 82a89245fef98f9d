// The command line of `weft`, and of every program that links weft::main.
#pragma once

namespace weft::tools {

/// Runs a command and returns the exit code: 0, 1 for results that differ, 2 for a user's mistake (with one
/// message on stderr), 3 for a defect of Weft.
int run_command_line(int argc, const char* const* argv);

}  // namespace weft::tools
