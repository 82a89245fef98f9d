#include "schedule/block_costs.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/round_up.h"
#include "schedule/block_strip.h"
#include "schedule/hipacc/block_needs.h"
#include "target/block.h"

namespace weft::schedule {
namespace {

// Compilers unroll a thread's innermost loop, and have the loads of so many pixels under way at a time,
// unless those are more values than they want to keep: most kernels end up with about 64 registers (decision
// 0025).
constexpr int pixels_in_flight = 4, most_values_in_flight = 40;
constexpr int barriers_of_part =
    std::bit_width(static_cast<unsigned>(part_columns));  // one, and of each halving

void add_loop(BlockWork& work, const Loop& loop, double accesses, double pixels) {
  work.operations += pixels * static_cast<double>(loop.operations.alu);
  work.divisions += pixels * static_cast<double>(loop.operations.sfu);
  work.accesses += pixels * accesses;
}

/// Of a thread that computes pixels of these stages, one stage after the other.
int registers_of(const std::vector<const Loop*>& pass) {
  std::set<const ir::Stage*> images;
  std::int64_t kept = 0;
  for (const Loop* loop : pass) {
    const int registers = (size_of(loop->reads.stage->type.scalar) + hipacc::bytes_per_register - 1) /
                          hipacc::bytes_per_register;
    kept += pixels_in_flight * registers * (1 + loop->operations.loads);
    images.insert(loop->reads.stage);
    for (const ir::Read* read : loop->reads.reads) images.insert(read->source.get());
  }
  return hipacc::registers_with(static_cast<int>(images.size()),
                                static_cast<int>(std::min<std::int64_t>(kept, most_values_in_flight)));
}

void choose_block_of(BlockWork& work, const machine::Architecture& architecture,
                     const target::BlockLaunch& launch) {
  machine::BlockNeeds& needs = work.needs;
  const auto shared = [&](int) { return needs.static_shared; };
  needs.registers = std::min(needs.registers, architecture.registers_per_thread);
  needs.threads =
      target::choose_block(architecture, {needs.registers, needs.registers}, shared, launch).threads();
}

/// A loop whose threads compute some pixels each, and read images through the caches; blocks, if it is a
/// reduction, those of a part.
BlockWork work_of_threads(const Loop& loop, const ir::Sizes& sizes,
                          const machine::Architecture& architecture) {
  BlockWork work;
  const double pixels = pixels_of(box_of(loop.reads.stage->domain(), sizes));
  add_loop(work, loop, accesses_of(loop), pixels);
  work.needs.registers = registers_of({&loop});
  if (const auto* reduce = std::get_if<ir::Reduce>(&loop.reads.stage->definition)) {
    work.needs.static_shared = accumulator_bytes(*reduce);
    choose_block_of(work, architecture, {kernel::Sharing::Work, part_columns});
    work.blocks = std::max(1., std::ceil(pixels / (part_columns * least_part_rows)));
    work.batches = static_cast<double>(least_part_rows) / pixels_in_flight;
    work.barriers = barriers_of_part / work.batches;
    return work;
  }
  choose_block_of(work, architecture, {});
  work.blocks = std::max(1., std::ceil(pixels / (work.needs.threads * pixels_in_flight)));
  return work;
}

/// What strips load of images, rows of whole sectors, and copy to shared memory.
void add_images(BlockWork& work, const March& march, const BlockStrip& strip, const Strips& strips,
                const ir::Sizes& sizes) {
  for (std::size_t r = 0; r < march.rolling.size(); ++r) {
    const RollingRows& rows = march.rolling[r];
    const RowRing& ring = strip.rings[r];
    if (rows.is_member) continue;
    ir::ConcreteBox image = box_of(rows.source().box, sizes);
    image.extent[0] *= ring.lanes;  // in scalars, as its halo
    const int width = at_rate(strip.width, march.step[0], rows.rate[0]);
    const Reach x{0, ring.pitch - width * ring.lanes};
    const double loaded = covered_by(strips, image, {x, rows.y()}).pixels;
    work.accesses += 2 * loaded;
    work.again += std::max(0., loaded - pixels_of(image)) * size_of(ring.type);
  }
}

/// What the passes over the rows of a batch wait for, and the registers of their threads.
void add_passes(BlockWork& work, const std::vector<Loop>& members, const March& march,
                const std::set<const ir::Stage*>& values) {
  const bool loads_rows = std::any_of(march.rolling.begin(), march.rolling.end(),
                                      [](const RollingRows& r) { return !r.is_member; });
  const auto is_in_memory = [&](const ir::Read* r) {
    return !r->source->box.empty() && march.of(*r->source) == nullptr;
  };
  const std::vector<Pass> passes = passes_of(reads_of(members), march, values);
  work.waits = loads_rows ? 1 : 0;
  for (const Pass& pass : passes) {
    std::vector<const Loop*> loops;
    for (const Loop& m : members) {
      if (std::count(pass.begin(), pass.end(), m.reads.stage) > 0) loops.push_back(&m);
    }
    const bool loads = std::any_of(loops.begin(), loops.end(), [&](const Loop* loop) {
      return std::any_of(loop->reads.reads.begin(), loop->reads.reads.end(), is_in_memory);
    });
    work.waits += loads ? 1 : 0;
    work.needs.registers = std::max(work.needs.registers, registers_of(loops));
  }
  // Before each that reads what another has written, and before the first one of them comes again.
  const auto phases = static_cast<double>(passes.size()) + (loads_rows ? 1 : 0);
  work.barriers = std::max(2., phases - 1);
}

/// Loops whose blocks go down strips.
BlockWork work_of_strips(const std::vector<Loop>& members, const March& march,
                         const std::set<const ir::Stage*>& values, const BlockStrip& strip,
                         const ir::Sizes& sizes, const machine::Architecture& architecture) {
  const ir::ConcreteBox box = box_of(members.back().reads.stage->domain(), sizes);
  const StripHeights heights =
      members.size() == 1 ? strip_heights : strip_heights_of_march(rows_before(march));
  const auto columns = static_cast<std::int64_t>(strips_of(box, strip.width, 1).columns);
  const int part = march.in_parts ? rows_of_part(box.extent[0]) : 1;
  const int height = round_up(heights.over(box.extent[1], columns), part);
  const Strips strips = strips_of(box, strip.width, height);
  BlockWork work;
  add_images(work, march, strip, strips, sizes);
  for (const Loop& m : members) {
    const RollingRows* rows = march.of(*m.reads.stage);
    const Covered all =
        covered_by(strips, box_of(m.reads.stage->domain(), sizes), rows ? rows->window : Window(2));
    add_loop(work, m, accesses_of(m, values), all.pixels);
  }
  add_passes(work, members, march, values);
  if (march.in_parts) work.barriers += static_cast<double>(barriers_of_part) * strip.batch / part;
  work.blocks = std::max(1., strips.columns * strips.bands);
  work.batches = std::ceil(static_cast<double>(height + strip.before) / strip.batch);
  work.needs.static_shared = strip.bytes;
  choose_block_of(work, architecture, {kernel::Sharing::Work, strip.columns, true, false});
  return work;
}

/// How blocks go down with the members, or nothing if there are none that do.
std::optional<BlockStrip> strip_of(const std::vector<Loop>& members, const March& march,
                                   const std::set<const ir::Stage*>& values, std::int64_t shared_bytes) {
  const bool is_reduction_alone = members.size() == 1 && march.in_parts;  // whose reads go through the caches
  if (is_reduction_alone || march.rolling.empty() ||
      why_not_in_blocks(reads_of(members), march, values, shared_bytes))
    return std::nullopt;
  return block_strip(march, *members.back().reads.stage, values, shared_bytes);
}

}  // namespace

BlockWork block_work_of(const std::vector<Loop>& members, const March& march, const ir::Sizes& sizes,
                        const machine::Architecture& architecture, std::int64_t shared_bytes) {
  // A stage alone keeps the rows that its windows read, if it could march with what it reads, at one rate.
  March rows = members.size() > 1 ? march : march_of(reads_of(members)).march.value_or(March{});
  if (members.size() == 1 && !rows.has_one_rate()) rows = {};
  const std::set<const ir::Stage*> values = values_of(members, rows);
  const std::optional<BlockStrip> strip = strip_of(members, rows, values, shared_bytes);
  if (!strip && members.size() > 1) throw InternalError("a group that blocks of threads cannot march with");
  BlockWork work = strip ? work_of_strips(members, rows, values, *strip, sizes, architecture)
                         : work_of_threads(members.back(), sizes, architecture);
  const Traffic traffic = traffic_of(members, sizes);
  work.read = traffic.read, work.written = traffic.written;
  return work;
}

double block_cost_of(const BlockWork& work, const machine::GpuSpeeds& gpu) {
  const double batches = work.blocks * work.batches;
  const double memory = (work.read + work.written) / gpu.bytes.value + work.again / gpu.again.value;
  const double compute =
      std::max({(work.operations + work.accesses) / gpu.operations.value, work.accesses / gpu.accesses.value,
                work.divisions / gpu.divisions.value});  // of one
  const double alone = work.waits * gpu.latency.value + compute / batches + work.barriers * gpu.barrier.value;
  const auto time_of = [&](double blocks, double on_one) {
    return work.batches * std::max({blocks * memory / batches, on_one * compute / batches, alone});
  };
  const double most_on_one = machine::occupancy(*gpu.architecture, work.needs).blocks;
  const double at_a_time = most_on_one * gpu.multiprocessors;
  const double full = std::floor(work.blocks / at_a_time), rest = work.blocks - full * at_a_time;
  double seconds = gpu.launch.value + full * time_of(at_a_time, most_on_one);
  if (rest > 0) seconds += time_of(rest, std::clamp(rest / gpu.multiprocessors + 0.5, 1., most_on_one));
  return seconds;
}

CostModel gpu_costs(ir::Sizes sizes, const machine::GpuSpeeds& gpu, std::int64_t shared_bytes) {
  return [sizes = std::move(sizes), gpu, shared_bytes](const std::vector<Loop>& members, const March& march) {
    return block_cost_of(block_work_of(members, march, sizes, *gpu.architecture, shared_bytes), gpu);
  };
}

}  // namespace weft::schedule
