// The subcommands of `weft`. Each function adds one to the parser; its work runs as the parser's callback.
// Mistakes are thrown as weft::Error, and main() turns them into a message and exit code 2.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace weft::tools {

void add_list(CLI::App& weft);
void add_run(CLI::App& weft);
void add_explain(CLI::App& weft);
void add_emit(CLI::App& weft);
/// A mismatch sets `exit_code` to 1.
void add_verify(CLI::App& weft, int& exit_code);
void add_bench(CLI::App& weft);
void add_tune(CLI::App& weft);
void add_draw(CLI::App& weft);

/// An option that takes one value each time it is given.
inline CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                                   std::vector<std::string>& values, const std::string& help) {
  return command.add_option(name, values, help)->allow_extra_args(false);
}

/// What goes on is shown on a terminal unless this is given.
inline void add_quiet(CLI::App& command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet, "no progress, and no word of the files that are written");
}

}  // namespace weft::tools
