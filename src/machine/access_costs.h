// What a pixel's way from memory and an operation cost in clocks, as models of latency count them: each
// access and each operation by itself, though a processor has many of them under way at a time. The benefit
// of fusing kernels is such a count (schedule/hipacc/benefit.h).
//
//     access_costs(board("gtx680")).global.value     400
#pragma once

#include "machine/board.h"

namespace weft::machine {

/// Clocks. Names as in the Hipacc thesis, section 3.4.
struct AccessCosts {
  Fact global;  ///< t_g: a pixel from global memory.
  Fact shared;  ///< t_s: a pixel from shared memory.
  Fact alu;     ///< c_ALU: an addition, a product, a comparison.
  Fact sfu;     ///< c_SFU: a division, a root, an exponential.
};

/// Latencies are the board's. c_ALU is the thesis', and a special function is as much dearer as an SM has
/// fewer lanes for it, since the thesis says no number.
AccessCosts access_costs(const Board& board);
/// A CPU has no shared memory: `shared` is its first-level cache, and `global` what the thesis takes.
AccessCosts cpu_access_costs();

}  // namespace weft::machine
