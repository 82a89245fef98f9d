// A library that is loaded when it is first needed, and may not be there.
#pragma once

#include <filesystem>

namespace weft::compile {

class DynamicLibrary {
 public:
  /// It stays loaded for the rest of the process: such libraries leave handlers for its end.
  explicit DynamicLibrary(const std::filesystem::path& path);
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  bool loaded() const { return handle_; }

  /// Whether the library has a function of that name; if so, it is put into `function`.
  template <class Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(symbol(name));
    return function;
  }

  std::filesystem::path path() const;  ///< Where the loader found it.

 private:
  void* symbol(const char* name) const;

  void* handle_;
};

}  // namespace weft::compile
