// Times how long applications take to be ready when their code is in the cache, and what that leaves out:
//
//     warm_start                              the six benchmarks
//     warm_start sobel night --runs 50        some
//
// Each application has two processes: the first fills the cache, the second is timed. Milliseconds.
#include <fmt/format.h>
#include <weft/error.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "compile/scheduling.h"
#include "emit/cpp.h"
#include "lower/lower.h"
#include "tools/arguments.h"
#include "tools/subject.h"

namespace weft {
namespace {

const std::vector<std::string> benchmarks = {"harris_corner", "unsharp_mask",      "camera_pipe",
                                             "pyramid_blend", "multiscale_interp", "bilateral_grid"};

template <class Work>
double milliseconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void time(const std::string& name, std::int64_t runs) {
  const Application& application = tools::find_application(name);
  CompileOptions options;
  options.target = Target::Cpu;
  std::vector<double> definition, compile, schedule, lower, emit;
  for (std::int64_t run = 0; run < runs; ++run) {
    std::optional<Pipeline> pipeline;
    std::optional<Program> program;  // it ends outside of what is timed
    definition.push_back(milliseconds_of([&] { pipeline = build(application).pipeline; }));
    compile.push_back(milliseconds_of([&] { program = pipeline->compile(options); }));
    // What compile() does when the cache does not remember the pipeline.
    std::optional<compile::Scheduled> scheduled;
    kernel::Module module;
    schedule.push_back(
        milliseconds_of([&] { scheduled = compile::scheduled(pipeline->ir(), target::Processor::Cpu); }));
    lower.push_back(milliseconds_of([&] {
      module = lower::lower(scheduled->pipeline, scheduled->schedule.kernels, target::Processor::Cpu,
                            schedule::to_text(scheduled->schedule));
    }));
    emit.push_back(milliseconds_of([&] { emit::emit_for_loading(module); }));
  }
  using tools::median;
  fmt::print("{:<18} {:>10.2f} {:>8.2f} {:>8.2f} {:>10.2f} {:>8.2f} {:>8.2f}\n", name, median(definition),
             compile.front(), median(compile), median(schedule), median(lower), median(emit));
  std::fflush(stdout);
}

/// Runs the work in a process of its own.
template <class Work>
void apart(const Work& work) {
  const pid_t process = ::fork();
  if (process < 0) throw Error("no process can be started");
  if (process == 0) {
    try {
      work();
      ::_exit(0);
    } catch (const std::exception& error) {
      fmt::print(stderr, "warm_start: {}\n", error.what());
      ::_exit(2);
    }
  }
  int status = 0;
  if (::waitpid(process, &status, 0) != process || status != 0) throw Error("a process failed");
}

void run(int argc, char** argv) {
  std::int64_t runs = 20;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--runs" && i + 1 < argc)
      runs = tools::parse_count("--runs", argv[++i]);
    else
      names.emplace_back(argv[i]);
  }
  if (names.empty()) names = benchmarks;
  fmt::print("{:<18} {:>10} {:>17} {:>28}\n", "", "", "compile", "left out");
  fmt::print("{:<18} {:>10} {:>8} {:>8} {:>10} {:>8} {:>8}\n", "application", "definition", "first", "median",
             "schedule", "lower", "emit");
  std::fflush(stdout);
  for (const std::string& name : names) {
    apart([&] {
      CompileOptions options;
      options.target = Target::Cpu;
      build(tools::find_application(name)).pipeline.compile(options);
    });
    apart([&] { time(name, runs); });
  }
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  try {
    weft::run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "warm_start: {}\n", error.what());
    return 2;
  }
}
