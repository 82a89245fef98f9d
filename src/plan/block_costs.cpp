#include "plan/block_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "plan/barriers.h"
#include "plan/march.h"
#include "plan/split_traffic.h"
#include "plan/warp_strip.h"
#include "target/block.h"

namespace weft::plan {
namespace {

// Compilers unroll a thread's innermost loop: the loads of 4 pixels are under way at a time, or of fewer if they
// are more than 40 values. Most kernels end up with about 64 registers (decision 0025).
constexpr int pixels_in_flight = 4, most_values_in_flight = 40;

// Instructions for each scalar that is loaded or computed, besides its arithmetic: where it lies, and whether it is needed.
// Means of the emitted loops (bench/results/2026-11-24-structures.md): those of static tiles are counted, with constants
// for bounds; of a march every row is masked and looked at.
constexpr double around_marching_scalar = 20, around_static_scalar = 4;
// And for each access to rows of a block's march, which take turns in their rings.
constexpr double around_access_to_ring = 4;
// Of split tiles, by the dimensions that are split: where a pixel lies is found anew, and narrow tiles leave lanes without
// work (bench/results/2026-11-25-split-tiles.md).
constexpr double around_split_scalar[] = {16, 60, 160};
// Neighbouring pixels of a lane share sums of columns, and rows that a march keeps: of what windows are, compilers leave
// this part.
constexpr double left_in_lanes = 0.6;
// Of a lane's row, besides its pixels: where it lies, and whether it is stored.
constexpr double around_row_of_lane = 20;
// What a division, a root or an exponential issues, on several pipes (bench/results/2026-11-28-medians.md).
constexpr double instructions_of_division = 4;
// Clocks between the instructions of a warp that is alone: by what compilers write into the instructions, 1.4 to 1.7 where lanes
// have several pixels in registers, 2.2 to 4.1 where threads wait for shared memory (tests/golden/data/sass_sm_90.txt).
constexpr double clocks_of_lanes = 1.6, clocks_of_threads = 3.5;

// Of a pixel that a block computes in turn: where it lies, where what it reads lies, and its part of the loops. What other stages
// have just stored lies in the second-level cache, which nobody else uses: of waiting for memory under load that is this part.
constexpr double around_pixel_in_turn = 40, wait_in_turn = 0.3;

// Instructions of a kernel's loops besides those for its pixels; the most, as longer ones are not unrolled; and what is left of
// those for the rows of a static tile, which have loads and sums in common (bench/results/2026-11-28-prices-of-code.md).
constexpr double code_around = 100, most_code = 4000, left_in_rows = 0.45, code_of_loop = 20;

double instructions_of(const BlockWork& work) {
  return work.operations + work.accesses + instructions_of_division * work.divisions;
}

/// What a thread keeps that computes some pixels of a pass.
struct Keeping {
  std::set<std::string> images;
  std::int64_t registers = 0;
};
void add(Keeping& keeping, const KernelPlan& plan, const Computed& computed) {
  const int registers = target::registers_of(computed.type.lane());
  keeping.registers += pixels_in_flight * registers * (1 + computed.operations.loads);
  keeping.images.insert(computed.stage);
  for (const std::string& source : computed.reads) {
    keeping.images.insert(source);
    if (const Computed* value = plan.computed_of(source); value && value->is_value)
      add(keeping, plan, *value);
  }
}
int registers_of(const KernelPlan& plan, const Pass& pass) {
  Keeping keeping;
  for (const std::string& stage : pass) add(keeping, plan, *plan.computed_of(stage));
  return target::registers_with(
      static_cast<int>(keeping.images.size()),
      static_cast<int>(std::min<std::int64_t>(keeping.registers, most_values_in_flight)));
}

void choose_block_of(BlockWork& work, const machine::Architecture& architecture,
                     const target::BlockLaunch& launch) {
  machine::BlockNeeds& needs = work.needs;
  const auto shared = [&](int) { return needs.static_shared; };
  needs.registers = std::min(needs.registers, architecture.registers_per_thread);
  needs.threads =
      target::choose_block(architecture, {needs.registers, needs.registers}, shared, launch).threads();
}

/// To combine the accumulators of a part: one, and one of each halving.
int barriers_of_part(const Parts& parts) { return std::bit_width(static_cast<unsigned>(parts.accumulators)); }

/// A stage whose threads compute some pixels each, and read images through the caches; blocks, if it is a
/// reduction, those of a part.
void add_threads(BlockWork& work, const KernelPlan& plan, const ir::Sizes& sizes,
                 const machine::Architecture& architecture) {
  const double pixels = pixels_of(box_of(plan.computed.back().domain, sizes));
  for (const Computed& c : plan.computed) add_pixels(work, c, pixels);
  work.needs.registers = registers_of(plan, plan.passes.back());
  if (plan.parts) {
    const double of_part = static_cast<double>(plan.parts->columns) * plan.parts->rows;
    work.needs.static_shared = static_cast<int>(bytes_of_accumulators(*plan.parts));
    choose_block_of(work, architecture, {kernel::Sharing::Work, plan.parts->accumulators});
    work.blocks = std::max(1., std::ceil(pixels / of_part));
    work.batches = of_part / plan.parts->accumulators / pixels_in_flight;
    work.barriers = barriers_of_part(*plan.parts) / work.batches;
    return;
  }
  const Level* lane = plan.level(LevelKind::Lane);
  choose_block_of(work, architecture, {plan.shares_rows ? kernel::Sharing::Rows : kernel::Sharing::Nothing});
  const int of_thread = (lane ? lane->extent[0].fixed() : 1) * plan.rows_of_threads();
  work.blocks = std::max(1., std::ceil(pixels / (work.needs.threads * of_thread)));
}

void add(BlockWork& work, const BlockWork& pixel, double pixels) {
  work.operations += pixels * pixel.operations;
  work.divisions += pixels * pixel.divisions;
  work.accesses += pixels * pixel.accesses;
}

BlockWork pixel_in_turn(const Computed& c) {
  BlockWork pixel;
  add_pixels(pixel, c, 1);
  pixel.operations += around_pixel_in_turn;
  return pixel;
}

/// Stages that one block computes in turn: each thread has a pixel of one at a time.
void add_in_turn(BlockWork& work, const KernelPlan& plan, const ir::Sizes& sizes,
                 const machine::Architecture& architecture) {
  for (const Pass& pass : plan.passes)
    work.needs.registers = std::max(work.needs.registers, registers_of(plan, pass));
  work.needs.registers = std::min(work.needs.registers, architecture.registers_per_thread);
  work.needs.threads = threads_in_turn;
  work.batches = 0;
  double waits = 0;
  for (const Computed& c : plan.computed) {
    const double rounds = std::max(1., std::ceil(pixels_of(box_of(c.domain, sizes)) / work.needs.threads));
    add(work, pixel_in_turn(c), rounds * work.needs.threads);
    work.batches += rounds;
    if (c.operations.loads > 0) waits += wait_in_turn * rounds;
  }
  work.waits = waits / work.batches;
  work.barriers = static_cast<double>(plan.passes.size()) / work.batches;
}

double around_scalar(const KernelPlan& plan) {
  return plan.is_static() ? around_static_scalar : around_marching_scalar;
}

/// What tiles load of images, rows of whole sectors, and copy to shared memory.
void add_images(BlockWork& work, const KernelPlan& plan, const Tiling& tiling, const ir::Sizes& sizes) {
  for (const Kept& kept : plan.kept) {
    if (kept.is_member) continue;
    ir::ConcreteBox image = box_of(kept.box, sizes);
    image.extent[0] *= kept.type.lanes;  // in scalars, as its halo
    const int width = at_rate(plan.width(), plan.step[0], kept.rate[0]);
    const Reach x{0, kept.pitch - width * kept.type.lanes};
    Window loads = kept.window;
    loads[0] = x;
    const double loaded = covered_by(tiling, image, loads).pixels;
    work.accesses += 2 * loaded;
    work.operations += around_scalar(plan) * loaded;
    work.again += std::max(0., loaded - pixels_of(image)) * size_of(kept.type.scalar);
  }
}

/// What the passes over the rows of a batch wait for, and the registers of their threads.
void add_passes(BlockWork& work, const KernelPlan& plan) {
  const std::vector<Turn> turns = turns_of(plan);
  const auto reads_memory = [&](const std::string& stage) {
    const std::vector<std::string>& sources = plan.computed_of(stage)->reads;
    return std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
      const auto image = std::find_if(plan.images.begin(), plan.images.end(),
                                      [&](const ImageUse& i) { return i.stage == source; });
      return image != plan.images.end() && !image->box.empty() && plan.kept_of(source) == nullptr;
    });
  };
  work.waits = 0;
  for (const Turn& turn : turns) {
    const bool loads = turn.pass.empty() || std::any_of(turn.pass.begin(), turn.pass.end(), reads_memory);
    work.waits += loads ? 1 : 0;
    if (!turn.pass.empty())
      work.needs.registers = std::max(work.needs.registers, registers_of(plan, turn.pass));
  }
  // A batch of one plane has no other under way, and under load memory answers half as fast.
  if (plan.lines() > 1) work.waits *= 2;
  const std::vector<bool> before = barriers_before(turns);
  work.barriers = static_cast<double>(std::count(before.begin(), before.end(), true));
}

