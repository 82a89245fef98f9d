#include "compile/native_compiler.h"

#include "base/environment.h"
#include "compile/artifact.h"
#include "compile/compiler_failure.h"
#include "compile/known_objects.h"
#include "compile/process.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <dlfcn.h>

namespace weft::compile {

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

// as-needed: a library that is named but not used would still be loaded, and slow down every start. Emitted code uses
// nothing of C++'s library, and finding that out takes two thirds of the time of linking.
const std::vector<std::string> libraries = {
    "-nodefaultlibs",
    "-Wl,--as-needed",
    "-lm",
#if defined(__x86_64__) && defined(__GLIBC__)
    "-lmvec",  // glibc's vector versions of exp, sin ...; calls to them come out of vectorised loops.
#endif
    "-lc",
    "-lgcc"};

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

struct Limit {
  std::chrono::milliseconds time;
  bool is_of_user;  ///< And not a caller's, which the environment does not change.
};

Limit limit_of(const CompileFlags& flags) {
  if (flags.limit) return {*flags.limit, false};
  constexpr std::int64_t usual = 600, most = 1'000'000;
  const auto seconds = number_of_environment("WEFT_COMPILE_SECONDS", "seconds", most);
  return {std::chrono::seconds(seconds.value_or(usual)), true};
}

Error too_slow(const Limit& limit, const fs::path& source) {
  Error error(fmt::format("the C++ compiler did not finish within {:g} s",
                          std::chrono::duration<double>(limit.time).count()));
  error.note("source", source.string());
  if (limit.is_of_user) error.help("WEFT_COMPILE_SECONDS gives it longer: 600 unless set");
  return error;
}

bool is_written(const fs::path& object) {
  std::error_code missing;
  return fs::file_size(object, missing) > 0 && !missing;
}

/// Compiles into the cache. The source is written anew, whatever lies there: people edit what they look at.
fs::path build(const fs::path& compiler, const std::string& source, const CompileFlags& flags,
               const std::string& key, const ContentCache& cache) {
  const Limit limit = limit_of(flags);
  const fs::path kept_source =
      cache.put(key, ".cpp", [&](const fs::path& temporary) { write_source(temporary, source); });
  return cache.put(key, ".so", [&](const fs::path& object) {
    // What the compiler needs for a moment lies beside the object, and is removed with it, whatever happens.
    // Its messages are looked at, so they have to be in English.
    const fs::path scratch = object.parent_path();
    const auto compile = [&](const fs::path& from, const fs::path& to, bool with_added_flags) {
      CompileFlags used = flags;
      if (!with_added_flags) used.added.clear();
      return run_process(command_line(compiler, used, from, to), limit.time,
                         {{"TMPDIR", scratch.string()}, {"LC_ALL", "C"}});
    };
    const ProcessResult run = compile(kept_source, object, true);
    if (run.timed_out) throw too_slow(limit, kept_source);
    if (run.exit_code != 0) {
      throw why_it_failed({command_line(compiler, flags, kept_source, cache.folder() / (key + ".so")),
                           flags.added, run, kept_source, scratch, compile});
    }
    if (!is_written(object)) {
      throw Error("the C++ compiler '" + compiler.string() + "' says that it succeeded, but wrote nothing")
          .help("set WEFT_CXX to a C++ compiler");
    }
    seal(object);
  });
}

}  // namespace

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

namespace {

/// Clang would keep what one pixel reads at x + 1 in a register for the next, and then makes no vectors of the loop.
bool is_clang(const fs::path& compiler) {
  std::error_code missing;
  return fs::canonical(compiler, missing).filename().string().find("clang") != std::string::npos;
}

}  // namespace

std::vector<std::string> command_line(const fs::path& compiler, const CompileFlags& flags,
                                      const fs::path& source, const fs::path& object) {
  std::vector<std::string> command = {compiler.string()};
  command.insert(command.end(), base_flags.begin(), base_flags.end());
  if (is_clang(compiler)) command.insert(command.end(), {"-mllvm", "-enable-load-in-loop-pre=false"});
  for (const auto* list : {&flags.extra, &flags.added})
    command.insert(command.end(), list->begin(), list->end());
  command.insert(command.end(), {"-o", object.string(), source.string()});
  command.insert(command.end(), libraries.begin(), libraries.end());
  return command;
}

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

namespace {

/// What an object depends on beside its source and the flags.
struct Surroundings {
  fs::path compiler = find_compiler();
  std::string identity = identity_of(compiler);  ///< Of the compiler.
};

std::string key_of(const std::string& source, const CompileFlags& flags, const Surroundings& surroundings) {
  // The command line stands for the flags, base and extra, in their order and with their borders.
  std::string options;
  for (const std::string& word : command_line({}, flags, {}, {})) options += content_key({word});
  return content_key({source, options, surroundings.identity, cpu_identity()});
}

/// The cached object, unless it was damaged, or is not for this system, whose libraries may have changed.
std::optional<SharedObject> loaded(const std::string& key, const ContentCache& cache) {
  std::string reason;
  const auto cached = cache.find(key, ".so");
  if (!cached || !read_sealed(*cached)) return std::nullopt;
  return ObjectLoader::load(*cached, reason);
}

SharedObject loaded_or_built(const std::string& key, const std::string& source, const CompileFlags& flags,
                             const Surroundings& surroundings, const ContentCache& cache) {
  if (auto object = loaded(key, cache)) return std::move(*object);
  std::string reason;
  const fs::path built = build(surroundings.compiler, source, flags, key, cache);
  if (auto object = ObjectLoader::load(built, reason)) return std::move(*object);
  throw Error("the compiled code cannot be loaded")
      .note("reason", reason)
      .note("source", fs::path(built).replace_extension(".cpp").string())
      .help(
          "if programs cannot be run from this folder (noexec), set WEFT_CACHE to another; "
          "otherwise this is a bug in Weft, please report");
}

}  // namespace

SharedObject compile_shared(const std::string& source, const CompileFlags& flags, const ContentCache& cache) {
  const Surroundings surroundings;
  return loaded_or_built(key_of(source, flags, surroundings), source, flags, surroundings, cache);
}

SharedObject compile_shared(const std::string& description, const std::function<Emitted()>& emit,
                            const ContentCache& cache) {
  const Surroundings surroundings;
  const std::string question = content_key({description, surroundings.identity, cpu_identity()});
  if (const auto known = known_object(cache, question)) {
    if (auto object = loaded(*known, cache)) return std::move(*object);
  }
  const auto [source, flags] = emit();
  const std::string key = key_of(source, flags, surroundings);
  SharedObject object = loaded_or_built(key, source, flags, surroundings, cache);
  remember_object(cache, question, key);
  return object;
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

}  // namespace weft::compile
