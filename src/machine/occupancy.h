// How many blocks of a kernel one SM holds at a time, exactly as the hardware and NVIDIA's occupancy
// calculator count it: in integers, with every granularity.
//
//     const Occupancy o = occupancy(architecture(3, 0), {.threads = 128, .registers = 40});
//     o.blocks          12
//     o.fraction()      0.75
//     o.binding()       Limit::Registers
//     to_string(o)      "12 blocks of 4 warps: 48 of 64 warps (75 %), limited by registers"
#pragma once

#include "machine/architecture.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft::machine {

/// What one block of a launch needs. All but `threads` and `dynamic_shared` are known once a kernel is
/// compiled.
struct BlockNeeds {
  int threads = 0;
  int registers = 0;  ///< Per thread.
  std::int64_t static_shared = 0, dynamic_shared = 0;
  int barriers = 1;
  int virtual_resources = 0;
  /// The shared memory asked for per SM, the rest of the unified cache being left to L1; the largest if
  /// unset.
  std::optional<std::int64_t> carve_out{};
};

enum class Limit { Warps, Registers, SharedMemory, Blocks, Barriers, VirtualResources };
constexpr std::array all_limits = {Limit::Warps,  Limit::Registers, Limit::SharedMemory,
                                   Limit::Blocks, Limit::Barriers,  Limit::VirtualResources};
std::string name_of(Limit limit);  ///< "shared memory"

struct Occupancy {
  static constexpr int unlimited = std::numeric_limits<int>::max();

  int blocks = 0;  ///< Per SM; 0 if not one block can be launched.
  int warps_per_block = 0, max_warps = 0;
  std::array<int, all_limits.size()> limits{};  ///< Blocks by each resource alone, or `unlimited`.

  int by(Limit limit) const { return limits[static_cast<std::size_t>(limit)]; }
  int warps() const { return blocks * warps_per_block; }
  double fraction() const { return static_cast<double>(warps()) / max_warps; }
  /// Those of the limits that allow no more blocks than there are.
  std::vector<Limit> all_binding() const;
  /// The first of them.
  Limit binding() const { return all_binding().front(); }
};

Occupancy occupancy(const Architecture& architecture, const BlockNeeds& needs);
std::string to_string(const Occupancy& occupancy);

}  // namespace weft::machine
