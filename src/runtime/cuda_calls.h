// What a run asks a GPU to do, with everything that it takes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "runtime/cuda_driver.h"

namespace weft::runtime {

struct KernelCall {
  void* function;
  std::array<unsigned, 3> blocks, threads;
  std::vector<std::array<std::byte, 8>> arguments;

  /// As the driver takes them; valid as long as the arguments are where they are.
  std::vector<void*> pointers();
  bool operator==(const KernelCall&) const = default;
};
/// With zeros.
struct FillCall {
  void* memory;
  std::size_t bytes;
  bool operator==(const FillCall&) const = default;
};

struct CudaCall {
  std::variant<KernelCall, FillCall> what;
  std::vector<const void*> reads, writes;  ///< Where the memory begins, in the same order in each run.
  std::string failure;  ///< Begins the message if the driver refuses: "kernel 'blur' cannot be launched".
};

/// Throws weft::Error if the driver refuses.
void queue(CudaCall& call, const CudaDriver& driver, void* stream);

}  // namespace weft::runtime
