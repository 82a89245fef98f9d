// What loops and memory of a CPU take, as far as a model of a pipeline's time needs it
// (schedule/group_costs.h).
//
//     cpu_speeds().bytes.value       bytes per second that all cores together move
#pragma once

#include "machine/board.h"

namespace weft::machine {

/// Of all cores together, in vectors where there are any. What is compared are schedules on one machine, so
/// the ratios matter, not the speed.
struct CpuSpeeds {
  Fact bytes;       ///< Per second, from or to memory.
  Fact operations;  ///< Per second, on values of 4 bytes: additions and the like.
  Fact divisions;   ///< Per second, on values of 4 bytes: divisions and roots.
  Fact accesses;    ///< Per second, of 4 bytes each, to the first-level cache.
  Fact row;         ///< Seconds until the loop along a row is under way, and to end it.
  Fact kernel;      ///< Seconds to wake the cores, and to wait for the last of them.
  Fact hidden;  ///< Of the shorter of memory's time and the cores', the share that goes on behind the longer.
  int cores;    ///< That share the rows.
};

/// A server of 2023, two of its cores.
const CpuSpeeds& cpu_speeds();

}  // namespace weft::machine