/// Pixels that threads take the time of for each of a row: in static tiles few columns are divided among threads, and in
/// the last turn there is none for some.
double turns_of(const KernelPlan& plan, const Computed& computed) {
  if (!plan.is_static()) return 1;
  const int threads = plan.is_of_warps() ? lanes_of_warp : plan.level(LevelKind::Block)->extent[0].fixed();
  const Kept* kept = plan.kept_of(computed.stage);
  const int width = at_rate(plan.width(), plan.step[0], kept ? kept->rate[0] : plan.step[0]);
  const auto columns = static_cast<double>(width + computed.halo[0].extent() - 1);
  return std::ceil(columns / threads) * threads / columns;
}

/// Whether the code for a column has all rows of a static tile one after the other.
bool has_unrolled_rows(const KernelPlan& plan) {
  const Level* row = plan.level(LevelKind::Row);
  return row != nullptr && row->order == Order::Unrolled;
}

/// What is accessed for a pixel, where rows that neighbours share are loaded once by the code for all of a tile's rows.
Computed with_shared_rows(const KernelPlan& plan, Computed computed) {
  if (!has_unrolled_rows(plan)) return computed;
  const double stores = computed.is_value ? 0 : computed.type.lanes;
  double shared = 0;
  int sources = 0;
  for (const std::string& source : computed.reads) {
    const Kept* kept = plan.kept_of(source);
    if (kept == nullptr || kept->rate != plan.step) continue;
    const auto of_source = static_cast<double>(kept->window.back().extent());
    const auto window = std::max(of_source - static_cast<double>(computed.halo.back().extent()) + 1, 1.);
    const double rows = of_source - window + plan.height().fixed();
    shared += (rows + window - 1) / (rows * window), ++sources;
  }
  if (sources > 0) computed.accesses = stores + (computed.accesses - stores) * shared / sources;
  return computed;
}

