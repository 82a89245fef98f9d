// The files that `weft run` writes: which results go where, whether those files can hold them, and the
// writing.
#pragma once

#include "tools/run_job.h"
#include "tools/show.h"

namespace weft::tools {

/// Fills in where the results go and how they are shown. Throws weft::Error for files that cannot be written
/// or cannot hold their result, before the work that makes it.
void check_outputs(const RunOptions& options, Job& job);

struct Written {
  ResultPicture picture;
  std::string file;
};

/// All results are converted before the first is written.
std::map<std::string, Written> write_outputs(const Job& job, const std::map<std::string, Buffer>& results);

/// On the terminal: those results that are written, or the first one.
void show_results(const Job& job, const std::map<std::string, Buffer>& results, TerminalPictures how);

}  // namespace weft::tools
