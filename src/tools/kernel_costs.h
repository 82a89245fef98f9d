// What the kernels of a pipeline take of a GPU that need not be here: read from the code that NVRTC makes for
// it.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compile/cubin.h"
#include "compile/device_compiler.h"
#include "kernel/ir.h"
#include "machine/architecture.h"
#include "machine/occupancy.h"

namespace weft::tools {

/// What was decided about a kernel's blocks; no compiler is needed to know it.
struct KernelBlock {
  std::string kernel;
  std::array<int, 3> block{};
  int registers = 0;  ///< Per thread, estimated: rather too many.
  std::string why;    ///< A sentence.
};
/// In the order of the module, which is for a GPU.
std::vector<KernelBlock> kernel_blocks(const kernel::Module& module);

struct KernelCost {
  std::string kernel;
  int threads = 0;  ///< Per block.
  compile::KernelResources resources;
  machine::Occupancy occupancy;
  /// The pixels that a thread computes each time it runs through the text, if all loops are divided among
  /// threads or unrolled; else 0.
  int pixels_per_pass = 0;
};

/// In the order of the module, which is for a GPU. Throws weft::Error if the compiler does not know the
/// architecture.
std::vector<KernelCost> kernel_costs(const kernel::Module& module, const machine::Architecture& architecture,
                                     const compile::DeviceCompiler& compiler);

/// What `weft explain` says of them.
struct KernelReport {
  std::vector<KernelBlock> blocks;
  std::vector<KernelCost> costs;
  std::string compiler;  ///< "NVRTC 13.0"
  std::string missing;   ///< Why there are no costs; else empty.

  std::string text() const;  ///< Tables; a line for that of the costs, if they are missing.
  nlohmann::ordered_json json() const;
};
/// Without NVRTC, or with one that does not know the architecture, the report says so.
KernelReport report_on_kernels(const kernel::Module& module, const machine::Architecture& architecture);

}  // namespace weft::tools