/// Of what is the same for all rows of a volume's planes, the part that the code for all rows of a static tile does not
/// repeat.
double not_repeated(const KernelPlan& plan) { return has_unrolled_rows(plan) ? 1 - 1. / plan.lines() : 0; }

/// What a thread does for a pixel of a stage in a tile, with what goes around it; of the rows that it shares with others as much
/// as it does alone, or its part.
BlockWork pixel_of_tile(const KernelPlan& plan, Computed c, bool is_alone) {
  const double saved = not_repeated(plan);
  c.accesses -= saved * static_cast<double>(c.alike.loads);
  BlockWork pixel;
  add_pixels(pixel, is_alone ? c : with_shared_rows(plan, c), 1);
  pixel.operations -= saved * static_cast<double>(c.alike.alu);
  pixel.divisions -= saved * static_cast<double>(c.alike.sfu);
  pixel.operations += around_scalar(plan) * c.type.lanes;
  if (!plan.is_static()) pixel.operations += around_access_to_ring * c.accesses;
  return pixel;
}

/// Tiles that blocks go down.
void add_tiles(BlockWork& work, const KernelPlan& plan, const ir::Sizes& sizes,
               const machine::Architecture& architecture) {
  const ir::ConcreteBox box = box_of(plan.computed.back().domain, sizes);
  const Tiling tiling = tiling_of(plan, box);
  const int batch = plan.level(LevelKind::Batch)->extent.back().fixed();
  add_images(work, plan, tiling, sizes);
  for (const Computed& c : plan.computed) {
    const double pixels = covered_by(tiling, box_of(c.domain, sizes), c.halo).pixels * turns_of(plan, c);
    add(work, pixel_of_tile(plan, c, false), pixels);
  }
  add_passes(work, plan);
  if (plan.parts) {
    const auto rows = static_cast<double>(rows_of_part(*plan.parts, box.extent[0]));
    work.barriers += static_cast<double>(barriers_of_part(*plan.parts)) * batch / rows;
  }
  work.blocks = std::max(1., tiling.columns * tiling.layers * tiling.bands);
  work.batches = std::ceil(static_cast<double>(tiling.height + plan.before) / batch);
  work.needs.static_shared = static_cast<int>(plan.shared_bytes());
  if (plan.is_of_warps()) {
    // Of a block there is one tile for each warp, which waits for nothing but its own lanes.
    work.blocks = std::ceil(work.blocks / plan.warps());
    choose_block_of(work, architecture, {kernel::Sharing::Lanes, 0, plan.warps(), true, false});
    return;
  }
  const int items = plan.level(LevelKind::Block)->extent[0].fixed();
  choose_block_of(work, architecture, {kernel::Sharing::Work, items, 1, true, false});
}

