// AMD's GPUs, by the names of LLVM's targets, from memory of vendor data and of LLVM's guide to them. A warp
// is what AMD calls a wave: of 64 lanes in GCN and CDNA, of 32 in RDNA. A multiprocessor is a compute unit
// there, and here a pair of them, which share the work of a block.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <array>
#include <vector>

#include "machine/architecture.h"

namespace weft::machine {
namespace {

constexpr std::int64_t lds_of_a_unit[] = {64 * KiB};
constexpr std::int64_t lds_of_two_units[] = {128 * KiB};

Architecture gcn(std::string_view chip, std::string_view family) {
  Architecture a;
  a.major = 9, a.family = family, a.chip = chip, a.source = Source::VendorData;
  a.warp = 64, a.max_warps = 40, a.max_blocks = 16, a.max_threads_per_block = 1024;
  a.registers = a.registers_per_block = 64 * 1024;
  a.registers_per_thread = 256, a.register_granularity = 4 * 64;
  a.partitions = a.partitions_at_launch = 4;
  a.shared_memory = a.static_shared_per_block = a.shared_per_block = 64 * KiB;
  a.shared_granularity = 512, a.carve_outs = lds_of_a_unit;
  a.unified_cache = 16 * KiB;
  a.fp32_lanes = 64, a.sfu_lanes = 16, a.shared_lanes = 32;
  return a;
}

/// With as many registers again, which GCN's successor had for matrices alone.
Architecture cdna(std::string_view chip) {
  Architecture a = gcn(chip, "CDNA");
  a.max_warps = 32;
  a.registers = a.registers_per_block = 128 * 1024;
  a.registers_per_thread = 512, a.register_granularity = 8 * 64;
  return a;
}

Architecture rdna(std::string_view chip, int major, int registers_per_lane, int granularity) {
  Architecture a = gcn(chip, "RDNA");
  a.major = major, a.warp = 32, a.max_warps = 64, a.max_blocks = 32;
  a.registers = a.registers_per_block = 4 * 32 * registers_per_lane;
  a.register_granularity = granularity * 32;
  a.shared_memory = 128 * KiB, a.carve_outs = lds_of_two_units;
  a.unified_cache = 32 * KiB;
  a.fp32_lanes = 128, a.sfu_lanes = 32, a.shared_lanes = 64;
  return a;
}

}  // namespace

const Architecture& amd_architecture(std::string_view name) {
  static const std::array all = {gcn("gfx906", "GCN"),
                                 gcn("gfx908", "CDNA"),
                                 cdna("gfx90a"),
                                 cdna("gfx942"),
                                 rdna("gfx1030", 10, 1024, 16),
                                 rdna("gfx1100", 11, 1536, 24),
                                 rdna("gfx1201", 12, 1536, 24)};
  std::vector<std::string_view> names;
  for (const Architecture& each : all) {
    if (each.chip == name) return each;
    names.push_back(each.chip);
  }
  throw Error(fmt::format("there is no architecture '{}'", name))
      .note("known", fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace weft::machine
