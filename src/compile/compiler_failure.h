// Why the C++ compiler failed. Emitted code is only one of the possible reasons: the machine may have no
// memory or no space left, the compiler may be installed in part, or flags that the user added may ask for
// what it cannot do. Texts of compilers tell some of these; for the others, it is tried with less: a program
// of one line, and the code without the user's flags.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <weft/error.h>

#include "compile/process.h"

namespace weft::compile {

struct FailedCompilation {
  std::vector<std::string> command;      ///< As the message shows it.
  std::vector<std::string> added_flags;  ///< The user's, among those of the command.
  ProcessResult run;
  std::filesystem::path source;
  std::filesystem::path scratch;  ///< Where attempts can leave files.
  /// Compiles the source to the object, with the user's flags or without them.
  std::function<ProcessResult(const std::filesystem::path& source, const std::filesystem::path& object,
                              bool with_added_flags)>
      compile;
};

/// What to throw, with the cause and the remedy.
Error why_it_failed(const FailedCompilation& failed);

}  // namespace weft::compile
