#include "launch_bounds.h"
#include "process.h"
#include "simt/abi.h"
#include "simt/simt.h"
#include "symbols.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <system_error>

namespace simt {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// Line tables let reports name lines. Contracted operations would differ from build to build. Symbols of
// inline functions are hidden, as several texts in one process each have their own.
const Words common_flags = {"-std=c++17",        "-fPIC",           "-g1",
                            "-ffp-contract=off", "-fno-gnu-unique", "-fvisibility-inlines-hidden",
                            "-Wno-attributes"};

const Words fast_flags = {"-O2", "-fwrapv"};

// A GPU's thread reads a vector by one access and does not read for its neighbours: no splitting (sra), no
// merging, no vectorising.
const Words whole_accesses = {"-O1",
                              "-fno-tree-sra",
                              "-fno-ipa-sra",
                              "-fno-tree-vectorize",
                              "-fno-tree-slp-vectorize",
                              "-fno-store-merging"};

const Words race_flags = {"-fwrapv", "-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0",
                          "--param=tsan-distinguish-volatile=1"};

// Every check becomes a call, as there is no shadow memory that inlined checks could read.
const std::string address_checks =
    "-fsanitize=address,bounds,alignment,null,object-size,signed-integer-overflow,shift-exponent,"
    "integer-divide-by-zero,pointer-overflow,unreachable,return,vla-bound";
const Words address_flags = {address_checks, "-fsanitize-sections=simt_shared",
                             "-fno-sanitize-address-use-after-scope",
                             "--param=asan-instrumentation-with-call-threshold=0", "--param=asan-stack=0"};

Words flags_of(Build build) {
  Words flags = common_flags;
  const auto add = [&](const Words& more) { flags.insert(flags.end(), more.begin(), more.end()); };
  if (build == Build::fast) {
    add(fast_flags);
  } else {
    add(whole_accesses);
    add(build == Build::race ? race_flags : address_flags);
  }
  return flags;
}

Words command_for(Build build, const std::string& compiler) {
  Words command = {compiler};
  for (const std::string& flag : flags_of(build)) command.push_back(flag);
  // What was compiled of our own headers comes first: g++ takes it if flags and versions are the same.
  if (header_folder() == SIMT_HEADER_FOLDER) command.push_back("-I" SIMT_PRECOMPILED_FOLDER);
  for (const char* folder : {"cuda", "include"})
    command.push_back("-I" + (header_folder() / folder).string());
  return command;
}

/// `extern __shared__ T name[];` becomes another name of the text's dynamic shared memory. (The macro
/// __shared__ cannot tell this from a definition.) Lines stay where they are.
std::string with_dynamic_shared(const std::string& text) {
  static const std::regex declaration(
      R"(extern\s+__shared__\s+((?:__align__\s*\([^)]*\)|alignas\s*\([^)]*\))\s+)?([\w:\s]+?)\s+(\w+)\s*\[\s*\]\s*;)");
  return std::regex_replace(text, declaration,
                            "$2 (&$3)[] = reinterpret_cast<$2 (&)[]>(::simt_dynamic_memory);");
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Failure("cannot write '" + path.string() + "'");
}

/// A folder that is removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code unusable;
    const fs::path chosen = fs::temp_directory_path(unusable), parent = unusable ? "/tmp" : chosen;
    std::string pattern = (parent / "simt-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Failure("cannot make a folder in '" + parent.string() + "': " + std::strerror(errno));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void run_compiler(const Words& command, const std::string& name) {
  const ProcessResult run = run_process(command, true);
  if (run.exit_code != 0) throw Failure("the C++ compiler rejected " + name + ":\n" + run.output);
}

}  // namespace

fs::path header_folder() {
  const char* chosen = std::getenv("SIMT_HEADERS");
  if (chosen && *chosen) return chosen;
  return fs::exists(SIMT_HEADER_FOLDER) ? SIMT_HEADER_FOLDER : SIMT_INSTALLED_HEADER_FOLDER;
}

void compile_to(const std::string& text, const CompileOptions& options, const fs::path& object) {
  const TemporaryFolder work;
  const fs::path source = work.path() / "text.cu", unlinked = work.path() / "text.o";
  std::string quoted;
  for (const char c : options.name)
    quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  std::string complete =
      "#line 1 \"" + quoted + "\"\n" + with_launch_bounds(with_dynamic_shared(text)) + "\n";
  for (const std::string& kernel : options.kernels) complete += "SIMT_EXPORT_KERNEL(" + kernel + ")\n";
  write_file(source, complete);

  Words command = command_for(options.build, options.compiler);
  // The line tables name files from the root on; those of a relative name are to be told by it.
  if (fs::path(options.name).is_relative()) {
    command.push_back("-fdebug-prefix-map=" + fs::current_path().string() + "=" + relative_root);
  }
  for (const fs::path& folder : options.includes) command.push_back("-I" + folder.string());
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  // nvcc includes it without being asked.
  command.insert(command.end(),
                 {"-include", "cuda_runtime.h", "-x", "c++", "-c", source.string(), "-o", unlinked.string()});
  run_compiler(command, options.name);
  // Linked apart and without -fsanitize, so that the sanitizers' own libraries stay out.
  Words link = {options.compiler,  "-shared", "-Wl,-z,defs",  "-Wl,-Bsymbolic",
                unlinked.string(), "-o",      object.string()};
  for (const fs::path& other : options.objects) link.push_back(other.string());
  run_compiler(link, options.name);
}

std::vector<std::string> quick_flags(Build build) {
  switch (build) {
    case Build::fast: return {"-O0"};
    case Build::race: return {"-Og"};
    // Optimizers alone know sizes of objects, and a pointer that wraps around is found once it is read through.
    case Build::address: return {"-O0", "-fno-sanitize=object-size,pointer-overflow"};
  }
  return {};
}

void precompile_headers(const fs::path& folder) {
  // g++ takes the file in the folder that was compiled with its flags. A text that includes the header once more, or with
  // other flags, finds the header itself by this one.
  const fs::path header = folder / "cuda_runtime.h", compiled = folder / "cuda_runtime.h.gch";
  fs::create_directories(compiled);
  write_file(header, "#include \"" + (header_folder() / "cuda" / "cuda_runtime.h").string() + "\"\n");
  for (const Build build : {Build::fast, Build::race, Build::address}) {
    for (const bool quick : {false, true}) {
      Words command = command_for(build, CompileOptions{}.compiler);
      if (quick)
        for (const std::string& flag : quick_flags(build)) command.push_back(flag);
      const fs::path object = compiled / (std::string(name_of(build)) + (quick ? "_quick" : ""));
      command.insert(command.end(), {"-x", "c++-header", header.string(), "-o", object.string()});
      run_compiler(command, "cuda_runtime.h");
    }
  }
}

Compiled compile(const std::string& text, const CompileOptions& options) {
  const auto folder = std::make_shared<TemporaryFolder>();
  Compiled compiled{folder->path() / "text.so", options.build, folder};
  compile_to(text, options, compiled.object);
  return compiled;
}

Compiled compile_file(const fs::path& file, CompileOptions options) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Failure("cannot read '" + file.string() + "'");
  options.name = file.string();
  options.includes.insert(options.includes.begin(), file.has_parent_path() ? file.parent_path() : ".");
  return compile(text.str(), options);
}

}  // namespace simt
