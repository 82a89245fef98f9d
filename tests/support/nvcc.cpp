#include "tests/support/nvcc.h"

#include <chrono>
#include <cstdlib>

#include "compile/process.h"
#include "target/dialect.h"

namespace weft::testing_support {

namespace fs = std::filesystem;

std::optional<fs::path> find_nvcc() {
  if (const auto found = compile::find_program("nvcc")) return found;
  const char* chosen = std::getenv("CUDA_PATH");
  for (const fs::path& toolkit : {fs::path(chosen ? chosen : ""), fs::path("/usr/local/cuda")}) {
    if (toolkit.empty()) continue;
    if (const auto found = compile::find_program((toolkit / "bin" / "nvcc").string())) return found;
  }
  return std::nullopt;
}

NvccRun compile_with_nvcc(const fs::path& source, const fs::path& product, const NvccOptions& options) {
  std::vector<std::string> command = {find_nvcc().value().string(), "-std=c++17",
                                      "-arch=" + options.architecture, options.object ? "-c" : "-cubin"};
  for (std::string& word : target::float_option_words(target::cuda(), options.strict))
    command.push_back(std::move(word));
  command.insert(command.end(), {"-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings"});
  command.insert(command.end(), options.extra.begin(), options.extra.end());
  command.insert(command.end(), {"-o", product.string(), source.string()});

  NvccRun run;
  for (const std::string& word : command) run.command += (run.command.empty() ? "" : " ") + word;
  constexpr std::chrono::minutes limit(5);  // for one that hangs
  const compile::ProcessResult result = compile::run_process(command, limit);
  run.exit_code = result.exit_code;
  run.output = result.output;
  return run;
}

}  // namespace weft::testing_support
