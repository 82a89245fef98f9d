#include "compile/loop_report.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <weft/error.h>

#include "compile/artifact.h"
#include "compile/process.h"
#include "compile/scratch_folder.h"

namespace weft::compile {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t indent_of(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool begins_with(const std::string& text, const std::string& part) { return text.rfind(part, 0) == 0; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- what compilers say ----

struct Remark {
  int line;
  std::string text;
};

/// "FILE:LINE:COLUMN: missed: couldn't vectorize loop", and "remark:" of clang.
std::vector<Remark> remarks_on(const std::string& file, const std::string& output) {
  std::vector<Remark> remarks;
  for (const std::string& line : lines_of(output)) {
    const std::size_t name = line.find(file + ":");
    if (name == std::string::npos || (name > 0 && line[name - 1] != '/')) continue;
    std::istringstream rest(line.substr(name + file.size()));
    char colon = 0;
    int number = 0, column = 0;
    std::string text;
    if (rest >> colon >> number >> colon >> column >> colon && std::getline(rest, text))
      remarks.push_back({number, text.substr(std::min(text.find_first_not_of(' '), text.size()))});
  }
  return remarks;
}

bool says_vectors(const std::string& text) {
  return contains(text, "optimized: loop vectorized") || contains(text, "remark: vectorized loop");
}
bool says_none(const std::string& text) {
  return contains(text, "missed: couldn't vectorize loop") ||
         (contains(text, "remark: loop not vectorized") && contains(text, "[-Rpass-missed"));
}

/// The reason in a remark, without what is around it.
std::optional<std::string> reason_in(const std::string& text) {
  for (const char* before : {"missed: not vectorized: ", "remark: loop not vectorized: "}) {
    if (!begins_with(text, before)) continue;
    const std::string reason = text.substr(std::string(before).size());
    return reason.substr(0, reason.find(" [-Rpass"));
  }
  return std::nullopt;
}

// ---- causes ----

/// C's functions that the source declares; those with vector versions, too, if they are asked for.
std::set<std::string> functions_in(const std::string& source, bool with_vectors) {
  static const std::regex declaration(R"(extern "C" (WEFT_VECTOR_MATH )?(?:float|double) (\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator i(source.begin(), source.end(), declaration), end; i != end; ++i) {
    if (with_vectors || !(*i)[1].matched) names.insert((*i)[2]);
  }
  return names;
}

/// What in the loop's text has no vector instruction, whatever the compiler.
std::string inherent_cause(const std::string& loop, const std::set<std::string>& functions) {
  static const std::regex call(R"(\b(\w+)\()"), division(R"((div|rem)_[iu]\d+|floor_div)"),
      border("(mirror|mirror101|repeat)_index"), median("median_.*");
  for (std::sregex_iterator i(loop.begin(), loop.end(), call), end; i != end; ++i) {
    const std::string name = (*i)[1];
    if (functions.count(name)) return fmt::format("it calls {}, which takes one number at a time", name);
    if (std::regex_match(name, division))
      return "it divides integers, for which there are no vector instructions";
    if (std::regex_match(name, border))
      return "it finds pixels behind borders by remainders, for which there are no vector instructions";
    if (std::regex_match(name, median)) return "it sorts the values of a large window";
  }
  return "";
}

/// What the compiler's words mean; they may be several reasons.
std::string cause_of_words(const std::string& words) {
  struct Meaning {
    const char *words, *cause;
  };
  static constexpr Meaning meanings[] = {
      {"control flow in loop", "the compiler left a branch in it"},
      {"contains a switch", "the compiler made a branch of its conditions"},
      {"gather load", "it reads at computed places what the processor cannot gather"},
      {"data ref analysis failed", "it reads at computed places what the processor cannot gather"},
      {"used outside the loop", "the compiler keeps a value of one pixel for the next"},
      {"no vectype", "it reads or writes under a condition, with pixels between that are left out"},
      {"relevant stmt not supported", "the processor has no vector instruction for one of its operations"},
  };
  static const std::regex unsupported_load(R"(relevant stmt not supported: \w+ = \*)");
  if (std::regex_search(words, unsupported_load))
    return "it reads at computed places what the processor cannot gather";
  for (const Meaning& meaning : meanings) {
    if (contains(words, meaning.words)) return meaning.cause;
  }
  return words.empty() ? "the compiler does not say why" : "";
}

std::string text_of(const std::vector<std::string>& lines, const IndependentLoop& loop) {
  std::string text;
  for (int l = loop.first; l <= loop.last; ++l) text += lines[static_cast<std::size_t>(l) - 1] + "\n";
  return text;
}

// ---- running the compiler ----

std::string said_by(const fs::path& compiler, const std::vector<std::string>& options) {
  std::vector<std::string> command = {compiler.string()};
  command.insert(command.end(), options.begin(), options.end());
  return run_process(command, {}, {{"LC_ALL", "C"}}).output;
}

/// What makes the compiler tell, and no object.
std::vector<std::string> telling_flags(const fs::path& compiler) {
  const std::string macros = said_by(compiler, {"-dM", "-E", "-x", "c++", "/dev/null"});
  if (contains(macros, "#define __clang__ "))
    return {"-S",
            "-emit-llvm",
            "-gline-tables-only",
            "-fno-caret-diagnostics",
            "-Rpass=loop-vectorize",
            "-Rpass-missed=loop-vectorize",
            "-Rpass-analysis=loop-vectorize"};
  // Most of what comes after the vectoriser is left out: it takes 40 % of the time, and nobody runs the result.
  if (contains(macros, "#define __GNUC__ "))
    return {"-S",
            "-fopt-info-vec-optimized-missed",
            "-fno-tree-slp-vectorize",
            "-fno-ivopts",
            "-fno-gcse",
            "-fno-forward-propagate",
            "-fno-rerun-cse-after-loop",
            "-fno-schedule-insns2",
            "-fno-peephole2",
            "-fira-region=one"};
  throw Error(fmt::format("'{}' is neither GCC nor clang: it cannot be asked about loops", compiler.string()))
      .help("set WEFT_CXX to g++ or clang++");
}

}  // namespace

std::vector<IndependentLoop> independent_loops(const std::string& source) {
  std::vector<IndependentLoop> loops;
  const std::vector<std::string> lines = lines_of(source);
  static const std::regex head(R"(^(?:WEFT_NOINLINE |static )?(?:void|int) (\w+)\()");
  std::string function;
  for (std::size_t l = 0; l + 1 < lines.size(); ++l) {
    std::smatch match;
    if (std::regex_search(lines[l], match, head)) function = match[1];
    if (lines[l].substr(indent_of(lines[l])) != "WEFT_INDEPENDENT") continue;
    const std::string end = std::string(indent_of(lines[l]), ' ') + "}";
    std::size_t last = l + 1;
    while (last + 1 < lines.size() && lines[last] != end) ++last;
    loops.push_back({function, static_cast<int>(l) + 2, static_cast<int>(last) + 1});
  }
  return loops;
}

std::vector<ScalarLoop> scalar_loops(const std::string& source, const std::string& file,
                                     const std::string& output) {
  const std::vector<std::string> lines = lines_of(source);
  const std::vector<Remark> remarks = remarks_on(file, output);
  std::vector<ScalarLoop> scalar;
  for (const IndependentLoop& loop : independent_loops(source)) {
    bool has_vectors = false, has_none = false;
    std::vector<std::string> reasons;
    for (const Remark& remark : remarks) {
      if (remark.line < loop.first || remark.line > loop.last) continue;
      has_vectors |= remark.line == loop.first && says_vectors(remark.text);
      has_none |= remark.line == loop.first && says_none(remark.text);
      const auto reason = reason_in(remark.text);
      if (reason && std::find(reasons.begin(), reasons.end(), *reason) == reasons.end())
        reasons.push_back(*reason);
    }
    if (has_vectors || !has_none) continue;
    std::string words;
    for (const std::string& reason : reasons) words += (words.empty() ? "" : "; ") + reason;
    const std::string inherent =
        inherent_cause(text_of(lines, loop), functions_in(source, contains(words, "call instruction")));
    scalar.push_back({loop.function, loop.first, inherent.empty() ? cause_of_words(words) : inherent, words,
                      !inherent.empty()});
  }
  return scalar;
}

LoopReport report_on_loops(const std::map<std::string, std::string>& files, const CompileFlags& flags,
                           const fs::path& compiler) {
  CompileFlags telling = flags;
  for (const std::string& flag : telling_flags(compiler)) telling.added.push_back(flag);

  const ScratchFolder scratch(folder_of_temporary_files(), "weft-loops-");
  const std::string version = said_by(compiler, {"--version"});
  LoopReport report{version.substr(0, version.find('\n')), 0, {}};
  for (const auto& [name, text] : files) write_source(scratch.path() / name, text);
  for (const auto& [name, text] : files) {
    if (fs::path(name).extension() != ".cpp") continue;
    const ProcessResult run =
        run_process(command_line(compiler, telling, scratch.path() / name, "/dev/null"), flags.limit,
                    {{"TMPDIR", scratch.path().string()}, {"LC_ALL", "C"}});
    if (run.exit_code != 0)
      throw Error("the C++ compiler fails when it is asked about loops").note("output", run.output);
    report.independent += static_cast<int>(independent_loops(text).size());
    for (ScalarLoop& loop : scalar_loops(text, name, run.output)) report.scalar.push_back(std::move(loop));
  }
  return report;
}

}  // namespace weft::compile