/// Pixels of a stage for each of the result, in lanes.
double pixels_in_lanes(const KernelPlan& plan, const Computed& computed, const ir::Sizes& sizes) {
  if (plan.has_one_rate()) return 1;
  const auto of_step = [](const std::array<int, 2>& rate) { return static_cast<double>(rate[0]) * rate[1]; };
  if (computed.stage == plan.result) return 1;
  if (const Kept* kept = plan.kept_of(computed.stage)) return of_step(kept->rate) / of_step(plan.step);
  const double pixels = pixels_of(box_of(computed.domain, sizes));  // of a value, which no row is kept of
  return pixels / std::max(pixels_of(box_of(plan.computed.back().domain, sizes)), 1.);
}

/// Instructions that put a pixel's scalars into words, or take them out of these, where several are in one.
double around_packed(Type pixel) { return is_packed(pixel) ? 2. * pixel.lanes : 0; }

/// Strips that warps go down: lanes compute the pixels around a strip like its own, and access memory for all their
/// pixels at a time.
void add_warps(BlockWork& work, const KernelPlan& plan, const ir::Sizes& sizes,
               const machine::Architecture& architecture) {
  const Tiling tiling = tiling_of(plan, box_of(plan.computed.back().domain, sizes));
  const int batch = plan.level(LevelKind::Batch)->extent.back().fixed();
  const int pixels = plan.level(LevelKind::Lane)->extent[0].fixed();
  work.blocks = std::max(1., tiling.columns * tiling.layers * tiling.bands);
  const int before = plan.is_static() ? 0 : plan.before;
  work.batches = std::ceil(static_cast<double>(tiling.height + before) / batch);
  const double rows = work.blocks * work.batches * batch * plan.lines();
  const double of_strips = rows * lanes_of_warp * pixels;
  work.operations += around_row_of_lane * rows * lanes_of_warp;
  for (const Computed& c : plan.computed) {
    const double halo = plan.is_static()    ? 1 + static_cast<double>(c.halo.back().extent() - 1) / batch
                        : c.halo.size() > 2 ? 1 + static_cast<double>(c.halo[1].extent() - 1) / plan.lines()
                                            : 1;
    const double of_stage = of_strips * halo * pixels_in_lanes(plan, c, sizes);
    // Sums of integers that the windows of neighbouring rows share are found in turns of several rows alone.
    const double left = plan.moves_rows() && !is_float(c.type.scalar) ? 1 : left_in_lanes;
    work.operations += left * of_stage * static_cast<double>(c.operations.alu);
    work.divisions += of_stage * static_cast<double>(c.operations.sfu);
  }
  for (const ImageUse& image : plan.written) {
    work.accesses += rows * lanes_of_warp * image.type.lanes;
    work.operations += around_packed(image.type) * rows * lanes_of_warp * pixels;
  }
  for (const Kept& kept : plan.kept) {
    const int own = at_rate(pixels, plan.step[0], kept.rate[0]);
    const int beside = kept.pitch / kept.type.lanes - own;  // by shuffles
    const double of_source = rows * kept.rate[1] / plan.step[1];
    if (plan.moves_rows()) {
      const int next = kept.is_member ? 0 : (plan.prefetch - 1) * kept.rate[1] * own * kept.type.lanes;
      const int moved = (kept.rows - kept.rate[1]) * kept.pitch + next;
      work.operations += moved * rows / plan.step[1] * lanes_of_warp;
    }
    const double halo = plan.is_static() ? static_cast<double>(kept.rows) / batch
                                         : static_cast<double>(kept.lines) / plan.lines();
    const double away = 2 * (1 - static_cast<double>(kept.resident.value_or(kept.rows)) / kept.rows);
    work.accesses +=
        of_source * halo * lanes_of_warp * kept.type.lanes * (beside + away + (kept.is_member ? 0 : 1));
    if (kept.is_member) continue;
    work.operations += around_packed(kept.type) * of_source * halo * lanes_of_warp * own;
    const double loaded = of_source * lanes_of_warp * own * halo * size_of(kept.type);
    work.again += std::max(0., loaded - pixels_of(box_of(kept.box, sizes)) * size_of(kept.type));
  }
  work.waits = plan.is_static() ? 1 : static_cast<double>(batch) / plan.step[1] / plan.prefetch;
  work.needs.static_shared = static_cast<int>(plan.shared_bytes());
  work.needs.registers = plan.registers;
  work.is_ahead = !plan.is_static() && !plan.is_of_volume();
  // Of a volume several rows of a plane are under way for each wait.
  if (plan.lines() > 1) work.waits /= 2;
  choose_block_of(work, architecture, {kernel::Sharing::Lanes, 0, 1, true, false});
}

