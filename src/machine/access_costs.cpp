#include "machine/access_costs.h"

namespace weft::machine {
namespace {

/// The Hipacc thesis, section 3.5.2: the numbers of its example.
constexpr Fact thesis_global = {400, Source::Papers};
constexpr Fact thesis_alu = {4, Source::Papers};

}  // namespace

AccessCosts access_costs(const Board& board) {
  const Architecture& a = board.architecture();
  const double lanes_per_special_lane = static_cast<double>(a.fp32_lanes) / a.sfu_lanes;
  return {board.dram_latency, board.shared_latency, thesis_alu,
          Fact{thesis_alu.value * lanes_per_special_lane, Source::Assumed}};
}

AccessCosts cpu_access_costs() {
  // Of today's x86 cores: a load that hits, and between the latencies of a division and of an exponential.
  return {thesis_global, Fact{4, Source::Assumed}, thesis_alu, Fact{16, Source::Assumed}};
}

}  // namespace weft::machine
