#include "plan/core_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "plan/split_traffic.h"

namespace weft::plan {
namespace {

// What pixels of split tiles take, measured beside those of tiles that march (bench/results/2026-11-25-split-tiles.md): rows
// lie in the second-level cache or further away, and begin in the middle of its lines.
constexpr double in_far_caches = 1.5;
// What a core has of a last-level cache. Each step of a larger tile goes through memory: 32 steps of heat3d in doubles, in tiles
// of 512x124x124, take 1.3 times as long as in tiles that march (bench/results/2026-11-27-more-rows.md).
constexpr double last_level_bytes_of_core = 16 << 20;

/// So many pixels as would take as long, were all in whole vectors. At both ends of a row, those that make up
/// no whole group of phases are computed one by one; and compilers interleave phases in vectors only if they
/// have a power of two of lanes in all, or lanes lie apart. Loops with remainders are no vectors at all.
double pixels_of(const Computed& c, const Covered& all, bool lanes_apart) {
  if (c.operations.remainders > 0) return all.pixels * machine::vector_values;
  const auto lanes = static_cast<unsigned>(c.phases * c.type.lanes);
  const double one_by_one = (c.phases - 1) * all.rows * (machine::vector_values - 1);
  const bool is_even = (c.phases == 1 && !c.is_gathered) || lanes_apart || std::has_single_bit(lanes);
  return one_by_one + all.pixels * (is_even ? 1 : machine::uneven_phases);
}

/// The share of an image that tiles copy: what is at its ends, unless they copy all.
double copied(const Tiling& tiling, const KernelPlan& plan, const Kept& image) {
  if (!image.in_memory) return 1;
  const auto inner = [&](double tiles) {
    return plan.exchanges_rows(image) || tiles == 1 ? 1 : std::max(tiles - 2, 0.0) / tiles;
  };
  return 1 -
         (1 - tiling.at_ends) * inner(tiling.bands) * (image.window.size() > 2 ? inner(tiling.layers) : 1);
}

/// Rows of one stage and its values, from image to image.
void add_rows(CoreWork& work, const KernelPlan& plan, const ir::Sizes& sizes) {
  const ir::ConcreteBox box = box_of(plan.computed.back().domain, sizes);
  const Covered all{plan::pixels_of(box), rows_of(box)};
  for (const Computed& c : plan.computed) {
    // A vector of narrower values has more of them.
    const double values = machine::vector_values * std::max(4. / size_of(c.type.scalar), 1.);
    const double one_by_one = c.border_columns * all.rows;
    add_pixels(work, c, pixels_of(c, all, false) + one_by_one * (values - 1));
  }
  work.rows += all.rows;
}

void add_tiles(CoreWork& work, const KernelPlan& plan, const ir::Sizes& sizes) {
  const Tiling tiling = tiling_of(plan, box_of(plan.computed.back().domain, sizes));
  for (const Kept& kept : plan.kept) {
    if (kept.is_member || !kept.is_copied()) continue;
    const Covered image = covered_by(tiling, box_of(kept.box, sizes), kept.window);
    work.accesses += image.pixels * 2 * kept.type.lanes * copied(tiling, plan, kept);
    work.rows += image.rows;
  }
  for (const Computed& c : plan.computed) {
    const Covered all = covered_by(tiling, box_of(c.domain, sizes), c.halo);
    add_pixels(work, c, pixels_of(c, all, plan.has_lanes_apart()));
    const bool begins_a_pass = std::any_of(plan.passes.begin(), plan.passes.end(),
                                           [&](const Pass& pass) { return pass.front() == c.stage; });
    if (begins_a_pass) (c.domain.size() > 2 ? work.lines : work.rows) += all.rows;
  }
}

/// Bytes of a split tile where it is largest, of all fields in two steps: 126 MB if 512 x 124 x 124 doubles are one field.
double bytes_of_split_tile(const KernelPlan& plan, const ir::Sizes& sizes) {
  double bytes = 0;
  for (const ImageUse& field : plan.written) {
    const ir::ConcreteBox box = box_of(field.box, sizes);
    double pixels = plan::pixels_of(box);
    for (const SplitDimension& d : plan.split->dims) {
      const auto extent = static_cast<double>(box.extent[static_cast<std::size_t>(d.dim)]);
      pixels *= std::min(1., d.pitch / std::max(extent, 1.));
    }
    bytes += 2 * pixels * size_of(field.type);
  }
  return bytes;
}

/// A band of split tiles: each row is a loop in every tile that has some of it, upright and inverted.
void add_split(CoreWork& work, const KernelPlan& plan, const ir::Sizes& sizes) {
  for (const Computed& c : plan.computed) {
    const ir::ConcreteBox box = box_of(c.domain, sizes);
    const Covered all{plan::pixels_of(box), rows_of(box)};
    add_pixels(work, c, plan.steps * in_far_caches * pixels_of(c, all, false));
    double rows = plan.steps * all.rows;
    for (const SplitDimension& d : plan.split->dims) {
      if (d.dim == 0) rows *= 2 * std::ceil(static_cast<double>(box.extent[0]) / d.pitch);
    }
    (box.extent.size() > 2 ? work.lines : work.rows) += rows;
  }
  const Traffic traffic = traffic_of_split(plan, sizes);
  const bool stays_in_caches = bytes_of_split_tile(plan, sizes) <= last_level_bytes_of_core;
  const int times = stays_in_caches ? 1 : plan.steps;
  work.read = times * traffic.read, work.written = times * traffic.written;
  work.launches = launches_of(*plan.split);
}

}  // namespace

void add_pixels(CoreWork& work, const Computed& computed, double pixels) {
  add_pixels<CoreWork>(work, computed, pixels);
  work.operations -= pixels * static_cast<double>(computed.shared.alu);
  work.divisions -= pixels * static_cast<double>(computed.shared.sfu);
}

CoreWork core_work_of(const KernelPlan& plan, const ir::Sizes& sizes) {
  CoreWork work;
  if (plan.split) {
    add_split(work, plan, sizes);
    return work;
  }
  const Traffic traffic = traffic_of(plan, sizes);
  work.read = traffic.read, work.written = traffic.written;
  if (plan.is_tiled())
    add_tiles(work, plan, sizes);
  else
    add_rows(work, plan, sizes);
  return work;
}

CoreCost cost_of(const CoreWork& work, const machine::CpuSpeeds& cpu) {
  CoreCost cost;
  cost.memory = (work.read + work.written) / cpu.bytes.value;
  cost.compute = std::max(work.operations / cpu.operations.value, work.accesses / cpu.accesses.value) +
                 work.divisions / cpu.divisions.value +
                 (work.rows * cpu.row.value + work.lines * cpu.line.value) / cpu.cores;
  const double longer = std::max(cost.memory, cost.compute), shorter = std::min(cost.memory, cost.compute);
  // The less there is of one, the easier it passes during the other.
  const double exposed = longer > 0 ? cpu.exposed.value * shorter * shorter / longer : 0;
  cost.total = longer + exposed + cpu.kernel.value * work.launches;
  return cost;
}

CostModel cpu_costs(ir::Sizes sizes) {
  return
      [sizes = std::move(sizes)](const KernelPlan& plan) { return cost_of(core_work_of(plan, sizes)).total; };
}

std::vector<KernelCost> costs_of(const std::vector<KernelPlan>& plans, const ir::Sizes& sizes) {
  std::vector<KernelCost> costs;
  for (const KernelPlan& plan : plans) {
    const CoreWork work = core_work_of(plan, sizes);
    costs.push_back({plan.result, work, cost_of(work)});
  }
  return costs;
}

double total_of(const std::vector<KernelCost>& kernels) {
  double seconds = 0;
  for (const KernelCost& kernel : kernels) seconds += kernel.cost.total;
  return seconds;
}

}  // namespace weft::plan
