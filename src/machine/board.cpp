#include "machine/board.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weft::machine {

double Board::instructions_per_byte() const {
  const Architecture& a = architecture();
  const int lanes_per_clock = multiprocessors * a.partitions * a.warp / a.clocks_per_issue;
  return lanes_per_clock * boost_mhz * 1e-3 / bandwidth();
}

const Board* find_board(std::string_view name) {
  const auto all = boards();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Board& b) { return b.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Board& board(std::string_view name) {
  if (const Board* found = find_board(name)) return *found;
  throw Error(fmt::format("there is no board '{}'", name)).note("known", board_names());
}

const Board& board_of(const Architecture& architecture) {
  const Board* found = nullptr;
  for (const Board& each : boards()) {
    if (each.major == architecture.major && each.minor == architecture.minor) found = &each;
  }
  return found ? *found : board("h200");
}

std::string board_names() {
  std::string names;
  for (const Board& each : boards()) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

std::string describe(const Board& b) {
  const Architecture& a = b.architecture();
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value, std::string_view source) {
    std::string row = fmt::format("  {:<15} {:<52} {}", label, value, source);
    text += row.erase(row.find_last_not_of(' ') + 1) + '\n';
  };
  const auto fact = [&](std::string_view label, const std::string& value, const Fact& f) {
    line(label, value, describe(f.source));
  };
  const auto known = [&](std::string_view label, const std::optional<Fact>& f, std::string_view unit) {
    if (f) fact(label, fmt::format("{:g} {}", f->value, unit), *f);
  };

  line("board", std::string(b.title), describe(b.source));
  line("multiprocessors", fmt::format("{} of {} ({})", b.multiprocessors, a.family, a.name()), "");
  line("clock",
       b.base_mhz == b.boost_mhz ? fmt::format("{} MHz", b.boost_mhz)
                                 : fmt::format("{} MHz, at most {} MHz", b.base_mhz, b.boost_mhz),
       "");
  line("arithmetic", fmt::format("{:.0f} GFLOP/s, single precision", b.gflops()), "");
  line("memory", fmt::format("{}, {} bits: {:.0f} GB/s", b.memory.kind, b.memory.bus_bits, b.bandwidth()),
       "");
  line("L2", fmt::format("{:g} MB", static_cast<double>(b.l2) / (KiB * KiB)), "");
  line("balance", fmt::format("{:.1f} instructions per byte", b.instructions_per_byte()), "");
  fact("copy", fmt::format("{:.0f} GB/s, {:g} %", b.copy_bandwidth(), 100 * b.copy_fraction.value),
       b.copy_fraction);
  if (b.read_fraction) {
    const double fraction = b.read_fraction->value;
    fact("read", fmt::format("{:.0f} GB/s, {:g} %", b.bandwidth() * fraction, 100 * fraction),
         *b.read_fraction);
  }
  known("L2 bandwidth", b.l2_bandwidth, "GB/s");
  known("DRAM latency", b.dram_latency, "clocks");
  known("shared latency", b.shared_latency, "clocks");
  known("code", b.code_fetch, "clocks an instruction");
  known("stream launch", b.stream_launch, "us");
  known("graph launch", b.graph_launch, "us");
  line("per SM",
       fmt::format("{} warps, {} blocks, {} registers, {} KB shared", a.max_warps, a.max_blocks, a.registers,
                   a.shared_memory / KiB),
       describe(a.source));
  return text;
}

}  // namespace weft::machine
