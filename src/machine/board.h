// Boards: how many multiprocessors of which architecture, at what clock, before what memory; and what
// streaming over that memory reaches in practice. The data is in board_facts.cpp.
//
//     const Board& b = board("rtx2080");
//     b.bandwidth()                 448: GB/s at most
//     b.copy_bandwidth()            403.2: GB/s that a copy reaches
//     b.architecture().max_warps    32
#pragma once

#include "machine/architecture.h"
#include "machine/source.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::machine {

struct Fact {
  double value = 0;
  Source source = Source::Assumed;
};

struct Memory {
  std::string_view kind;  ///< "HBM3e"
  int bus_bits = 0;
  double gigabits_per_pin = 0;  ///< Per second.
};

struct Board {
  std::string_view name{};   ///< As on the command line: "h200".
  std::string_view title{};  ///< "NVIDIA H200 SXM"
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int base_mhz = 0, boost_mhz = 0;  ///< Of the lanes; Fermi's run at twice the base clock.
  Memory memory{};
  std::int64_t l2 = 0;                 ///< Bytes.
  Source source = Source::VendorData;  ///< Of everything up to here.

  Fact copy_fraction{};  ///< Of the bandwidth, reading and writing one array each, larger than L2.
  std::optional<Fact> read_fraction{};  ///< Of the bandwidth, reading alone.
  Fact dram_latency{};                  ///< Clocks of a dependent load.
  Fact shared_latency{};                ///< Clocks of a dependent load from shared memory, as of one from L1.
  std::optional<Fact> stream_launch{};  ///< Microseconds from one kernel to the next in a stream,
  std::optional<Fact> graph_launch{};   ///< and in a graph.
  std::optional<Fact> l2_bandwidth{};   ///< GB/s.
  /// Clocks that each launch takes for each instruction of its loops, which multiprocessors fetch anew.
  Fact code_fetch{19, Source::Assumed};

  const Architecture& architecture() const { return machine::architecture(major, minor); }
  int lanes() const { return multiprocessors * architecture().fp32_lanes; }
  double bandwidth() const { return memory.bus_bits / 8.0 * memory.gigabits_per_pin; }  ///< GB/s.
  double copy_bandwidth() const { return bandwidth() * copy_fraction.value; }
  /// Billions of single-precision operations per second, a fused multiply-add being two.
  double gflops() const { return 2e-3 * lanes() * boost_mhz; }
  /// Instructions that the schedulers of all SMs can issue, counted per lane, while one byte passes the DRAM.
  double instructions_per_byte() const;
};

/// All of them, from the oldest on.
std::span<const Board> boards();
/// nullptr if there is none of that name.
const Board* find_board(std::string_view name);
/// Throws weft::Error, which lists those there are.
const Board& board(std::string_view name);
/// One of that architecture, of several the last in the list; if there is none, an H200.
const Board& board_of(const Architecture& architecture);
/// "gtx470, nvs5200m, ..."
std::string board_names();

/// What is known, one fact a line with its source.
std::string describe(const Board& board);

}  // namespace weft::machine
