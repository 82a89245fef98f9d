// Runs CUDA C++ on the CPU and watches it. A text is compiled by g++ behind headers that stand in for CUDA's,
// loaded, and called like any function; the device that it works on is played by this library, which reports
// what would be a fault on a GPU.
//
//   simt::Device device;
//   simt::Module module(device, simt::compile(text, {.build = simt::Build::race}));
//   auto blur = module.function<int(const float*, float*, int, int, void*)>("blur");
//   blur(in, out, width, height, nullptr);
//   device.synchronize();
//   for (const simt::Report& report : device.reports()) std::puts(to_string(report).c_str());
//
// A device belongs to one thread at a time. Different devices are independent.
#pragma once

#include "simt/report.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace simt {

/// The three ways to compile a text; each finds what the others cannot.
enum class Build {
  fast,     ///< Optimised. Wrong results, divergence, launch limits; threads in random order.
  race,     ///< Every access is checked for order: races, uninitialised reads. Also counts sectors and banks.
  address,  ///< Every access is checked for its place: bounds, alignment, overflow.
};

std::string_view name_of(Build build);
Build build_of(std::string_view name);  ///< Throws Failure.

/// What cannot be done at all: no compiler, a text that does not compile, a name that is not there.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CompileOptions {
  Build build = Build::fast;
  std::string name = "text.cu";                 ///< What reports and the compiler call the text.
  std::vector<std::filesystem::path> includes;  ///< Folders of the text's own headers.
  std::vector<std::string> flags;               ///< For the compiler, after ours: -DTILE=16.
  std::vector<std::filesystem::path> objects;   ///< Object files that are linked in, and not checked.
  std::vector<std::string> kernels;             ///< Those that Module::launch is to know, by their names.
  std::string compiler = "g++";
};

/// For CompileOptions::flags: a text is compiled in half the time, and runs several times as long, as those on small images
/// may. (Not -O0 for races, which are looked for in every variable that no register holds.)
std::vector<std::string> quick_flags(Build build);

/// Compiles the headers of all texts into the folder, for each build with its own flags and with quick_flags. `compile` takes
/// them from the folder that this library was built with, if there are such; that takes a tenth of a second off each text.
void precompile_headers(const std::filesystem::path& folder);

/// The folder with cuda/ and include/, the headers that texts are compiled with: $SIMT_HEADERS, else that of
/// this library's source.
std::filesystem::path header_folder();

/// Compiles into the file `object`, which `Module` loads.
void compile_to(const std::string& text, const CompileOptions& options, const std::filesystem::path& object);

/// A compiled text in a folder of its own, which goes with the last copy of this value.
struct Compiled {
  std::filesystem::path object;
  Build build = Build::fast;
  std::shared_ptr<void> keeps_folder;
};
Compiled compile(const std::string& text, const CompileOptions& options = {});
Compiled compile_file(const std::filesystem::path& file, CompileOptions options = {});

/// What an architecture allows a launch.
struct Limits {
  std::string architecture = "sm_80";
  unsigned threads_per_block = 1024;
  Dim3 block{1024, 1024, 64};
  Dim3 grid{2147483647u, 65535, 65535};
  std::size_t shared_per_block = 48 * 1024;          ///< Without asking.
  std::size_t shared_per_block_opt_in = 163 * 1024;  ///< With cudaFuncSetAttribute.
  unsigned registers_per_block = 65536;
  unsigned multiprocessors = 108;
  /// Registers per thread, by the kernel's name: ptxas knows them, this library does not.
  std::map<std::string, unsigned> registers;

  /// sm_75, sm_80, sm_86 … Throws Failure for others.
  static Limits of(std::string_view architecture);
};

struct Options {
  /// Seeds the order of lanes, warps, blocks and streams; 0 runs all of them in order.
  std::uint64_t seed = 1;
  Limits limits;
  bool count = false;                         ///< Counters (of memory in the race and address builds only).
  bool check_uninitialised = true;            ///< Reads of device memory that nobody wrote (race build).
  std::size_t most_reports = 200;             ///< Later ones are only counted.
  std::size_t memory = std::size_t{8} << 30;  ///< What the device has; allocating more fails.
};

namespace abi {
class Services;  // simt/abi.h
}
class Engine;
class Module;

/// A device: memory, streams, and what was found on it.
class Device {
 public:
  explicit Device(Options options = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// All of the host's functions, as texts call them: asynchronous copies, events, graphs …
  abi::Services& services();

  // As the host functions of the same meaning do. Errors are values of cudaError_t.
  void* allocate(std::size_t bytes);
  int release(void* address);
  int copy_to_device(void* device, const void* host, std::size_t bytes);
  int copy_to_host(void* host, const void* device, std::size_t bytes);
  void* create_stream(bool waits_for_default = false);
  int synchronize();  ///< Runs everything that was asked for so far.
  int last_error();   ///< And forgets it.

  /// What was found so far, at most one report per kind and pair of lines.
  std::vector<Report> reports() const;
  /// Adds a report for each buffer that is still allocated.
  void report_leaks();
  std::vector<KernelCounts> counts() const;
  /// Forgets reports and counters; memory and streams stay.
  void forget();

 private:
  friend class Module;
  std::unique_ptr<Engine> engine_;
};

/// A compiled text, loaded. It uses its device until it goes: the device has to live longer.
class Module {
 public:
  Module(Device& device, const Compiled& compiled);
  ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;

  /// A function of the text by its name, `extern "C"` or not; with external linkage. Throws Failure.
  void* symbol(const std::string& name) const;
  template <class Signature>
  Signature* function(const std::string& name) const {
    static_assert(std::is_function_v<Signature>);
    return reinterpret_cast<Signature*>(symbol(name));
  }
  /// Launches a kernel of CompileOptions::kernels, as a driver would: without the text's host functions.
  int launch(const std::string& kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared_bytes = 0,
             void* stream = nullptr) const;
  /// The names of all kernels that were launched or could be: functions of the text without linkage, too.
  std::vector<std::string> functions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace simt
