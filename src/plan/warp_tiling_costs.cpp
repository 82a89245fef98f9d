#include "plan/warp_tiling_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/block_costs.h"

namespace weft::plan {
namespace {

constexpr double bytes_of_register = 4;

/// Of line 35 (the paper's table 3).
struct Weights {
  double transactions, occupancy, memory, shared, registers, overlap, blocks;
};
constexpr Weights of_1080ti = {50, 0.5, 45, 20, 2, 100, 1}, of_v100 = {50, 0.5, 60, 10, 2, 100, 1};

double product(const Points& points) { return static_cast<double>(points[0]) * points[1] * points[2]; }

/// Of a block: each of its warps has a tile of its own (section 4).
double elements_of(const WarpTiling::Buffer& buffer, const WarpTiling& tiling) {
  const Points warp = warp_sizes(tiling.block);
  double elements = 1;
  for (int d = 0; d < 3; ++d)
    elements *= static_cast<double>(tiles_along(tiling.block[d], warp[d])) *
                (static_cast<double>(tiling.tile[d]) * warp[d] + buffer.overlap[d]);
  return elements;
}

}  // namespace

Points warp_sizes(const Points& block) {
  constexpr int threads = 32;
  const int x = std::min(block[0], threads), y = std::min(block[1], threads / x);
  return {x, y, std::min(block[2], threads / (x * y))};
}

double warp_bandwidth(const machine::Board& board) {
  return 1e9 * board.bandwidth() * board.architecture().warp / board.lanes();
}

WarpTilingCost warp_tiling_cost(const WarpTiling& tiling, const machine::Board& board) {
  const machine::Architecture& gpu = board.architecture();
  const double threads = product(tiling.block), warps = threads / gpu.warp;
  double buffers = tiling.kept_bytes;
  for (const WarpTiling::Buffer& buffer : tiling.buffers)
    buffers += elements_of(buffer, tiling) * buffer.bytes;

  WarpTilingCost c;
  c.shared_bytes = buffers * (1 - tiling.share);
  c.registers = tiling.registers + buffers * tiling.share / threads / bytes_of_register;
  c.blocks_at_a_time = gpu.max_blocks;
  if (c.shared_bytes > 0)
    c.blocks_at_a_time =
        std::min(c.blocks_at_a_time, std::floor(static_cast<double>(gpu.shared_memory) / c.shared_bytes));
  const double by_shared = std::min(c.blocks_at_a_time * warps, static_cast<double>(gpu.max_warps));
  const double by_registers =
      std::min(gpu.registers / std::max(c.registers, 1.), static_cast<double>(gpu.max_threads())) / gpu.warp;
  c.occupancy = std::min(by_shared, by_registers) / gpu.max_warps;
  c.transactions = tiling.transactions;
  const double memory = tiling.transaction_bytes * tiling.transactions / warp_bandwidth(board);
  c.memory_per_compute = tiling.compute_seconds > 0 ? memory / tiling.compute_seconds : 0;
  c.unallocated_shared = 1 - c.shared_bytes * c.blocks_at_a_time / static_cast<double>(gpu.shared_memory);
  c.unused_registers = 1 - c.registers * gpu.max_threads() * c.occupancy / gpu.registers;
  c.overlap = tiling.overlap;
  c.blocks = std::ceil(tiling.points / product(tiling.tile) / threads / board.multiprocessors);
  c.extra_blocks = std::fmod(c.blocks, std::max(c.blocks_at_a_time, 1.));

  const bool fits = c.shared_bytes <= static_cast<double>(gpu.shared_per_block) &&
                    c.registers <= gpu.registers_per_thread && c.blocks_at_a_time > 0;
  if (!fits) {
    c.cost = std::numeric_limits<double>::infinity();
    return c;
  }
  const Weights& w = board.name == "gtx1080ti" ? of_1080ti : of_v100;
  c.cost = w.transactions * c.transactions + w.occupancy * (1 - c.occupancy) +
           w.memory * c.memory_per_compute + w.shared * c.unallocated_shared +
           w.registers * c.unused_registers + w.overlap * c.overlap + w.blocks * c.extra_blocks;
  return c;
}

WarpTiling warp_tiling_of(const KernelPlan& plan, const ir::Sizes& sizes, const machine::Board& board) {
  const machine::GpuSpeeds speeds = machine::gpu_speeds(board);
  const BlockWork work = block_work_of(plan, sizes, board.architecture());
  const double pixels = pixels_of(box_of(plan.computed.back().domain, sizes));
  const int threads = std::max(work.needs.threads, 1);
  const double warps = work.blocks * threads / board.architecture().warp;
  WarpTiling tiling;
  tiling.block = {threads, 1, 1};
  tiling.tile = {1, std::max(1, static_cast<int>(std::lround(pixels / (work.blocks * threads)))), 1};
  tiling.points = pixels;
  tiling.registers = work.needs.registers;
  double computed = 0, results = 0;
  for (const Computed& c : plan.computed) {
    const double of_stage = pixels_of(box_of(c.domain, sizes));
    results += of_stage;
    computed += plan.is_tiled() ? covered_by(tiling_of(plan, box_of(plan.computed.back().domain, sizes)),
                                             box_of(c.domain, sizes), c.halo)
                                      .pixels
                                : of_stage;
  }
  tiling.overlap = results > 0 ? computed / results - 1 : 0;
  tiling.kept_bytes = static_cast<double>(plan.shared_bytes());
  tiling.transactions =
      (work.read + work.again + work.written) / tiling.transaction_bytes / std::max(warps, 1.);
  const double at_full_rate = (work.operations + work.accesses) / speeds.operations.value;
  tiling.compute_seconds = at_full_rate / std::max(warps, 1.);
  return tiling;
}

CostModel paper_costs(ir::Sizes sizes, const machine::Board& board) {
  return [sizes = std::move(sizes), &board](const KernelPlan& plan) {
    const double cost = warp_tiling_cost(warp_tiling_of(plan, sizes, board), board).cost;
    // Groups that do not fit are never chosen, and the sum of groups stays a number.
    return std::isfinite(cost) ? cost : std::numeric_limits<float>::max();
  };
}

}  // namespace weft::plan
