#include "compile/compiler_failure.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <initializer_list>
#include <sstream>

namespace weft::compile {
namespace {

namespace fs = std::filesystem;

/// With all that a compilation needs: the headers of emitted code, the assembler, the linker, libraries.
constexpr const char* least_program =
    "#include <stddef.h>\n#include <stdint.h>\n"
    "extern \"C\" double exp(double);\nextern \"C\" double answer(double x) { return exp(x); }\n";

std::string readable(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&;|<>()*?#`") == std::string::npos;
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return text;
}

bool contains_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

Error with_details(const std::string& message, const FailedCompilation& failed, const std::string& output) {
  Error error(message);
  error.note("command", readable(failed.command));
  std::istringstream lines(output);
  std::string line;
  for (int i = 0; i < 10 && std::getline(lines, line); ++i) error.note(i == 0 ? "output" : "", line);
  error.note("source", failed.source.string());
  return error;
}

bool lacks_memory(const ProcessResult& run) {
  return run.exit_code == 128 + SIGKILL ||
         contains_any(run.output, {"Killed signal", "Killed (program", "command: Killed", "out of memory",
                                   "memory exhausted", "Cannot allocate memory", "std::bad_alloc"});
}

}  // namespace

Error why_it_failed(const FailedCompilation& failed) {
  const ProcessResult& run = failed.run;
  const auto says = [&](const std::string& message) { return with_details(message, failed, run.output); };
  if (lacks_memory(run))
    return says("the C++ compiler was killed, or found too little memory")
        .help("end other programs, or compile fewer pipelines at a time");
  if (contains_any(run.output, {"No space left on device", "Disk quota exceeded"}))
    return says("no space is left for what the C++ compiler writes to '" +
                failed.scratch.parent_path().string() + "'")
        .help("free some, or set WEFT_CACHE to a folder on another disk");
  if (run.exit_code > 128)
    return says("the C++ compiler was ended by signal " + std::to_string(run.exit_code - 128))
        .help("try again; if it happens again, set WEFT_CXX to another compiler");
  if (contains_any(run.output, {"internal compiler error", "PLEASE submit a bug report"}))
    return says("the C++ compiler crashed").help("set WEFT_CXX to another compiler, or a newer one");

  const fs::path program = failed.scratch / "least.cpp", object = failed.scratch / "least.so";
  std::ofstream(program) << least_program;
  const ProcessResult least = failed.compile(program, object, false);
  if (least.exit_code != 0)
    return with_details("the C++ compiler does not work: it does not compile a program of one line either",
                        failed, least.output)
        .help("install g++ with all that belongs to it, or set WEFT_CXX to another compiler");
  const auto is_fine_without_flags = [&] {
    return failed.compile(failed.source, object, false).exit_code == 0;
  };
  if (!failed.added_flags.empty() &&
      (failed.compile(program, object, true).exit_code != 0 || is_fine_without_flags()))
    return says("the C++ compiler rejected emitted code because of the flags that were added: " +
                readable(failed.added_flags))
        .help("leave out of CompileOptions::compiler_flags what it complains about");
  return says("the C++ compiler rejected emitted code (a bug in Weft, please report)");
}

}  // namespace weft::compile
