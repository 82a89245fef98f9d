// Occupancy against NVIDIA's own calculator, on random blocks over all architectures that it still knows.
#include "machine/occupancy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#ifdef WEFT_HAS_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

namespace weft::machine {
namespace {

#ifdef WEFT_HAS_CUDA_OCCUPANCY

cudaOccDeviceProp device_of(const Architecture& a) {
  cudaOccDeviceProp device;
  device.computeMajor = a.major;
  device.computeMinor = a.minor;
  device.maxThreadsPerBlock = a.max_threads_per_block;
  device.maxThreadsPerMultiprocessor = a.max_threads();
  device.regsPerBlock = a.registers_per_block;
  device.regsPerMultiprocessor = a.registers;
  device.warpSize = a.warp;
  device.sharedMemPerBlock = static_cast<std::size_t>(a.static_shared_per_block);
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(a.shared_memory);
  device.numSms = 1;
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(a.shared_per_block);
  device.reservedSharedMemPerBlock = static_cast<std::size_t>(a.reserved_shared);
  return device;
}

cudaOccFuncAttributes kernel_of(const BlockNeeds& needs) {
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = needs.registers;
  kernel.sharedSizeBytes = static_cast<std::size_t>(needs.static_shared);
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = static_cast<std::size_t>(needs.dynamic_shared);
  kernel.numBlockBarriers = needs.barriers;
  kernel.virtualResourceCount = needs.virtual_resources;
  return kernel;
}

/// Carve-outs are asked for in percent there; on Kepler, as one of three preferences.
struct CarveOut {
  cudaOccDeviceState state;
  std::optional<std::int64_t> bytes;
};

class RandomBlocks {
 public:
  explicit RandomBlocks(unsigned seed) : random_(seed) {}

  const Architecture& architecture() {
    const auto all = architectures();
    for (;;) {
      const Architecture& a = all[static_cast<std::size_t>(number(0, static_cast<int>(all.size()) - 1))];
      if (a.major >= 3) return a;  // NVIDIA's header has forgotten Fermi.
    }
  }

  BlockNeeds needs(const Architecture& a) {
    BlockNeeds needs;
    needs.threads = one_in(2) ? a.warp * number(1, 33) : number(1, 1100);
    // The header lets 3.0 have as many registers as its successors, though no compiler hands out more
    // than 63.
    needs.registers = number(0, a.registers_per_thread);
    needs.static_shared = one_in(3) ? 0 : number(0, static_cast<int>(a.static_shared_per_block));
    // Mostly small, as small blocks have the most cases, and beyond what is allowed at times.
    const auto most = static_cast<int>(a.shared_per_block);
    needs.dynamic_shared = one_in(2) ? 0 : number(0, one_in(2) ? most / 16 : most + 2048);
    needs.barriers = one_in(2) ? 1 : number(0, 16);
    needs.virtual_resources = one_in(2) ? 0 : number(0, 140);
    return needs;
  }

  CarveOut carve_out(const Architecture& a) {
    CarveOut result;
    if (one_in(2)) return result;
    if (a.major >= 7) {
      result.state.carveoutConfig = number(0, 100);
      result.bytes = result.state.carveoutConfig * a.shared_memory / 100;
    } else if (a.major == 3) {
      constexpr cudaOccCacheConfig preferences[] = {CACHE_PREFER_L1, CACHE_PREFER_EQUAL, CACHE_PREFER_SHARED};
      const auto chosen = static_cast<std::size_t>(number(0, 2));
      result.state.cacheConfig = preferences[chosen];
      result.bytes = a.carve_outs[chosen];
    }
    return result;
  }

 private:
  int number(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
  bool one_in(int n) { return number(1, n) == 1; }

  std::mt19937 random_;
};

std::string text_of(const Architecture& a, const BlockNeeds& n) {
  return fmt::format("{}: {} threads, {} registers, {} + {} bytes, carve-out {}, {} barriers, {} resources",
                     a.name(), n.threads, n.registers, n.static_shared, n.dynamic_shared,
                     n.carve_out.value_or(-1), n.barriers, n.virtual_resources);
}

unsigned bit_of(Limit limit) {
  switch (limit) {
    case Limit::Warps: return OCC_LIMIT_WARPS;
    case Limit::Registers: return OCC_LIMIT_REGISTERS;
    case Limit::SharedMemory: return OCC_LIMIT_SHARED_MEMORY;
    case Limit::Blocks: return OCC_LIMIT_BLOCKS;
    case Limit::Barriers: return OCC_LIMIT_BARRIERS;
    case Limit::VirtualResources: return OCC_LIMIT_VIRTUAL_RESOURCES;
  }
  return 0;
}

unsigned binding_bits(const Occupancy& o) {
  unsigned bits = 0;
  for (const Limit limit : o.all_binding()) bits |= bit_of(limit);
  return bits;
}

TEST(OccupancyHeader, AgreesOnRandomBlocks) {
  constexpr unsigned seed = 20260701;
  RecordProperty("seed", static_cast<int>(seed));
  RandomBlocks random(seed);
  int launchable = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Architecture& a = random.architecture();
    BlockNeeds needs = random.needs(a);
    const CarveOut carve_out = random.carve_out(a);
    needs.carve_out = carve_out.bytes;

    const cudaOccDeviceProp device = device_of(a);
    const cudaOccFuncAttributes kernel = kernel_of(needs);
    cudaOccResult expected;
    ASSERT_EQ(
        cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &device, &kernel, &carve_out.state, needs.threads,
                                                static_cast<std::size_t>(needs.dynamic_shared)),
        CUDA_OCC_SUCCESS)
        << text_of(a, needs);

    const Occupancy got = occupancy(a, needs);
    const std::string which = fmt::format("seed {}, block {}, {}", seed, i, text_of(a, needs));
    ASSERT_EQ(got.blocks, expected.activeBlocksPerMultiprocessor) << which;
    ASSERT_EQ(got.by(Limit::Warps), expected.blockLimitWarps) << which;
    ASSERT_EQ(got.by(Limit::Registers), expected.blockLimitRegs) << which;
    ASSERT_EQ(got.by(Limit::SharedMemory), expected.blockLimitSharedMem) << which;
    ASSERT_EQ(got.by(Limit::Blocks), expected.blockLimitBlocks) << which;
    ASSERT_EQ(got.by(Limit::Barriers), expected.blockLimitBarriers) << which;
    ASSERT_EQ(got.by(Limit::VirtualResources), expected.blockLimitVirtual) << which;
    // Where barriers bind, the header also names what would bind without them.
    ASSERT_EQ(binding_bits(got) & ~expected.limitingFactors, 0u) << which;
    launchable += got.blocks > 0;
  }
  // Else the comparison would be about little but zeros.
  EXPECT_GT(launchable, 30'000);
}

#else

TEST(OccupancyHeader, AgreesOnRandomBlocks) {
  GTEST_SKIP()
      << "cuda_occupancy.h was not found when the build was configured: install the CUDA toolkit, or set "
         "CUDA_PATH, and configure again";
}

#endif

}  // namespace
}  // namespace weft::machine
