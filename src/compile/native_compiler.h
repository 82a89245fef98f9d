// Turns emitted C++ into functions in this process: the system's compiler makes a shared object, the cache
// keeps it, the dynamic loader brings it in. The second time, nothing is compiled and nothing spawned.
#pragma once

#include "compile/cache.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::compile {

struct CompileFlags {
  std::vector<std::string> extra;  ///< After the base flags, so they override them.
  /// How long the compiler may take; else $WEFT_COMPILE_SECONDS, else 10 minutes.
  std::optional<std::chrono::milliseconds> limit{};
  std::vector<std::string> added{};  ///< The user's, after all of Weft's; if they do harm, an error says so.
};

/// $WEFT_CXX, else the first of c++, g++, clang++ on PATH. Throws weft::Error if there is none.
std::filesystem::path find_compiler();
/// What makes a shared object of the source.
std::vector<std::string> command_line(const std::filesystem::path& compiler, const CompileFlags& flags,
                                      const std::filesystem::path& source,
                                      const std::filesystem::path& object);

/// A loaded shared object; its functions live as long as it does.
class SharedObject {
 public:
  SharedObject(SharedObject&& other) noexcept;
  SharedObject& operator=(SharedObject&& other) noexcept;
  ~SharedObject();

  /// The address of an extern "C" function.
  void* symbol(const char* name) const;
  /// Where it lies; the source it was made from is beside it, as .cpp.
  const std::filesystem::path& path() const { return path_; }

 private:
  friend class ObjectLoader;
  SharedObject(void* handle, std::filesystem::path path);

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

/// Compiles with what find_compiler() finds. The cache knows an object by its
/// source, the flags, the compiler and this CPU. A damaged object is built again.
SharedObject compile_shared(const std::string& source, const CompileFlags& flags, const ContentCache& cache);

struct Emitted {
  std::string source;
  CompileFlags flags;
};
/// Likewise of what `emit` returns, which depends on nothing but Weft and `description`. It is not called if
/// the cache has the object and remembers that it came of the description.
SharedObject compile_shared(const std::string& description, const std::function<Emitted()>& emit,
                            const ContentCache& cache);

}  // namespace weft::compile
