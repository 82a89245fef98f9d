#include "compile/device_compiler.h"

#include "compile/artifact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "target/dialect.h"

namespace weft::compile {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> options_of(const DeviceFlags& flags) {
  std::vector<std::string> options = {"--std=c++17", "--gpu-architecture=" + flags.architecture};
  for (std::string& word : target::float_option_words(target::cuda(), flags.strict))
    options.push_back(std::move(word));
  options.insert(options.end(), flags.extra.begin(), flags.extra.end());
  return options;
}

/// The number in "sm_90"; "sm_90a", with the features of one chip, is compiled by whoever knows sm_90.
int number_in(const std::string& architecture) {
  const bool named = architecture.rfind("sm_", 0) == 0;
  int number = 0;
  for (std::size_t i = 3; named && i < architecture.size() && std::isdigit(architecture[i]); ++i)
    number = 10 * number + (architecture[i] - '0');
  return number;
}

void check_architecture(const Nvrtc& nvrtc, const std::string& architecture) {
  const std::vector<int> known = nvrtc.architectures();
  if (std::find(known.begin(), known.end(), number_in(architecture)) != known.end()) return;
  throw Error(fmt::format("CUDA {} does not compile for {}", nvrtc.version(), architecture))
      .note("known", fmt::format("sm_{}", fmt::join(known, ", sm_")));
}

Error rejection(const Nvrtc& nvrtc, const std::vector<std::string>& options, const std::string& log,
                const fs::path& source) {
  Error error("the CUDA compiler rejected emitted code (a bug in Weft, please report)");
  error.note("compiler", fmt::format("NVRTC {}, {}", nvrtc.version(), nvrtc.path().string()));
  error.note("options", fmt::format("{}", fmt::join(options, " ")));
  std::istringstream lines(log);
  std::string line;
  for (int i = 0; i < 10 && std::getline(lines, line); ++i) error.note(i == 0 ? "output" : "", line);
  error.note("source", source.string());
  return error;
}

}  // namespace

DeviceCode DeviceCompiler::compile(const std::string& source, const DeviceFlags& flags,
                                   const ContentCache& cache) const {
  const std::vector<std::string> options = options_of(flags);
  std::string all_options;
  for (const std::string& word : options) all_options += content_key({word});
  const std::string key = content_key({source, all_options, identity_of(nvrtc_.path())});

  if (const auto cached = cache.find(key, ".cubin"))
    if (auto cubin = read_sealed(*cached)) return {std::move(*cubin), *cached};

  check_architecture(nvrtc_, flags.architecture);
  const fs::path kept_source =
      cache.put(key, ".cu", [&](const fs::path& temporary) { write_source(temporary, source); });
  Nvrtc::Result result = nvrtc_.compile(source, kept_source.filename().string(), options);
  if (!result.compiled) throw rejection(nvrtc_, options, result.log, kept_source);
  const fs::path path =
      cache.put(key, ".cubin", [&](const fs::path& temporary) { write_sealed(temporary, result.cubin); });
  return {std::move(result.cubin), path};
}

}  // namespace weft::compile
