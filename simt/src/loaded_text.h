// A compiled text in this process: where its code and variables lie, and what they are called.
#pragma once

#include "simt/abi.h"
#include "simt/simt.h"
#include "symbols.h"

#include <map>
#include <vector>

namespace simt {

/// Bytes from `begin`, which may be anywhere in memory.
struct Range {
  const char* begin = nullptr;
  std::size_t size = 0;

  bool contains(const void* address) const {
    return static_cast<std::size_t>(static_cast<const char*>(address) - begin) < size;
  }
};

class LoadedText {
 public:
  LoadedText(const Compiled& compiled, abi::Services& services);
  ~LoadedText();
  LoadedText(const LoadedText&) = delete;
  LoadedText& operator=(const LoadedText&) = delete;

  void* symbol(const std::string& name) const;
  std::string kernel_name(const void* kernel) const;
  /// The most threads of a block, by the kernel's __launch_bounds__; 0: it has none.
  unsigned launch_bound(const void* kernel) const;
  /// The shared arrays that a kernel declares itself.
  std::vector<Range> shared_arrays(const void* kernel) const;
  const Symbol* variable_at(const void* address) const { return symbols_.variable_at(relative(address)); }
  /// The global variable around the address as the address sanitizer knows it; null between two variables.
  const abi::Global* checked_global_at(const void* address) const;

  std::uintptr_t relative(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - base_;
  }
  const void* absolute(std::uintptr_t address) const {
    return reinterpret_cast<const void*>(base_ + address);
  }
  const Symbols& symbols() const { return symbols_; }
  Build build() const { return build_; }

  Range image;           ///< Everything that was loaded.
  Range writable;        ///< Its variables.
  Range shared;          ///< Those that are __shared__.
  Range dynamic_shared;  ///< Of which a block has as many bytes as its launch says.

 private:
  void find_image();

  Compiled compiled_;
  Symbols symbols_;
  Build build_;
  void* handle_ = nullptr;
  std::uintptr_t base_ = 0;
  std::map<std::uintptr_t, const abi::Global*> globals_;
};

}  // namespace simt
