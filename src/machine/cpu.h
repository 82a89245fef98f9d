// What loops and memory of a CPU take, as far as a model of a pipeline's time needs it
// (schedule/group_costs.h).
//
//     cpu_speeds().bytes.value       bytes per second that all cores together move
#pragma once

#include "machine/board.h"

namespace weft::machine {

constexpr int vector_values = 16;  ///< Of 4 bytes, that one instruction computes: 512 bits.
/// As many times as long as in vectors take pixels of 3 lanes, two at a time: GCC 12 does not interleave them
/// (decision 0038), unless lanes lie apart.
constexpr int uneven_phases = 4;

/// Of all cores together, in vectors where there are any. What is compared are schedules on one machine, so
/// the ratios matter, not the speed.
struct CpuSpeeds {
  Fact bytes;       ///< Per second, from or to memory.
  Fact operations;  ///< Per second, on values of 4 bytes: additions and the like.
  Fact accesses;    ///< Per second, of values of 4 bytes in the first-level cache; beside operations.
  Fact divisions;   ///< Per second, on values of 4 bytes: divisions and roots.
  Fact row;         ///< Seconds of a core to begin a loop along a row, and to end it without full vectors.
  Fact line;        ///< The same of a row of a volume's plane, of a tile that goes from plane to plane.
  Fact kernel;      ///< Seconds to wake the cores, and to wait for the last of them.
  /// Of memory's time and the cores', what the shorter adds to the longer, when both are the same: its share.
  Fact exposed;
  int cores;  ///< That share the rows.
};

/// A server of 2023, two of its cores.
const CpuSpeeds& cpu_speeds();

}  // namespace weft::machine
