#include "compile/nvrtc.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "compile/dynamic_library.h"

namespace weft::compile {

namespace fs = std::filesystem;

/// Declared here as in nvrtc.h, which a toolkit would have to provide. Status 0 is success.
struct Nvrtc::Functions {
  using Program = void*;

  const char* (*error_text)(int status);
  int (*version)(int* major, int* minor);
  int (*number_of_architectures)(int* count);
  int (*architectures)(int* list);
  int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names);
  int (*destroy)(Program* program);
  int (*compile)(Program program, int count, const char* const* options);
  int (*log_size)(Program program, std::size_t* bytes);
  int (*log)(Program program, char* text);
  int (*cubin_size)(Program program, std::size_t* bytes);
  int (*cubin)(Program program, char* bytes);

  /// Throws what goes wrong for reasons other than the source.
  void check(int status, const char* what) const {
    if (status != 0) throw Error(fmt::format("NVRTC failed to {}: {}", what, error_text(status)));
  }
};

namespace {

constexpr int rejected_options = 5, rejected_source = 6;

constexpr const char* names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

}  // namespace

std::vector<fs::path> Nvrtc::candidates() {
  std::vector<fs::path> all;
  const auto add_folder = [&](const fs::path& folder) {
    for (const char* name : names) all.push_back(folder / name);
  };
  // What the user names goes before what happens to be installed.
  const char* chosen = std::getenv("CUDA_PATH");
  if (chosen && *chosen) add_folder(fs::path(chosen) / "lib64");
  add_folder("");
  add_folder("/usr/local/cuda/lib64");
  return all;
}

Nvrtc::Nvrtc(const std::vector<fs::path>& libraries) {
  Error error("no CUDA compiler found: NVRTC, a library of the CUDA toolkit, cannot be loaded");
  for (const fs::path& candidate : libraries) {
    const DynamicLibrary library(candidate);
    Functions f{};
    if (library.loaded() && library.find("nvrtcGetErrorString", f.error_text) &&
        library.find("nvrtcVersion", f.version) &&
        library.find("nvrtcGetNumSupportedArchs", f.number_of_architectures) &&
        library.find("nvrtcGetSupportedArchs", f.architectures) &&
        library.find("nvrtcCreateProgram", f.create) && library.find("nvrtcDestroyProgram", f.destroy) &&
        library.find("nvrtcCompileProgram", f.compile) &&
        library.find("nvrtcGetProgramLogSize", f.log_size) && library.find("nvrtcGetProgramLog", f.log) &&
        library.find("nvrtcGetCUBINSize", f.cubin_size) && library.find("nvrtcGetCUBIN", f.cubin)) {
      path_ = library.path();
      functions_ = std::make_shared<Functions>(f);
      return;
    }
    error.note(&candidate == &libraries.front() ? "tried" : "", candidate.string());
  }
  throw error.help("install the CUDA toolkit, 12 or later, or set CUDA_PATH to its folder");
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  functions().check(functions().version(&major, &minor), "tell its version");
  return fmt::format("{}.{}", major, minor);
}

int Nvrtc::major_version() const {
  int major = 0, minor = 0;
  functions().check(functions().version(&major, &minor), "tell its version");
  return major;
}

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  functions().check(functions().number_of_architectures(&count), "count its architectures");
  std::vector<int> list(static_cast<std::size_t>(count));
  functions().check(functions().architectures(list.data()), "list its architectures");
  return list;
}

Nvrtc::Result Nvrtc::compile(const std::string& source, const std::string& name,
                             const std::vector<std::string>& options) const {
  const Functions& f = functions();
  Functions::Program program = nullptr;
  f.check(f.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr), "take a program");
  const auto destroy = [&f](Functions::Program* p) { f.destroy(p); };
  const std::unique_ptr<Functions::Program, decltype(destroy)> owner(&program, destroy);

  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  const int status = f.compile(program, static_cast<int>(words.size()), words.data());

  /// Sizes count the zero at the end of texts.
  const auto fetch = [&](auto size_of, auto get, const char* what) {
    std::size_t bytes = 0;
    f.check(size_of(program, &bytes), what);
    std::string text(bytes, '\0');
    if (bytes > 0) f.check(get(program, text.data()), what);
    return text;
  };
  Result result;
  result.log = fetch(f.log_size, f.log, "return its log");
  while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n'))
    result.log.pop_back();
  // Neither the source nor the options are at fault: memory is, say, or a part of the toolkit that is
  // missing.
  if (status != 0 && status != rejected_options && status != rejected_source) {
    Error error(fmt::format("NVRTC failed to compile: {}", f.error_text(status)));
    throw result.log.empty() ? error : error.note("output", result.log);
  }
  if (status != 0 && result.log.empty()) result.log = f.error_text(status);
  result.compiled = status == 0;
  if (result.compiled) result.cubin = fetch(f.cubin_size, f.cubin, "return the code");
  return result;
}

}  // namespace weft::compile
