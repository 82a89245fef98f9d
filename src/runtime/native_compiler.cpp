#include "runtime/native_compiler.h"

#include "runtime/artifact.h"
#include "runtime/process.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <dlfcn.h>

namespace weft::runtime {

namespace fs = std::filesystem;

namespace {

// Signed overflow wraps in the language, and nobody reads errno after a kernel: loops that call sqrt are
// vectorised only then. Warnings about emitted code help no user.
const std::vector<std::string> base_flags = {"-std=c++17", "-O3", "-march=native", "-fPIC", "-shared",
                                             "-fwrapv", "-fno-math-errno",
#if defined(__x86_64__)
                                             // Compilers default to half of AVX-512's width for fear of clock
                                             // frequency that newer processors no longer lose.
                                             "-mprefer-vector-width=512",
#endif
                                             "-w"};

// as-needed: a library that is named but not used would still be loaded, and slow down every start.
const std::vector<std::string> libraries = {
    "-Wl,--as-needed", "-lm",
#if defined(__x86_64__) && defined(__GLIBC__)
    "-lmvec",  // glibc's vector versions of exp, sin ...; calls to them come out of vectorised loops.
#endif
};

fs::path find_compiler() {
  const char* chosen = std::getenv("WEFT_CXX");
  if (chosen && *chosen) {
    if (const auto found = find_program(chosen)) return *found;
    throw Error("no C++ compiler found: WEFT_CXX is '" + std::string(chosen) + "', which cannot be run")
        .help("install g++ or set WEFT_CXX to a C++ compiler");
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (const auto found = find_program(name)) return *found;
  }
  throw Error("no C++ compiler found: PATH has none of c++, g++, clang++")
      .help("install g++ or set WEFT_CXX to a C++ compiler");
}

/// What -march=native depends on, as homes and caches are shared between machines. The first processor stands
/// for all; lines that change from moment to moment, such as the clock rate, are left out.
const std::string& cpu_identity() {
  static const std::string identity = [] {
    std::ifstream file("/proc/cpuinfo");
    std::string kept;
    for (std::string line; std::getline(file, line) && !line.empty();) {
      for (const char* field : {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ",
                                "isa", "uarch", "cpu\t"}) {
        if (line.rfind(field, 0) == 0) kept += line + '\n';
      }
    }
    return content_key({kept});
  }();
  return identity;
}

std::vector<std::string> command_line(const fs::path& compiler, const CompileFlags& flags,
                                      const fs::path& source, const fs::path& object) {
  std::vector<std::string> command = {compiler.string()};
  command.insert(command.end(), base_flags.begin(), base_flags.end());
  command.insert(command.end(), flags.extra.begin(), flags.extra.end());
  command.insert(command.end(), {"-o", object.string(), source.string()});
  command.insert(command.end(), libraries.begin(), libraries.end());
  return command;
}

std::string readable(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&;|<>()*?#`") == std::string::npos;
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return text;
}

Error rejection(const std::vector<std::string>& command, const std::string& output, const fs::path& source) {
  Error error("the C++ compiler rejected emitted code (a bug in Weft, please report)");
  error.note("command", readable(command));
  std::istringstream lines(output);
  std::string line;
  for (int i = 0; i < 10 && std::getline(lines, line); ++i) error.note(i == 0 ? "output" : "", line);
  error.note("source", source.string());
  return error;
}

/// Compiles into the cache. The source is written anew, whatever lies there: people edit what they look at.
fs::path build(const fs::path& compiler, const std::string& source, const CompileFlags& flags,
               const std::string& key, const ContentCache& cache) {
  const fs::path kept_source =
      cache.put(key, ".cpp", [&](const fs::path& temporary) { write_source(temporary, source); });
  return cache.put(key, ".so", [&](const fs::path& temporary) {
    const ProcessResult run = run_process(command_line(compiler, flags, kept_source, temporary), flags.limit);
    if (run.timed_out) {
      const auto seconds = std::chrono::duration<double>(*flags.limit).count();
      throw Error(fmt::format("the C++ compiler did not finish within {:g} s", seconds))
          .note("source", kept_source.string());
    }
    if (run.exit_code != 0) {
      throw rejection(command_line(compiler, flags, kept_source, cache.folder() / (key + ".so")), run.output,
                      kept_source);
    }
    seal(temporary);
  });
}

}  // namespace

/// The dynamic loader, which alone makes SharedObjects.
class ObjectLoader {
 public:
  static std::optional<SharedObject> load(const fs::path& object, std::string& reason) {
    void* handle = ::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) return SharedObject(handle, object);
    reason = ::dlerror();
    return std::nullopt;
  }
};

SharedObject compile_shared(const std::string& source, const CompileFlags& flags, const ContentCache& cache) {
  const fs::path compiler = find_compiler();
  // The command line stands for the flags, base and extra, in their order and with their borders.
  std::string options;
  for (const std::string& word : command_line({}, flags, {}, {})) options += content_key({word});
  const std::string key = content_key({source, options, identity_of(compiler), cpu_identity()});

  std::string reason;
  if (const auto cached = cache.find(key, ".so"); cached && read_sealed(*cached)) {
    if (auto object = ObjectLoader::load(*cached, reason)) return std::move(*object);
    // Whole, but not for this system, whose libraries may have changed: built anew below.
  }
  const fs::path built = build(compiler, source, flags, key, cache);
  if (auto object = ObjectLoader::load(built, reason)) return std::move(*object);
  throw Error("the compiled code cannot be loaded")
      .note("reason", reason)
      .note("source", fs::path(built).replace_extension(".cpp").string())
      .help(
          "if programs cannot be run from this folder (noexec), set WEFT_CACHE to another; "
          "otherwise this is a bug in Weft, please report");
}

SharedObject::SharedObject(void* handle, fs::path path) : handle_(handle), path_(std::move(path)) {}

SharedObject::SharedObject(SharedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

SharedObject& SharedObject::operator=(SharedObject&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

SharedObject::~SharedObject() {
  if (handle_) ::dlclose(handle_);
}

void* SharedObject::symbol(const char* name) const {
  void* address = handle_ ? ::dlsym(handle_, name) : nullptr;
  if (!address) throw InternalError("emitted code has no function '" + std::string(name) + "'");
  return address;
}

}  // namespace weft::runtime