// Of a tile, which the first-level cache of a multiprocessor holds beside another.
constexpr double most_bytes_of_split = 96 * 1024;

/// A band of split tiles: blocks go through the levels of their tiles, and wait for one another after each. What they read
/// lies in the caches of a multiprocessor, if it fits; what they store goes on to the next ones.
void add_split(BlockWork& work, const KernelPlan& plan, const ir::Sizes& sizes,
               const machine::Architecture& architecture) {
  const SplitTiles& split = *plan.split;
  double pixels = 0;
  for (const Computed& c : plan.computed) {
    const double own = split.steps * pixels_of(box_of(c.domain, sizes));
    add_pixels(work, c, own);
    work.operations += around_split_scalar[split.dims.size() - 1] * own * c.type.lanes;
    work.again += own * size_of(c.type);
    pixels = std::max(pixels, own / split.steps);
  }
  double of_tile = 1, bytes = 0;
  for (const SplitDimension& d : split.dims) of_tile *= d.pitch;
  for (const ImageUse& field : plan.written) bytes += size_of(field.type) * split.turn;
  const ir::ConcreteBox box = box_of(plan.computed.back().domain, sizes);
  for (int d = 0; d < static_cast<int>(box.extent.size()); ++d) {
    const bool is_split = std::any_of(split.dims.begin(), split.dims.end(),
                                      [&](const SplitDimension& along) { return along.dim == d; });
    if (!is_split) of_tile *= static_cast<double>(box.extent[static_cast<std::size_t>(d)]);
  }
  work.launches = launches_of(split);
  work.blocks = std::max(1., pixels / of_tile) * work.launches;
  work.batches = split.levels_of_band();
  work.waits = 1, work.barriers = 1;
  work.needs.registers = registers_of(plan, plan.passes.back());
  choose_block_of(work, architecture, {kernel::Sharing::Work, 0});
  const Traffic of_band = traffic_of_split(plan, sizes), of_step = traffic_of(plan, sizes);
  // What does not fit goes through memory in each step, as if there were no tiles.
  const bool fits = of_tile * bytes <= most_bytes_of_split;
  work.read = fits ? of_band.read : split.steps * of_step.read;
  work.written = fits ? of_band.written : split.steps * of_step.written;
}

/// Of a tile of threads: of each stage the code for a column, as many rows of it as are straight-line code.
double code_of_tile(const KernelPlan& plan) {
  const bool is_unrolled = has_unrolled_rows(plan);
  double code = static_cast<double>(plan.kept.size()) * code_of_loop;
  for (const Computed& c : plan.computed) {
    const Kept* kept = plan.kept_of(c.stage);
    const int own = at_rate(plan.height().sizes.front(), plan.step[1], kept ? kept->rate[1] : plan.step[1]);
    const double rows =
        is_unrolled ? static_cast<double>(own + c.halo.back().extent() - 1) * plan.lines() : 1;
    const double scalars = c.has_flat_lanes ? 1. / c.type.lanes : 1;
    code += scalars * instructions_of(pixel_of_tile(plan, c, true)) * rows * (rows > 1 ? left_in_rows : 1) +
            (c.is_value ? 0 : code_of_loop);
  }
  return code;
}

