// simt-check: compiles a .cu file, runs its `main`-like host function, and prints what the checker found.
#include "simt/simt.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

namespace {

constexpr int found_something = 1, cannot_run = 2;

struct Request {
  std::filesystem::path file;
  std::vector<std::string> builds{"fast", "race", "address"};
  std::string function = "simt_main", architecture = "sm_80";
  std::vector<std::string> flags;
  std::vector<std::filesystem::path> objects;
  std::vector<std::uint64_t> seeds{1};
  bool count = false, leaks = false;
};

/// The number of reports.
std::size_t check(const Request& request, simt::Build build, std::uint64_t seed,
                  const simt::Compiled& compiled) {
  simt::Options options;
  options.seed = seed;
  options.limits = simt::Limits::of(request.architecture);
  options.count = request.count;
  simt::Device device(options);
  const simt::Module module(device, compiled);
  const int result = module.function<int()>(request.function)();
  const int error = device.synchronize();
  if (request.leaks) device.report_leaks();

  const auto reports = device.reports();
  for (const simt::Report& report : reports) fmt::print("{}", to_string(report));
  fmt::print("{} {} (seed {}): {} reports, result {}, error {}\n", request.file.string(), name_of(build),
             seed, reports.size(), result, error);
  if (request.count) fmt::print("{}", to_json(device.counts()));
  return reports.size() + (result != 0) + (error != 0);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Runs a CUDA C++ file on the CPU and reports what would be a fault on a GPU.\n"
      "The file needs a host function `extern \"C\" int simt_main()` that returns 0 if all is well.",
      "simt-check");
  Request request;
  CLI::Option* file = app.add_option("file", request.file, "a .cu file");
  app.add_option("--build", request.builds, "fast, race or address; all of them if not given")
      ->check(CLI::IsMember({"fast", "race", "address"}));
  app.add_option("--function", request.function, "the host function to call")->capture_default_str();
  app.add_option("--arch", request.architecture, "whose limits hold for launches")->capture_default_str();
  app.add_option("--seed", request.seeds, "orders to run in; 0 is the order of the text")
      ->capture_default_str();
  app.add_option("--flag", request.flags, "for the compiler, such as --flag=-DTILE=16");
  app.add_option("--link", request.objects, "an object file that is linked in, and not checked");
  app.add_flag("--count", request.count, "print counters per kernel and line, as JSON");
  app.add_flag("--leaks", request.leaks, "report buffers that are never released");
  std::filesystem::path precompiled;
  app.add_option("--precompile", precompiled,
                 "compile the checker's headers into this folder, and nothing else")
      ->excludes(file);
  CLI11_PARSE(app, argc, argv);

  try {
    if (!precompiled.empty()) return simt::precompile_headers(precompiled), 0;
    if (request.file.empty()) throw simt::Failure("which file? Say simt-check FILE");
    std::size_t faults = 0;
    for (const std::string& name : request.builds) {
      simt::CompileOptions options;
      options.build = simt::build_of(name);
      options.flags = request.flags;
      options.objects = request.objects;
      for (const std::uint64_t seed : request.seeds) {
        faults += check(request, options.build, seed, simt::compile_file(request.file, options));
      }
    }
    return faults ? found_something : 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "simt-check: error: {}\n", failure.what());
    return cannot_run;
  }
}
