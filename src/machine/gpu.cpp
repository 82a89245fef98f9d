#include "machine/gpu.h"

namespace weft::machine {

GpuSpeeds gpu_speeds(const Board& board) {
  const Architecture& a = board.architecture();
  const double clocks = board.boost_mhz * 1e6;  // per second
  const auto lanes = [&](int count) { return Fact{count * clocks, a.source}; };
  const auto time_of = [&](const Fact& in_clocks) {
    return Fact{in_clocks.value / clocks, in_clocks.source};
  };
  constexpr Fact launch_of_others{2.44, Source::Assumed},
      graph_of_others{1.23, Source::Assumed};  // microseconds
  constexpr double l2_over_memory = 2;
  const double bytes = board.copy_bandwidth() * 1e9;
  const auto from_us = [](const Fact& in_us) { return Fact{in_us.value * 1e-6, in_us.source}; };
  GpuSpeeds speeds{};
  speeds.bytes = {bytes, board.copy_fraction.source};
  speeds.again = board.l2_bandwidth ? Fact{board.l2_bandwidth->value * 1e9, board.l2_bandwidth->source}
                                    : Fact{l2_over_memory * bytes, Source::Assumed};
  speeds.operations = lanes(a.fp32_lanes);
  speeds.accesses = lanes(a.shared_lanes);
  speeds.divisions = lanes(a.sfu_lanes);
  speeds.latency = time_of(board.dram_latency);
  speeds.barrier = time_of(board.shared_latency);
  speeds.fetch = time_of(board.code_fetch);
  speeds.launch = from_us(board.stream_launch.value_or(launch_of_others));
  speeds.graph_launch = from_us(board.graph_launch.value_or(graph_of_others));
  speeds.multiprocessors = board.multiprocessors;
  speeds.architecture = &a;
  return speeds;
}

}  // namespace weft::machine
