#include "plan/planner.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <set>

#include "analysis/footprint.h"
#include "analysis/phases.h"
#include "base/round_up.h"
#include "ir/visit.h"
#include "plan/block_strip.h"
#include "plan/core_strip.h"
#include "plan/passes.h"
#include "plan/plan_steps.h"
#include "plan/row_places.h"
#include "plan/rows_together.h"
#include "plan/thread_pixels.h"
#include "plan/verify.h"
#include "plan/warp_strip.h"

namespace weft::plan {
namespace {

// A window of fewer pixels is read from memory: the caches have it, and staging it costs barriers.
constexpr int least_window_pixels = 3;
// So many, or twice as many where windows reach further: few columns to copy, in whole vectors and lines of caches.
constexpr std::int64_t edge_columns = 64;
// Pixels of a row that are computed one by one where a core copies none beyond its ends: from this number on, copies
// pay (bench/results/2026-11-23-single-stages.md).
constexpr double enough_operations = 128, operations_of_division = 16;

// Of all rows of a volume that a thread reads: stars of radius 2 have 4, boxes of radius 1 have 18.
constexpr std::int64_t few_columns_beside = 4;

ImageUse use_of(const ir::Stage& stage) { return {stage.name, stage.type, stage.box}; }

// ---- what models count

/// Columns at both ends of a row whose windows leave the image: their pixels find their way back one by one,
/// not in vectors. Rows that are kept have copies beyond their ends instead.
int border_columns(const Loop& loop) {
  Reach reach;
  for (const ir::Read* read : loop.reads.reads) {
    if (!read->border || read->source->box.empty()) continue;
    const std::optional<Window> window = window_of(analysis::footprint(*read));
    if (window) reach = analysis::hull({reach}, {window->front()}).front();
  }
  return static_cast<int>(reach.extent() - 1);
}

/// Loads and stores of a pixel by a loop, of values that are lanes; those of `values` are not loaded.
double accesses_of(const Loop& loop, const std::set<const ir::Stage*>& values) {
  const int lanes = loop.stage().type.lanes;
  auto accesses = static_cast<double>(loop.operations.loads + 1) * lanes;
  if (values.count(&loop.stage())) accesses -= lanes;
  for (const ir::Stage* value : values) {
    if (reads(loop.reads, *value)) accesses -= value->type.lanes;
  }
  return accesses;
}

void count(KernelPlan& plan, const Group& group) {
  std::set<const ir::Stage*> inside, read;
  for (const Loop& loop : group.loops) inside.insert(&loop.stage());
  for (std::size_t l = 0; l < group.loops.size(); ++l) {
    const Loop& loop = group.loops[l];
    Computed computed{
        loop.stage().name, loop.stage().type, loop.stage().domain(), group.halos[l], loop.operations, 0, {}};
    computed.shared = loop.shared;
    computed.alike = loop.alike;
    computed.accesses = accesses_of(loop, group.values);
    if (group.stored.count(&loop.stage())) computed.accesses += 2 * loop.stage().type.lanes;
    computed.has_flat_lanes = loop.has_flat_lanes;
    computed.is_value = group.values.count(&loop.stage()) > 0;
    computed.border_columns = border_columns(loop);
    computed.phases = analysis::phase_count(loop.reads.reads, plan.code.phases);
    computed.is_gathered = computed.phases == 1 && analysis::divides_x(loop.reads.reads);
    std::set<const ir::Stage*> sources;
    for (const ir::Read* r : loop.reads.reads) {
      const ir::Stage& source = *r->source;
      if (!sources.insert(&source).second) continue;
      computed.reads.push_back(source.name);
      if (!inside.count(&source) && read.insert(&source).second) plan.images.push_back(use_of(source));
    }
    plan.computed.push_back(std::move(computed));
    for (const std::string& name : loop.in_place) plan.values.push_back(name);
    if (group.values.count(&loop.stage())) plan.values.push_back(loop.stage().name);
  }
  for (const Loop& loop : group.loops) {
    if (&loop.stage() == &group.result() || group.stored.count(&loop.stage()))
      plan.written.push_back(use_of(loop.stage()));
  }
}

/// Pixels that a plan's straight-line code computes together.
analysis::Neighbours neighbours_of(const KernelPlan& plan, const Group& group) {
  const int down = static_cast<int>(group.result().domain().size()) - 1;
  if (const Level* lane = plan.level(LevelKind::Lane)) return {0, lane->extent[0].fixed()};
  const Level* row = plan.level(LevelKind::Row);
  if (row == nullptr) return {};
  if (!plan.is_of_blocks()) return {down, plan.rows_of_pass()};
  return row->order == Order::Unrolled ? analysis::Neighbours{down, plan.height().fixed()}
                                       : analysis::Neighbours{};
}

/// What medians of pixels that are computed together have in common, once.
void count_medians(KernelPlan& plan, const Group& group) {
  const analysis::Neighbours neighbours = neighbours_of(plan, group);
  for (std::size_t l = 0; l < group.loops.size(); ++l) {
    if (!group.loops[l].of_medians.empty())
      plan.computed[l].operations = operations_together(group.loops[l], neighbours, plan.code);
  }
}

// ---- kernels that keep rows

Kept kept_of(const RollingRows& r, const Group& group) {
  Kept kept;
  kept.stage = r.source().name, kept.is_member = r.is_member;
  kept.is_stored = group.stored.count(&r.source()) > 0;
  kept.rate = r.rate, kept.window = r.window, kept.outside = r.outside;
  kept.continues = r.continues, kept.ahead = r.ahead;
  if (r.read.border) kept.border = BorderRule{r.read.border->mode, r.read.border->constant};
  kept.type = r.source().type, kept.box = r.source().box;
  return kept;
}

void add_passes(KernelPlan& plan, const std::vector<StagePass>& passes) {
  for (const StagePass& pass : passes) {
    Pass& names = plan.passes.emplace_back();
    for (const ir::Stage* stage : pass) names.push_back(stage->name);
  }
}

/// The room that was asked for, if any was.
void ask_for_rows(Kept& kept, const Choices& asked) {
  const auto found = asked.kept.find(kept.stage);
  if (found == asked.kept.end()) return;
  kept.rows = found->second.rows.value_or(kept.rows);
  kept.in_memory = found->second.in_memory.value_or(kept.in_memory);
}

/// Room for `columns` columns beside a tile: whole vectors, and another for what pixels computed in vain read: there are
/// less than a vector of them, and their windows reach no further than the others'.
int columns_beside(std::int64_t columns, int whole) {
  return static_cast<int>(whole > 1 ? round_up<std::int64_t>(columns, whole) + whole : columns);
}

void keep_in_caches(KernelPlan& plan, const Group& group, const Choices& asked) {
  const March& march = group.march;
  const Traversal traversal = asked.traversal.value_or(Traversal::March);
  const bool is_static = traversal == Traversal::Static;
  const int rows_of_pass = asked.rows.value_or(march.step[1]) / march.step[1];
  const int width = asked.width.value_or(strip_width(march, rows_of_pass));
  const Extent height =
      asked.height.value_or(multiples(height_step, least_height(march), most_height, enough_strips));
  const int lines =
      asked.lines.value_or(lines_of_tile(march, {width, is_static ? height.fixed() : 0, traversal}));
  std::vector<Extent> tile{fixed(width), height}, step{all_pixels(), fixed(rows_of_pass * march.step[1])};
  if (is_of_volumes(march))
    tile.insert(tile.begin() + 1, fixed(lines)), step.insert(step.begin() + 1, all_pixels());
  plan.levels = {{LevelKind::Core, Order::Parallel, tile},
                 {LevelKind::Row, is_static ? Order::Static : Order::March, step},
                 {LevelKind::Vector, Order::Parallel, {}}};
  plan.before = round_up(rows_before(march), rows_of_pass);
  plan.whole = asked.whole.value_or(1);
  // Wide tiles of one stage are at both ends of a row, narrow ones of groups copy less than tests for edges cost.
  const bool may_have_edges =
      group.members.size() == 1 && !is_static && !march.in_parts && march.has_one_rate();
  const std::vector<StagePass> passes = passes_of(group.members, march);
  const std::vector<int> places = places_of_rows(group.members, march, passes, traversal);
  for (std::size_t r = 0; r < march.rolling.size(); ++r) {
    const RollingRows& rolling = march.rolling[r];
    Kept kept = kept_of(rolling, group);
    const int lanes = kept.type.lanes;
    const bool apart = rolling.lanes_apart;
    const int own = at_rate(width, march.step[0], kept.rate[0]);
    const int left = columns_beside(-kept.x().min, plan.whole),
              right = columns_beside(kept.x().max, plan.whole);
    const int needed = plan.whole > 1 ? round_up(left + own + right, plan.whole) : left + own + right;
    const int columns = static_cast<int>(columns_in_lines(needed, rolling));
    kept.storage = is_static ? Storage::Tile : Storage::Ring;
    kept.rows =
        is_static ? room_for_rows(rolling, march, height.fixed()) : room_for_rows(rolling, rows_of_pass);
    kept.least_rows = is_static ? kept.rows : rows_needed(rolling, rows_of_pass);
    kept.lines = room_for_lines(rolling, lines);
    kept.lane_pitch = apart ? columns : 1;
    kept.first = left * (apart ? 1 : lanes);
    kept.pitch = columns * lanes;
    kept.place = places[r];
    kept.in_memory = !kept.is_member && !apart;
    ask_for_rows(kept, asked);
    if (may_have_edges && kept.in_memory && kept.is_copied()) {
      const std::int64_t least = std::max(kept.outside[0].min, kept.outside[0].max);
      plan.edges = std::max(plan.edges, static_cast<int>(round_up(least, edge_columns)));
    }
    plan.kept.push_back(std::move(kept));
  }
  plan.edges = asked.edges.value_or(plan.edges);
  add_passes(plan, passes);
  count_together(plan, group, passes, rows_of_pass);
}

/// Whether a pixel finds others behind borders at places that it computes: rows side by side would each take registers for it.
bool has_remainders(const Group& group) {
  return std::any_of(group.loops.begin(), group.loops.end(),
                     [](const Loop& loop) { return loop.operations.remainders > 0; });
}

void keep_in_shared_memory(KernelPlan& plan, const Group& group, const BlockStrip& strip,
                           const Choices& asked) {
  const March& march = group.march;
  const bool is_static = asked.traversal == Traversal::Static;
  const Extent height = is_static                  ? fixed(strip.batch)
                        : group.members.size() > 1 ? strip_heights_of_march(rows_before(march))
                                                   : strip_heights();
  std::vector<Extent> tile{fixed(strip.width), is_static ? height : asked.height.value_or(height)},
      batch{all_pixels(), fixed(strip.batch)};
  if (is_of_volumes(march)) {
    tile.insert(tile.begin() + 1, fixed(strip.lines));
    batch.insert(batch.begin() + 1, all_pixels());
  }
  plan.levels = {{LevelKind::Grid, Order::Parallel, tile},
                 {LevelKind::Block, Order::Parallel, {fixed(asked.columns.value_or(strip.columns))}},
                 {LevelKind::Batch, is_static ? Order::Static : Order::March, batch}};
  if (is_static) {
    const bool is_short = operations_of(group) * strip.batch * strip.lines <= most_unrolled_operations;
    const bool is_unrolled = asked.unrolled.value_or(is_short && !has_remainders(group));
    plan.levels.push_back(
        {LevelKind::Row, is_unrolled ? Order::Unrolled : Order::March, {all_pixels(), fixed(1)}});
  }
  if (strip.warps > 0) {
    plan.levels[1].extent = {fixed(1), fixed(strip.warps)};
    const Level warp{LevelKind::Warp, Order::Parallel, {fixed(lanes_of_warp)}};
    plan.levels.insert(plan.levels.begin() + 2, warp);
  }
  plan.before = strip.before;
  for (std::size_t r = 0; r < march.rolling.size(); ++r) {
    const RollingRows& rolling = march.rolling[r];
    Kept kept = kept_of(rolling, group);
    const RowRing& ring = strip.rings[r];
    kept.storage = is_static ? Storage::Tile : Storage::Ring;
    kept.rows = ring.rows, kept.lines = ring.lines, kept.first = ring.first, kept.pitch = ring.pitch;
    kept.least_rows = is_static ? kept.rows : rows_of_batch(rolling, march, strip.batch);
    kept.place = static_cast<int>(r);
    ask_for_rows(kept, asked);
    plan.kept.push_back(std::move(kept));
  }
  add_passes(plan, passes_of(group.members, march));
}

void keep_in_registers(KernelPlan& plan, const Group& group, const WarpStrip& strip, int multiprocessors,
                       const Choices& asked) {
  const bool is_static = asked.traversal == Traversal::Static;
  const Extent height =
      is_static ? fixed(strip.batch) : asked.height.value_or(heights_of_warps(strip, multiprocessors));
  plan.levels = {
      {LevelKind::Grid, Order::Parallel, {fixed(strip.width()), height}},
      {LevelKind::Warp, Order::Parallel, {fixed(lanes_of_warp * strip.pixels)}},
      {LevelKind::Batch, is_static ? Order::Static : Order::March, {all_pixels(), fixed(strip.batch)}},
      {LevelKind::Lane, Order::Unrolled, {fixed(strip.pixels)}}};
  const bool is_of_volume = is_of_volumes(group.march);
  if (is_of_volume) {
    const auto add_lines = [](Level& level, const Extent& lines) {
      level.extent.insert(level.extent.begin() + 1, lines);
    };
    add_lines(plan.levels[0], fixed(strip.lines)), add_lines(plan.levels[2], all_pixels());
    add_lines(plan.levels[3], fixed(strip.lines));
  }
  plan.before = strip.before;
  plan.prefetch = strip.prefetch, plan.registers = strip.registers;
  plan.first_column = strip.first_column;
  for (std::size_t r = 0; r < group.march.rolling.size(); ++r) {
    const RollingRows& rolling = group.march.rolling[r];
    const RegisterRows& rows = strip.rows[r];
    Kept kept = kept_of(rolling, group);
    kept.rows = rows.rows, kept.least_rows = std::max(rolling.rows, rolling.rate[1]);
    if (is_static) kept.storage = Storage::Tile, kept.resident = rows.resident, plan.share = strip.share;
    if (is_of_volume) kept.lines = room_for_lines(rolling, strip.lines);
    kept.first = rows.left * kept.type.lanes, kept.first_column = rows.first_column;
    const int own = at_rate(strip.pixels, plan.step[0], kept.rate[0]);
    kept.pitch = (rows.left + own + rows.right) * kept.type.lanes;
    kept.place = static_cast<int>(r);
    ask_for_rows(kept, asked);
    plan.kept.push_back(std::move(kept));
  }
  add_passes(plan, passes_of(group.members, group.march));
}

// ---- kernels of one stage

/// How a single stage marches with the images that it reads; nothing if it cannot.
std::optional<March> march_of_one(const Group& group) {
  if (!std::holds_alternative<ir::Pure>(group.result().definition)) return std::nullopt;
  const MarchOrWhy found = march_of(group.members);
  if (!found.march || found.march->rolling.empty()) return std::nullopt;
  // A field may have the name of an image, and rows are kept by name.
  std::set<std::string> names;
  for (const RollingRows& r : found.march->rolling) {
    if (!names.insert(r.source().name).second) return std::nullopt;
  }
  return found.march;
}

bool reads_windows(const March& march) {
  return march.has_one_rate() && std::any_of(march.rolling.begin(), march.rolling.end(), [](const auto& r) {
           return analysis::pixels_in(r.window) >= least_window_pixels;
         });
}

/// Windows that reach along one dimension alone share little of what a block of threads would keep of a volume.
bool reads_several_ways(const March& march) {
  return std::any_of(march.rolling.begin(), march.rolling.end(), [](const RollingRows& r) {
    return std::count_if(r.window.begin(), r.window.end(), [](const Reach& d) { return d.extent() > 1; }) > 1;
  });
}

/// The only member with all that its values read and compute.
Loop merged(const Group& group) {
  Loop all{group.members.back(), {}};
  for (const Loop& loop : group.loops) {
    all.operations += loop.operations;
    all.overwrites_what_it_reads |= loop.overwrites_what_it_reads;
    all.of_windows.insert(all.of_windows.end(), loop.of_windows.begin(), loop.of_windows.end());
  }
  return all;
}

/// Whether a core is faster if it goes through tiles of a single stage. It computes no pixels at the ends of rows one
/// by one, but does more for each row, and reads short pieces of rows.
bool pays_for_core(const March& march, const Group& group) {
  if (march.has_lanes_apart() || !reads_windows(march)) return false;
  const Loop all = merged(group);
  const auto operations =
      static_cast<double>(all.operations.alu + operations_of_division * all.operations.sfu);
  int columns = 0;
  for (const RollingRows& r : march.rolling) columns += static_cast<int>(r.outside[0].min + r.outside[0].max);
  return columns * operations >= enough_operations;
}

/// Whether threads of a GPU do better with what caches find for them than with planes of a volume that warps keep: those leave
/// room for few warps. Each column beside a thread's own takes as long as a whole row (bench/results/2026-11-26-h100-volumes.md).
bool leaves_planes_to_caches(const Group& group, const Choices& asked) {
  if (asked.of_warps == true) return false;
  const auto several = thread_pixels(merged(group), limits_with(true, asked.code));
  return several && several->columns_beside <= few_columns_beside;
}

/// Whether it is faster to keep the rows that a single stage reads.
bool pays_for_one(const March& march, const Group& group, const Memory& memory, const Choices& asked) {
  if (!memory.is_of_blocks()) return pays_for_core(march, group);
  if (!is_of_volumes(march)) return reads_windows(march);
  return reads_windows(march) && reads_several_ways(march) && !leaves_planes_to_caches(group, asked);
}

/// A plan of one stage whose pixels are divided among threads, or its rows among cores.
void divide_pixels(KernelPlan& plan, const Group& group, const Memory& memory, const Choices& asked) {
  const ir::Stage& stage = group.result();
  std::vector<Extent> one(stage.domain().size(), fixed(1));
  if (!memory.is_of_blocks()) {
    if (one.size() > 1) one[0] = all_pixels();
    plan.levels = {{LevelKind::Core, Order::Parallel, one}, {LevelKind::Vector, Order::Parallel, {}}};
    return;
  }
  const bool is_pure = !plan.scatter && std::holds_alternative<ir::Pure>(stage.definition);
  const Loop all = merged(group);
  const std::optional<ThreadPixels> several = is_pure ? thread_pixels(all, plan.code) : std::nullopt;
  const int most = several ? several->pixels : 0;
  const int pixels =
      most > 0 && asked.pixels && most % *asked.pixels == 0 ? *asked.pixels : most;  // whole accesses
  if (pixels > 0) one[0] = fixed(pixels);
  if (is_pure && (pixels > 0 ? shares_planes(all, pixels) : has_planes_in_common(all.reads)))
    one[2] = all_pixels();
  const bool may_have_rows = is_pure && pixels == 0 && one.size() == 2 && !all.overwrites_what_it_reads;
  const int rows = may_have_rows ? rows_of_thread(all.reads) : 1;
  if (rows > 1) one[1] = fixed(asked.rows.value_or(rows));
  plan.levels = {{LevelKind::Grid, Order::Parallel, one}};
  if (pixels > 0) plan.levels.push_back({LevelKind::Lane, Order::Unrolled, {fixed(pixels)}});
  plan.shares_rows = is_pure && pixels == 0 && reads_shared_rows(all.reads);
}

/// A plan of a reduction of what is in memory.
void divide_parts(KernelPlan& plan, const Memory& memory) {
  const Extent columns = fixed(plan.parts->columns), rows = fixed(plan.parts->rows);
  if (memory.is_of_blocks())
    plan.levels = {{LevelKind::Grid, Order::Parallel, {columns, rows}},
                   {LevelKind::Block, Order::Parallel, {fixed(plan.parts->accumulators)}}};
  else
    plan.levels = {{LevelKind::Core, Order::Parallel, {columns, rows}},
                   {LevelKind::Vector, Order::Parallel, {fixed(plan.parts->accumulators)}}};
}

/// What every plan of the group says.
KernelPlan begun(const Group& group, const Memory& memory, const Choices& asked) {
  KernelPlan plan;
  plan.result = group.result().name;
  plan.step = group.march.step;
  plan.code = limits_with(memory.is_of_blocks(), asked.code);
  if (const auto* reduce = std::get_if<ir::Reduce>(&group.result().definition))
    plan.parts = parts_of(*reduce, memory);
  if (const ir::Stage& first = *group.members[0].stage; std::holds_alternative<ir::Scatter>(first.definition))
    plan.scatter = scatter_of(first, memory);
  count(plan, group);
  return plan;
}

KernelPlan without_rows(const Group& group, const Memory& memory, const Choices& asked) {
  KernelPlan plan = begun(group, memory, asked);
  plan.step = {1, 1};
  if (plan.parts)
    divide_parts(plan, memory);
  else
    divide_pixels(plan, group, memory, asked);
  for (const StageReads& member : group.members) plan.passes.push_back({member.stage->name});
  return plan;
}

/// A plan of stages that one block computes in turn.
KernelPlan in_turn(const Group& group, const Memory& memory, const Choices& asked) {
  KernelPlan plan = begun(group, memory, asked);
  plan.levels = {{LevelKind::Grid, Order::Parallel, {all_pixels()}}};
  for (const StageReads& member : group.members) plan.passes.push_back({member.stage->name});
  return plan;
}

std::optional<std::string> why_not_in_tiles(const Group& group, const Memory& memory, const Choices& asked) {
  if (group.march.in_parts && (asked.width || asked.height || asked.traversal))
    return "the strips of a reduction are as wide as its parts";
  return memory.is_of_blocks() ? why_not_asked_of_blocks(group.march, group.result(), asked)
                               : why_not_in_cores(asked, group.march);
}

/// Unless what is asked for is a block's, or a static tile.
bool may_be_of_lanes(const Memory& memory, const Choices& asked) {
  const bool is_of_block = asked.width || asked.columns || asked.batch || asked.traversal;
  return memory.has_warps && asked.traversal != Traversal::Static && asked.of_warps.value_or(!is_of_block);
}

/// Lanes have pixels of their own in rows that a share of stays in registers.
bool is_hybrid(const Choices& asked) {
  return asked.of_warps == true && asked.traversal == Traversal::Static && (asked.share || asked.pixels);
}

/// The group marches; or why it does not in such tiles.
PlanOrWhy with_rows(const Group& group, const Memory& memory, const Choices& asked) {
  KernelPlan plan = begun(group, memory, asked);
  if (asked.of_warps == true && !memory.has_warps)
    return {std::nullopt, fmt::format("no warps share out tiles of '{}' there", plan.result)};
  if (may_be_of_lanes(memory, asked)) {
    const Group of_lanes = in_lanes(group);
    const WarpStripOrWhy found = warp_strip(of_lanes, asked);
    if (found.strip) keep_in_registers(plan, of_lanes, *found.strip, memory.multiprocessors, asked);
    if (found.strip) return {std::move(plan), ""};
    if (asked.of_warps == true) return {std::nullopt, found.why};
  }
  if (is_hybrid(asked)) {
    const WarpStripOrWhy found = hybrid_tile(group, *memory.shared_bytes, asked);
    if (!found.strip) return {std::nullopt, found.why};
    keep_in_registers(plan, group, *found.strip, memory.multiprocessors, asked);
    return {std::move(plan), ""};
  }
  if (auto why = why_not_in_tiles(group, memory, asked)) return {std::nullopt, std::move(*why)};
  if (!memory.is_of_blocks()) {
    const bool sorts = std::any_of(group.loops.begin(), group.loops.end(),
                                   [](const Loop& loop) { return !loop.of_medians.empty(); });
    keep_in_caches(plan, group,
                   with_rows_of_pass(asked, group, sorts ? most_rows_of_pass : usual_rows_of_pass));
    return {std::move(plan), ""};
  }
  const auto strip = block_strip(group.march, group.result(), *memory.shared_bytes, asked);
  if (!strip) return {std::nullopt, why_rows_do_not_fit(group.march, *memory.shared_bytes, asked)};
  keep_in_shared_memory(plan, group, *strip, asked);
  return {std::move(plan), ""};
}

/// What is asked for in vain: a clause, or nothing.
std::optional<std::string> why_not_followed(const KernelPlan& plan, const Choices& asked) {
  if (asked.steps.value_or(1) > 1 || asked.split)
    return fmt::format("the kernel of '{}' is of no evolution, which alone takes steps", plan.result);
  if (asked.in_lanes == true)
    return fmt::format("the kernel of '{}' is of no steps of a line, which alone go along lanes",
                       plan.result);
  if (asked.in_turn.value_or(plan.is_in_turn()) != plan.is_in_turn())
    return fmt::format("the stages of the kernel of '{}' are {}computed in turn", plan.result,
                       plan.is_in_turn() ? "" : "not ");
  const bool asks_for_tiles = asked.width || asked.lines || asked.whole || asked.edges || asked.height ||
                              asked.traversal || (asked.rows && !plan.is_of_blocks()) || asked.columns ||
                              asked.batch || asked.of_warps == true;
  if (asks_for_tiles && !plan.is_tiled()) return fmt::format("the kernel of '{}' has no tiles", plan.result);
  if (plan.is_of_lanes() && asked.width && *asked.width != plan.width())
    return fmt::format("the lanes of a warp make tiles of '{}' {} wide, not {}", plan.result, plan.width(),
                       *asked.width);
  if (asked.rows.value_or(1) > 1 && plan.is_of_blocks() && asked.rows != plan.rows_of_threads())
    return fmt::format(
        "{} rows of '{}' at a time are for passes of a core, and threads that find pixels by others",
        *asked.rows, plan.result);
  const Level* batch = plan.level(LevelKind::Batch);
  if (asked.traversal && plan.is_tiled() && plan.is_static() != (asked.traversal == Traversal::Static))
    return fmt::format("the kernel of '{}' goes through its tiles another way", plan.result);
  if (plan.is_of_blocks() && plan.is_static() && asked.batch && *asked.batch != plan.height().fixed())
    return fmt::format("a static tile of '{}' is one batch of {} rows, not of {}", plan.result,
                       plan.height().fixed(), *asked.batch);
  const bool is_hybrid = plan.is_of_lanes() && plan.is_static();
  if (asked.share && !is_hybrid)
    return fmt::format("no share of the rows of '{}' stays in registers: that is for static tiles of warps",
                       plan.result);
  if (asked.warps && *asked.warps != plan.warps())
    return fmt::format("blocks of '{}' have no {} warps with tiles of their own", plan.result, *asked.warps);
  if (plan.is_of_lanes() && asked.batch && *asked.batch != batch->extent.back().fixed())
    return fmt::format("the rows that lanes of '{}' keep make batches of {}{}, not of {}", plan.result,
                       batch->extent.back().fixed(),
                       plan.is_of_volume() ? "" : fmt::format(", or of {}", plan.step[1]), *asked.batch);
  for (const auto& [stage, choices] : asked.kept) {
    if (!plan.kept_of(stage))
      return fmt::format("the kernel of '{}' keeps no rows of '{}'", plan.result, stage);
  }
  const Level* lane = plan.level(LevelKind::Lane);
  const int pixels = lane ? lane->extent.at(0).fixed() : 1;
  if (asked.pixels && *asked.pixels != pixels)
    return fmt::format("threads of '{}' compute no {} pixels at a time", plan.result, *asked.pixels);
  return std::nullopt;
}

PlanOrWhy verified(PlanOrWhy found, const Memory& memory, const Choices& asked) {
  if (!found.plan || !found.plan->several.empty())
    return found;  // the kernel of several steps has been verified
  if (auto why = why_not_followed(*found.plan, asked)) return {std::nullopt, std::move(*why)};
  if (auto why = why_impossible(*found.plan, memory)) return {std::nullopt, std::move(*why)};
  return found;
}

/// Of a group of one member, which keeps rows where that is asked for, or where it pays and they fit.
PlanOrWhy plan_of_one(const Group& group, const Memory& memory, const Choices& asked) {
  if (const auto* evolve = std::get_if<ir::Evolve>(&group.result().definition)) {
    KernelPlan plan = without_rows(group, memory, asked);
    if (auto why = add_steps(plan, *evolve->evolution, memory, asked)) return {std::nullopt, std::move(*why)};
    return {std::move(plan), ""};
  }
  const std::optional<March> march = march_of_one(group);
  const bool must = asked.keeps_rows.value_or(!asked.kept.empty());
  if (must && !march)
    return {std::nullopt, "'" + group.result().name + "' cannot keep rows of what it reads"};
  const bool pays = march && pays_for_one(*march, group, memory, asked);
  if (must || (pays && asked.keeps_rows != false)) {
    Group marching = group;
    marching.march = *march;
    PlanOrWhy found = with_rows(marching, memory, asked);
    Choices of_tiles = asked;
    of_tiles.code.clear();
    if (found.plan || !(of_tiles == Choices{})) return found;
  }
  return {without_rows(group, memory, asked), ""};
}

}  // namespace

KernelPlan plan_of(const Group& group, const Memory& memory) {
  PlanOrWhy found = plan_of(group, memory, {});
  if (!found.plan) throw InternalError("'" + group.result().name + "' has no plan: " + found.why);
  return *std::move(found.plan);
}

KernelPlan plan_of(const ir::Stage& stage, const Memory& memory) {
  return plan_of(*group_of({loop_of(stage)}).group, memory);
}

PlanOrWhy plan_of(const Group& group, const Memory& memory, const Choices& asked) {
  if (group.is_in_turn) return verified({in_turn(group, memory, asked), ""}, memory, asked);
  if (group.members.size() > 1 && asked.keeps_rows.value_or(!group.ends_columns()) == group.ends_columns())
    return {std::nullopt,
            fmt::format("a group of several stages keeps {}", group.ends_columns() ? "columns" : "rows")};
  PlanOrWhy found = group.members.size() == 1 ? plan_of_one(group, memory, asked)
                    : group.ends_columns()    ? PlanOrWhy{without_rows(group, memory, asked), ""}
                                              : with_rows(group, memory, asked);
  if (found.plan) count_medians(*found.plan, group);
  return verified(std::move(found), memory, asked);
}

}  // namespace weft::plan
