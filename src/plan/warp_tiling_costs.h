// The cost function of "Model-Based Warp Overlapped Tiling for Image Processing Programs on GPUs" (Jangda, Guha; Algorithm
// 2): what a kernel in overlapped tiles costs by its traffic, its occupancy and what it leaves unused. No time: a weighted
// sum, to compare kernels of a GPU with each other.
//
//     a blur in tiles of 16 points a thread, blocks of 64x4 threads, on a GTX 1080 Ti
//     16,448 bytes of shared memory a block, so 5 blocks of 8 warps: 62.5 % of 64 warps
//     half of the tile in registers: 8,224 bytes, 32 registers instead of 24, 99.9 %
//
// The text of the algorithm does not give the numbers of the paper's section 3 where it scales the buffer twice (lines 10
// and 11), leaves out the size of an element (9), and divides in the wrong order (25); here it does.
#pragma once

#include <array>
#include <vector>

#include "machine/board.h"
#include "plan/tiles.h"

namespace weft::plan {

/// Points along x, y, z.
using Points = std::array<int, 3>;

/// How the threads of a warp lie within a block (section 4): along x as far as the block goes.
Points warp_sizes(const Points& block);

/// Of one kernel, what the algorithm takes.
struct WarpTiling {
  Points tile = {1, 1, 1};    ///< Points that each thread computes.
  Points block = {32, 1, 1};  ///< Threads.
  struct Buffer {
    int bytes = 4;               ///< Of an element.
    Points overlap = {0, 0, 0};  ///< Points that a tile has more.
  };
  std::vector<Buffer> buffers;  ///< Intermediate results,
  double kept_bytes = 0;        ///< and bytes of a block's for more of them, whose tiles have other shapes.
  double share = 0;             ///< Of the buffers what lies in registers: 0 to 1.
  double registers = 0;         ///< Of a thread, without those.
  double transactions = 0;      ///< Of a warp with memory, for its tile.
  int transaction_bytes = 32;   ///< Of each.
  double compute_seconds = 0;   ///< Of a warp's tile.
  double points = 0;            ///< Of the result.
  double overlap = 0;           ///< Points that are computed twice, for each of a tile's.
};

/// By the lines of the algorithm.
struct WarpTilingCost {
  double shared_bytes = 0;        ///< Of a block; lines 9, 10.
  double blocks_at_a_time = 0;    ///< On a multiprocessor, by shared memory; line 18.
  double registers = 0;           ///< Of a thread; line 20.
  double occupancy = 0;           ///< Line 24.
  double transactions = 0;        ///< Line 17.
  double memory_per_compute = 0;  ///< Of a warp, in seconds; lines 25 to 28.
  double unallocated_shared = 0;  ///< Of a multiprocessor's, 0 to 1; line 30.
  double unused_registers = 0;    ///< Line 32.
  double overlap = 0;             ///< Line 33.
  double blocks = 0;              ///< On each multiprocessor; line 6.
  double extra_blocks = 0;        ///< In the last round; line 34.
  double cost = 0;                ///< Line 35; infinite if shared memory or registers are too few.
};

/// Bytes per second of memory for each of the warps that issue at a time (line 25).
double warp_bandwidth(const machine::Board& board);
/// With the paper's weights of the board, or for other boards those of a V100.
WarpTilingCost warp_tiling_cost(const WarpTiling& tiling, const machine::Board& board);

/// A plan of a GPU as the algorithm sees it. What the paper measures, registers and the time of an iteration, are the
/// model's estimates (block_costs.h).
WarpTiling warp_tiling_of(const KernelPlan& plan, const ir::Sizes& sizes, const machine::Board& board);
/// The paper's cost instead of seconds.
CostModel paper_costs(ir::Sizes sizes, const machine::Board& board);

}  // namespace weft::plan
