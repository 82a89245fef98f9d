#include "machine/occupancy.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>

#include "base/round_up.h"

namespace weft::machine {
namespace {

constexpr int unlimited = Occupancy::unlimited;

int warps_of(const Architecture& a, const BlockNeeds& needs) {
  return round_up(needs.threads, a.warp) / a.warp;
}

int limit_by_warps(const Architecture& a, const BlockNeeds& needs) {
  return needs.threads > a.max_threads_per_block ? 0 : a.max_warps / warps_of(a, needs);
}

/// A warp's registers lie in one partition. Before a launch, hardware checks as if a block's warps came in
/// multiples of the partitions, and refuses some blocks that would fit.
int limit_by_registers(const Architecture& a, const BlockNeeds& needs) {
  if (needs.registers > a.registers_per_thread) return 0;
  if (needs.registers == 0) return unlimited;
  const int per_warp = round_up(needs.registers * a.warp, a.register_granularity);
  const int warps = warps_of(a, needs);
  if (per_warp * round_up(warps, a.partitions_at_launch) > a.registers_per_block) return 0;
  const int warps_per_partition = a.registers / a.partitions / per_warp;
  return warps_per_partition * a.partitions / warps;
}

/// The shared memory an SM provides to blocks that take `block` bytes each. What was asked for counts if one
/// block fits. If not, a unified cache gives the next larger carve-out that does; Kepler gives all it has.
std::int64_t provided(const Architecture& a, const BlockNeeds& needs, std::int64_t block) {
  const auto smallest_of = [&](std::int64_t bytes) {
    const auto fits = std::lower_bound(a.carve_outs.begin(), a.carve_outs.end(), bytes);
    return fits == a.carve_outs.end() ? a.shared_memory : *fits;
  };
  const std::int64_t asked = needs.carve_out ? smallest_of(*needs.carve_out) : a.shared_memory;
  if (asked >= block) return asked;
  return a.major >= 7 ? smallest_of(block) : a.shared_memory;
}

int limit_by_shared_memory(const Architecture& a, const BlockNeeds& needs) {
  const std::int64_t own = needs.static_shared + needs.dynamic_shared;
  const std::int64_t block = round_up(own + a.reserved_shared, a.shared_granularity);
  const std::int64_t allowed =
      own <= a.static_shared_per_block ? a.static_shared_per_block : a.shared_per_block;
  if (block > allowed + a.reserved_shared) return 0;
  if (block == 0) return unlimited;
  return static_cast<int>(provided(a, needs, block) / block);
}

/// Blocks that fit where an SM has `available` of something and each needs `needed`; 0: it is not counted.
int limit_by_count(int available, int needed) {
  return available == 0 || needed == 0 ? unlimited : available / needed;
}

}  // namespace

std::string name_of(Limit limit) {
  switch (limit) {
    case Limit::Warps: return "warps";
    case Limit::Registers: return "registers";
    case Limit::SharedMemory: return "shared memory";
    case Limit::Blocks: return "blocks";
    case Limit::Barriers: return "barriers";
    case Limit::VirtualResources: return "virtual resources";
  }
  throw InternalError("a limit without a name");
}

std::vector<Limit> Occupancy::all_binding() const {
  std::vector<Limit> binding;
  for (const Limit limit : all_limits)
    if (by(limit) == blocks) binding.push_back(limit);
  return binding;
}

Occupancy occupancy(const Architecture& a, const BlockNeeds& needs) {
  if (needs.threads <= 0 || needs.registers < 0 || needs.static_shared < 0 || needs.dynamic_shared < 0)
    throw InternalError(fmt::format("occupancy of a block of {} threads", needs.threads));
  Occupancy result;
  result.warps_per_block = warps_of(a, needs);
  result.max_warps = a.max_warps;
  const auto set = [&](Limit limit, int blocks) { result.limits[static_cast<std::size_t>(limit)] = blocks; };
  set(Limit::Warps, limit_by_warps(a, needs));
  set(Limit::Registers, limit_by_registers(a, needs));
  set(Limit::SharedMemory, limit_by_shared_memory(a, needs));
  set(Limit::Blocks, a.max_blocks);
  set(Limit::Barriers, limit_by_count(a.barriers, needs.barriers));
  set(Limit::VirtualResources, limit_by_count(a.virtual_resources, needs.virtual_resources));
  result.blocks = *std::min_element(result.limits.begin(), result.limits.end());
  return result;
}

std::string to_string(const Occupancy& o) {
  if (o.blocks == 0) return fmt::format("no block fits: limited by {}", name_of(o.binding()));
  return fmt::format("{} {} of {} {}: {} of {} warps ({:.4g} %), limited by {}", o.blocks,
                     o.blocks == 1 ? "block" : "blocks", o.warps_per_block,
                     o.warps_per_block == 1 ? "warp" : "warps", o.warps(), o.max_warps, 100 * o.fraction(),
                     name_of(o.binding()));
}

}  // namespace weft::machine
