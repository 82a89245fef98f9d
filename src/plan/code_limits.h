// How long the code of a kernel's loops may get: the numbers that lowering measures windows, tables and coarser images
// against. They are part of the plan, so that a file can ask for others:
//
//     "code": {"window": 600, "phases": 2}
#pragma once

#include <array>
#include <map>
#include <string>

namespace weft::plan {

struct CodeLimits {
  /// Operations of a window that are straight-line code; the taps of a larger one are a loop. More takes the compiler
  /// seconds, and the instruction cache with it.
  int window = 1200;
  /// Likewise of a single pixel at a border: as few are computed, small is better than fast.
  int border = 120;
  /// Operations of the taps that one pass over a strip of pixels makes, whose accumulators stay in registers. Longer
  /// passes would leave fewer neighbours in flight, which hide the latency of taps that need the one before.
  int pass = 250;
  /// Values of a median's window that a sorting network sorts: 7x7. Of larger ones the median is selected.
  int network = 49;
  /// Pixels that are computed at a time where a coarser image is read, each by code of its own.
  int phases = 4;
  /// Bytes of a table that vectors hold in registers and pick from: in a table of 256 bytes 64 pixels are looked up at a
  /// time, not one by one (bench/results/2026-11-25-tables.md).
  int table = 2048;
  /// Planes of a volume whose first and last are worth a loop of their own.
  int planes = 64;

  bool operator==(const CodeLimits&) const = default;
};

/// The usual ones. GPUs hide what a loop over taps costs, but not a cold instruction cache.
CodeLimits usual_limits(bool is_of_blocks);

/// What a file asks for, by name.
using LimitChoices = std::map<std::string, int>;

struct CodeLimit {
  const char* name;
  int CodeLimits::*value;
  int most;  ///< That can be asked for: compilers finish even so.
};
inline constexpr std::array code_limits{
    CodeLimit{"window", &CodeLimits::window, 1 << 14}, CodeLimit{"border", &CodeLimits::border, 1 << 14},
    CodeLimit{"pass", &CodeLimits::pass, 1 << 12},     CodeLimit{"network", &CodeLimits::network, 121},
    CodeLimit{"phases", &CodeLimits::phases, 8},       CodeLimit{"table", &CodeLimits::table, 1 << 14},
    CodeLimit{"planes", &CodeLimits::planes, 1 << 16}};

/// Null if no limit has that name.
const CodeLimit* code_limit_named(const std::string& name);
/// The usual ones, but for what is asked for, under names that there are.
CodeLimits limits_with(bool is_of_blocks, const LimitChoices& asked);
/// Those that are not the usual ones.
LimitChoices unusual_of(const CodeLimits& limits, bool is_of_blocks);

}  // namespace weft::plan
