// What a streaming multiprocessor (SM) of each compute capability holds, and in which portions it hands that
// out: the rules behind occupancy (machine/occupancy.h). From Fermi on, also those that today's CUDA no
// longer compiles for: models of older publications are reproduced with them.
//
//     architecture(9, 0).shared_memory          233472: bytes per SM of a Hopper
//     architecture_named("sm_75").max_warps     32
#pragma once

#include "machine/source.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::machine {

constexpr std::int64_t KiB = 1024;

/// Sizes are in bytes. "Per block" limits are the launch's; all others are per SM.
struct Architecture {
  int major = 0, minor = 0;    ///< The compute capability.
  std::string_view family;     ///< "Hopper"
  std::string_view chip = {};  ///< Where compilers know an architecture by a name instead.
  Source source = Source::NvidiaTables;

  int warp = 32;  ///< Threads that go together.
  int max_warps = 0;
  int max_blocks = 0;
  int max_threads_per_block = 0;

  int registers = 0;             ///< 32 bits each.
  int registers_per_block = 0;   ///< At most.
  int registers_per_thread = 0;  ///< At most; the instruction set's limit, beyond which compilers spill.
  int register_granularity = 0;  ///< A warp gets a multiple of this.
  int partitions = 0;            ///< Schedulers, each with its share of warps and registers.
  int partitions_at_launch = 0;  ///< What the check of a launch believes `partitions` to be.

  std::int64_t shared_memory = 0;            ///< With the largest carve-out.
  std::int64_t static_shared_per_block = 0;  ///< At most, without opting in to more.
  std::int64_t shared_per_block = 0;         ///< At most, dynamic and opted in.
  std::int64_t reserved_shared = 0;          ///< Taken by the driver from each block, beside the block's own.
  std::int64_t shared_granularity = 0;       ///< A block gets a multiple of this.
  std::span<const std::int64_t> carve_outs;  ///< The sizes shared memory can have, ascending.
  std::int64_t unified_cache = 0;            ///< L1 and shared memory, where they share it; else L1 alone.
  bool unified = false;                      ///< Whether they share it.

  int barriers = 0;           ///< 0: not what limits blocks.
  int virtual_resources = 0;  ///< 0: there are none.

  int fp32_lanes = 0;        ///< Single-precision operations per clock.
  int sfu_lanes = 0;         ///< Reciprocals, roots, exponentials, sines per clock.
  int shared_lanes = 0;      ///< Lanes of shared loads and of shuffles per clock; one pipe serves both.
  int clocks_per_issue = 1;  ///< Between two instructions of a scheduler.
  bool dual_issue = false;   ///< Of two independent instructions at once.

  int max_threads() const { return max_warps * warp; }
  bool has_shuffles() const { return major >= 3; }
  /// "sm_90", as compilers write it.
  std::string name() const;
};

/// All of them, ascending.
std::span<const Architecture> architectures();

/// Throws weft::Error, which lists those there are.
const Architecture& architecture(int major, int minor);
/// "sm_90", "90" or "9.0".
const Architecture& architecture_named(std::string_view name);
/// That of a name that compilers know, "sm_90a" or "sm_103": itself, or the newest that is not newer. Throws
/// weft::Error if it is no such name, or older than all.
const Architecture& closest_architecture(std::string_view name);
const Architecture& amd_architecture(std::string_view name);  ///< "gfx90a"; likewise.

}  // namespace weft::machine
