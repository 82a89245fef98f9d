// What a group of stages costs a GPU: the work of its kernel, counted, and the time that takes.
//
//     gx stored, then hc:   in → gx | gx → hc     4 images of traffic, two launches
//     gx and hc as strips:  in → hc               2 images; a block waits twice in each batch of rows
//
// A kernel is a number of blocks, and each block does batches of work one after another. Of n blocks
// that run at a time, k of them on the fullest multiprocessor, a batch of each takes the longest of
//
//     memory moves them:           n * bytes of a batch / bandwidth
//     a multiprocessor computes:   k * instructions of a batch / rate
//     a block goes through it:     what it waits for memory, or own instructions / rate; and barriers
//
// Before, the launch fetches the code of its loops: seconds for each instruction.
//
// As many blocks run at a time as occupancy leaves room for. Of the last ones, which may be few, k is half a
// block more than the mean: what is left over depends on the size of the image, which is not known.
//
// The terms are those of Algorithm 2 of Jangda and Bondhugula's paper on warp overlapped tiling, as times
// instead of a weighted sum, whose weights would have to be found for each board:
//
//     transactions with memory, w1       bytes of whole sectors, halos included
//     occupancy, w2                      n, and so how much of a block's way is hidden behind the others
//     memory's time to the cores', w3    the longest of the three
//     redundant computations, w6         instructions of halos count as often as they are computed
//     blocks left over, w7               the last n, and their k
//
// Shared memory and registers that stay unused (w4, w5) take no time: they are in n alone. Tile and block
// sizes are not searched for here, since the planner and target/block decide about them, and no
// tile is in registers. Left out: that an intermediate image may still be in the second-level cache.
#pragma once

#include "machine/gpu.h"
#include "machine/occupancy.h"
#include "plan/tiles.h"

namespace weft::plan {

/// What one kernel does. Halos that several blocks load or compute count as often.
struct BlockWork {
  double read = 0, written = 0;  ///< Bytes of memory: of each image once,
  double again = 0;              ///< and what blocks read of it that others read, too.
  double operations = 0, divisions = 0;
  double clocks = 1;    ///< From one instruction of a warp to its next, if it is alone.
  double accesses = 0;  ///< Values loaded and stored, from wherever.
  double blocks = 1;
  double batches = 1;   ///< Of each block.
  double waits = 1;     ///< In each batch: for memory,
  double barriers = 0;  ///< and for the other threads.
  double launches = 1;
  double code = 0;        ///< Instructions of its loops, which each launch fetches anew.
  bool is_ahead = false;  ///< What a batch waits for is under way while others are computed.
  machine::BlockNeeds needs;
};
BlockWork block_work_of(const KernelPlan& plan, const ir::Sizes& sizes,
                        const machine::Architecture& architecture);
/// Of a kernel whose blocks do the same in several layers, each with images of its own.
BlockWork in_layers(BlockWork work, int layers);

/// Seconds that a block waits for memory, all its batches together, while others load as well: latency is twice that of
/// memory at rest then. What is under way ahead of a batch waits twice, for reads while as many bytes are written;
/// other blocks wait for three quarters of a latency before and after.
double waiting_of(const BlockWork& work, const machine::GpuSpeeds& gpu);
/// Of that, what other work does not hide (bench/results/2026-11-28-code-of-kernels.md).
constexpr double part_of_waiting = 0.75;

/// Seconds.
double block_cost_of(const BlockWork& work, const machine::GpuSpeeds& gpu);

CostModel gpu_costs(ir::Sizes sizes, const machine::GpuSpeeds& gpu);

}  // namespace weft::plan
