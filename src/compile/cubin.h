// Reads from compiled GPU code what its kernels cost, without a GPU and without the toolkit's tools: a cubin
// is an ELF file whose sections name their kernel.
//
//     for (const auto& [name, kernel] : resources_of(cubin))
//       occupancy(architecture(9, 0), needs_of(kernel, 256));
#pragma once

#include "machine/occupancy.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weft::compile {

/// As the assembler reports it; bytes of local memory and of spills are per thread.
struct KernelResources {
  int registers = 0;               ///< Per thread.
  std::int64_t static_shared = 0;  ///< Bytes of the kernel's own, without what the driver reserves.
  std::int64_t local_memory = 0;   ///< Arrays that found no registers, calls, and what was spilled.
  std::int64_t spill_stores = 0;   ///< Bytes stored by instructions that spill, each counted once,
  std::int64_t spill_loads = 0;    ///< and bytes loaded back.
  int barriers = 0;
  int max_threads = 0;   ///< Per block, from __launch_bounds__; 0 if there are none.
  int instructions = 0;  ///< In the text, without the padding after its end.

  bool spills() const { return spill_stores > 0 || spill_loads > 0; }
  bool operator==(const KernelResources&) const = default;
};

/// Of each kernel, by its (mangled) name. Throws weft::Error if these are not the bytes of a cubin for sm_70
/// or later. Spills are known from CUDA 13's assembler on; an older one's show in `local_memory` alone.
std::map<std::string, KernelResources> resources_of(std::string_view cubin);

/// What a block of a launch with so many threads takes.
machine::BlockNeeds needs_of(const KernelResources& kernel, int threads, std::int64_t dynamic_shared = 0);

}  // namespace weft::compile
