// The subcommands of `weft`. Each function adds one to the parser; its work runs as the parser's callback.
// Mistakes are thrown as weft::Error, and main() turns them into a message and exit code 2.
#pragma once

#include "tools/parser.h"

namespace weft::tools {

void add_list(Parser& weft);
void add_run(Parser& weft);
void add_explain(Parser& weft);
void add_emit(Parser& weft);
/// A mismatch sets `exit_code` to 1.
void add_verify(Parser& weft, int& exit_code);
void add_bench(Parser& weft);
void add_tune(Parser& weft);
void add_draw(Parser& weft);

/// What goes on is shown on a terminal unless this is given.
inline void add_quiet(Command command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet, "no progress, and no word of the files that are written");
}

}  // namespace weft::tools
