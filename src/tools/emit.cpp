// weft emit: the code of an application, for a user's own project.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

#include "emit/cpp.h"
#include "emit/cuda.h"
#include "lower/lower.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace weft::tools {
namespace {

struct Options {
  std::string application, target = "cpp", architecture = "sm_90", folder;
  std::vector<std::string> params;
};

void check(const Options& options) {
  if (options.target != "cpp" && options.target != "cuda")
    throw Error("nothing is emitted for '" + options.target + "'; there are cpp and cuda");
  const std::string& name = options.architecture;
  const bool is_architecture =
      name.rfind("sm_", 0) == 0 && name.size() > 4 && std::isdigit(name[3]) &&
      std::all_of(name.begin() + 3, name.end(), [](unsigned char c) { return std::isalnum(c); });
  if (!is_architecture) throw Error("'" + name + "' is no architecture; write sm_90, say");
}

std::map<std::string, std::string> emitted(const ir::Pipeline& pipeline, const Options& options) {
  const schedule::Schedule schedule = schedule::choose(pipeline);
  if (options.target == "cuda") {
    return emit::emit_cuda_for_users(lower::lower(pipeline, schedule, lower::Processor::Gpu),
                                     options.architecture);
  }
  return emit::emit_for_users(lower::lower(pipeline, schedule));
}

/// Options alone: parameters are arguments of the emitted function.
Prepared prepare_without_params(const Options& options) {
  Prepared prepared = prepare(find_application(options.application), options.params);
  if (!prepared.params.empty()) {
    throw Error("parameter '" + prepared.params.begin()->first + "' is an argument of the emitted function")
        .help("leave it out here, and give it to the function when it is called");
  }
  return prepared;
}

void emit(const Options& options) {
  check(options);
  const Prepared prepared = prepare_without_params(options);
  const ir::Pipeline pipeline = lower::prepare(prepared.built.pipeline.ir());
  const auto files = emitted(pipeline, options);
  const std::filesystem::path folder = options.folder;
  make_folder(folder);
  for (const auto& [name, text] : files) check_writable(folder / name);
  for (const auto& [name, text] : files) {
    write_text(folder / name, text);
    fmt::print("{}: {} lines\n", (folder / name).string(), std::count(text.begin(), text.end(), '\n'));
  }
}

}  // namespace

void add_emit(CLI::App& weft) {
  auto options = std::make_shared<Options>();
  CLI::App* command = weft.add_subcommand("emit", "writes an application's code, for your own project");
  command->add_option("APP", options->application, "the application")->required();
  command->add_option("--target", options->target, "cpp or cuda")->capture_default_str();
  command->add_option("--arch", options->architecture, "the GPU that CUDA is compiled for")
      ->capture_default_str();
  command->add_option("-o,--output", options->folder, "the folder for the files")->required();
  add_repeatable(*command, "--param", options->params, "NAME=VALUE: an option of the application");
  command->footer(
      "The files need neither Weft nor anything else but a C++ compiler, or CUDA's.\n"
      "Example:\n  weft emit gaussian --param size=5 --target cpp -o generated");
  command->callback([options] { emit(*options); });
}

}  // namespace weft::tools