double code_in_turn(const KernelPlan& plan) {
  double code = 0;
  for (const Computed& c : plan.computed) code += instructions_of(pixel_in_turn(c));
  return code;
}

/// Of loops: what a thread does for its pixels of a batch, as far as that is straight-line code.
double code_of(const BlockWork& work, const KernelPlan& plan) {
  if (plan.is_in_turn()) return code_around + code_in_turn(plan);
  const double of_batch = plan.is_tiled() && !plan.is_of_lanes() && !plan.parts
                              ? code_of_tile(plan)
                              : instructions_of(work) / (work.blocks * work.batches * work.needs.threads);
  return code_around + std::min(of_batch, most_code);
}

}  // namespace

BlockWork block_work_of(const KernelPlan& plan, const ir::Sizes& sizes,
                        const machine::Architecture& architecture) {
  BlockWork work;
  work.clocks = plan.is_of_lanes() ? clocks_of_lanes : clocks_of_threads;
  if (plan.split) {
    add_split(work, plan, sizes, architecture);
    return work;
  }
  if (plan.is_of_lanes())
    add_warps(work, plan, sizes, architecture);
  else if (plan.is_in_turn())
    add_in_turn(work, plan, sizes, architecture);
  else if (plan.is_tiled())
    add_tiles(work, plan, sizes, architecture);
  else
    add_threads(work, plan, sizes, architecture);
  const Traffic traffic = traffic_of(plan, sizes);
  work.read = traffic.read, work.written = traffic.written;
  work.code = code_of(work, plan);
  return work;
}

BlockWork in_layers(BlockWork work, int layers) {
  for (double* sum : {&work.read, &work.written, &work.again, &work.operations, &work.divisions,
                      &work.accesses, &work.blocks})
    *sum *= layers;
  return work;
}

double waiting_of(const BlockWork& work, const machine::GpuSpeeds& gpu) {
  constexpr double before_and_after = 0.75;
  const double waits = work.batches * work.waits, under_load = 2 * gpu.latency.value;
  return (work.is_ahead ? 2 * waits : waits + before_and_after) * under_load;
}

double block_cost_of(const BlockWork& work, const machine::GpuSpeeds& gpu) {
  const double batches = work.blocks * work.batches;
  const double memory = (work.read + work.written) / gpu.bytes.value + work.again / gpu.again.value;
  const double instructions = instructions_of(work);
  const double compute = std::max({instructions / gpu.operations.value, work.accesses / gpu.accesses.value,
                                   work.divisions / gpu.divisions.value});  // of one
  const machine::Architecture& architecture = *gpu.architecture;
  const double warps = static_cast<double>(work.needs.threads) / architecture.warp;
  const double slower = std::max(1., work.clocks * architecture.partitions / warps);
  const double waits = part_of_waiting * waiting_of(work, gpu) / work.batches;
  const double alone = std::max(waits, slower * compute / batches) + work.barriers * gpu.barrier.value;
  const auto time_of = [&](double blocks, double on_one) {
    return work.batches * std::max({blocks * memory / batches, on_one * compute / batches, alone});
  };
  const double most_on_one = machine::occupancy(architecture, work.needs).blocks;
  const double at_a_time = most_on_one * gpu.multiprocessors;
  const double full = std::floor(work.blocks / at_a_time), rest = work.blocks - full * at_a_time;
  const double launch = gpu.launch.value + work.code * gpu.fetch.value;
  double seconds = launch * work.launches + full * time_of(at_a_time, most_on_one);
  if (rest > 0) seconds += time_of(rest, std::clamp(rest / gpu.multiprocessors + 0.5, 1., most_on_one));
  return seconds;
}

CostModel gpu_costs(ir::Sizes sizes, const machine::GpuSpeeds& gpu) {
  return [sizes = std::move(sizes), gpu](const KernelPlan& plan) {
    return block_cost_of(block_work_of(plan, sizes, *gpu.architecture), gpu);
  };
}

}  // namespace weft::plan
