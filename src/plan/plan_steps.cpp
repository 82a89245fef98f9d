#include "plan/plan_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/evolutions.h"
#include "analysis/time_dependences.h"
#include "plan/core_strip.h"
#include "plan/planner.h"
#include "plan/rows_together.h"
#include "plan/steps_in_lanes.h"
#include "rewrite/unroll_steps.h"

namespace weft::plan {
namespace {

constexpr int usual_steps_of_split = 16;
constexpr int pixels_of_split = 256;  // in whole rows: what the threads of a block share at a time
// A kernel for what a larger one leaves over: of 31 steps on CPUs, 16 are one pass over the field, 12 three passes of 4, and 3 single
// ones. On GPUs, where a step takes as long as its pass over memory, 10 steps are passes of 6, 2 and 2.
struct Rest {
  int least_steps;  // of the larger kernel
  int steps;        // of the kernel for the rest
};
constexpr Rest rest_of_cores{16, 4}, rest_of_blocks{4, 2};
// Rows of a tile, for each of the steps that it takes, and at most; and of images that are computed together.
constexpr int least_height_of_steps = 8, most_height_of_steps = 512, most_rows_of_steps = 4;

/// Passes compute multiples of this number of pixels: whole vectors. Vectors of pixels of less than 4 bytes are so long that too
/// much would be computed in vain.
int whole_pixels(const March& march) {
  int least = 8;  // bytes of a scalar
  for (const RollingRows& r : march.rolling) least = std::min(least, size_of(r.source().type.scalar));
  return march.has_one_rate() && !march.has_lanes_apart() && least >= 4 ? line_bytes / least : 1;
}

/// Why steps do not go along the lanes of vectors: a clause, or nothing.
std::optional<std::string> why_not_along_lanes(const ir::Evolution& evolution,
                                               const rewrite::UnrolledSteps& chain, int steps,
                                               const Memory& memory, const Choices& asked) {
  const ir::Stage& field = *evolution.fields[0].initial;
  const bool is_line = evolution.fields.size() == 1 && field.box.size() == 1;
  if (!is_line || memory.is_of_blocks() || asked.traversal == Traversal::Static)
    return "lanes of a core's vectors march along lines of one field";
  const int width = width_in_lanes(field.type.scalar);
  if (asked.width.value_or(width) != width) return fmt::format("lanes of vectors make tiles {} wide", width);
  return why_not_in_lanes(*chain.versions.front().stage, steps);
}

/// Adds the kernel that takes several steps of an evolution at a time; or why there is none: a clause.
std::optional<std::string> add_at_once(KernelPlan& plan, const ir::Evolution& evolution, int steps,
                                       const Memory& memory, Choices asked) {
  const rewrite::UnrolledSteps chain = rewrite::unroll_steps(evolution, steps);
  if (!chain.why.empty()) return chain.why;
  std::vector<Loop> loops;
  for (const rewrite::Version& version : chain.versions) {
    loops.push_back(loop_of(*version.stage));
    loops.back().is_stored = chain.is_stored(version);
  }
  const GroupOrWhy found = group_of(loops, memory);
  if (!found.group) return found.why;
  const auto why_not = why_not_along_lanes(evolution, chain, steps, memory, asked);
  if (asked.in_lanes == true && why_not) return why_not;
  const bool in_lanes = asked.in_lanes.value_or(true) && !why_not;
  if (in_lanes) asked.width = width_in_lanes(evolution.fields[0].initial->type.scalar);
  asked.in_lanes.reset();
  // A tile begins twice as many rows above as steps go: low ones would compute mostly what others do, too.
  const int least = least_height_of_steps * steps;
  if (!memory.is_of_blocks() && asked.traversal != Traversal::Static) {
    const March& march = found.group->march;
    if (!asked.height)
      asked.height = multiples(least, least, std::max(least, most_height_of_steps), enough_strips);
    asked = with_rows_of_pass(asked, *found.group,
                              is_of_volumes(march) ? usual_rows_of_pass : most_rows_of_steps);
    if (!asked.width) asked.width = strip_width_of_steps(march, asked.rows.value_or(1));
    if (!asked.whole && *asked.width % line_bytes == 0) asked.whole = whole_pixels(march);
  }
  const std::int64_t from = asked.steps_from.value_or(0);
  asked.steps.reset(), asked.steps_from.reset();
  PlanOrWhy kernel = plan_of(*found.group, memory, asked);
  if (!kernel.plan) return kernel.why;
  kernel.plan->steps = steps, kernel.plan->steps_from = from;
  if (in_lanes) kernel.plan->levels.back().order = Order::March;
  plan.several.push_back(*std::move(kernel.plan));
  return std::nullopt;
}

/// The plan of an update of a field by itself, with the limits of code of the evolution.
KernelPlan plan_of_update(const ir::Evolution& evolution, std::size_t field, const ir::Stage& update,
                          const Memory& memory, const Choices& of_evolution) {
  Choices asked;
  asked.code = of_evolution.code;
  Loop loop = loop_of(update);
  loop.overwrites_what_it_reads = analysis::is_in_place(evolution, field);
  PlanOrWhy found = plan_of(*group_of({std::move(loop)}).group, memory, asked);
  if (!found.plan) throw InternalError("'" + update.name + "' has no plan: " + found.why);
  return *std::move(found.plan);
}

/// How long split tiles should be, where nobody says, by dimension. Those of a core leave rows whole, if there are several:
/// vectors and caches like them. Those of a block fit the first-level cache of a multiprocessor.
std::vector<int> lengths_of_split(std::size_t rank, const Memory& memory) {
  const bool is_of_blocks = memory.is_of_blocks();
  std::vector<int> lengths(rank, 0);
  if (rank == 1) lengths = {is_of_blocks ? 4096 : 16384};
  if (rank == 2) lengths = is_of_blocks ? std::vector{128, 32} : std::vector{0, 64};
  if (rank == 3) lengths = is_of_blocks ? std::vector{64, 12, 12} : std::vector{0, 24, 24};
  return lengths;
}

/// Adds the kernel that takes several steps of an evolution in split tiles; or why there is none: a clause.
std::optional<std::string> add_split(KernelPlan& plan, const ir::Evolution& evolution, int steps,
                                     const Memory& memory, const Choices& asked) {
  if (asked.width || asked.height || asked.lines || asked.traversal || asked.rows || asked.batch ||
      asked.whole || asked.edges || asked.of_warps == true || !asked.kept.empty())
    return "split tiles have no other extents than their own";
  const analysis::TimeDependences needs = analysis::time_dependences(evolution);
  const ir::Box& box = evolution.fields[0].initial->box;
  SplitOrWhy found = split_tiles(needs, steps, *asked.split, lengths_of_split(box.size(), memory));
  if (!found.tiles) return found.why;
  KernelPlan kernel;
  kernel.result = plan.result;
  std::vector<Extent> tile(box.size(), all_pixels());
  for (const SplitDimension& d : found.tiles->dims) tile[static_cast<std::size_t>(d.dim)] = fixed(d.pitch);
  const bool is_of_blocks = memory.is_of_blocks();
  kernel.levels = {{is_of_blocks ? LevelKind::Grid : LevelKind::Core, Order::Parallel, tile}};
  if (is_of_blocks) kernel.levels.push_back({LevelKind::Block, Order::Parallel, {fixed(pixels_of_split)}});
  kernel.levels.push_back({LevelKind::Step, Order::March, {fixed(found.tiles->steps)}});
  if (!is_of_blocks) kernel.levels.push_back({LevelKind::Vector, Order::Parallel, {}});
  for (std::size_t f = 0; f < evolution.fields.size(); ++f) {
    const ir::Evolving& field = evolution.fields[f];
    const KernelPlan update = plan_of_update(evolution, f, *field.update, memory, asked);
    kernel.computed.push_back(update.computed.back());
    for (const ImageUse& image : update.images) kernel.images.push_back(image);
    kernel.written.push_back({field.initial->name, field.initial->type, field.initial->box});
    kernel.passes.push_back({field.update->name});
  }
  kernel.steps = found.tiles->steps, kernel.steps_from = asked.steps_from.value_or(0);
  kernel.split = *std::move(found.tiles);
  kernel.code = plan.code;
  plan.several.push_back(std::move(kernel));
  return std::nullopt;
}

/// Whether the first step can read what fields begin with where it lies: it stores all pixels, over none that it reads,
/// and no later one looks back so far.
bool can_read_initial(const ir::Evolution& evolution, bool takes_several) {
  const std::vector<int> oldest = analysis::oldest_ages(evolution);
  bool is_in_place = false;
  for (std::size_t f = 0; f < oldest.size(); ++f) is_in_place |= analysis::arrays_of(evolution, f) == 1;
  return std::count(oldest.begin(), oldest.end(), 1) == std::ssize(oldest) && (takes_several || !is_in_place);
}

}  // namespace

std::optional<std::string> add_steps(KernelPlan& plan, const ir::Evolution& evolution, const Memory& memory,
                                     const Choices& asked) {
  if (asked.split) {
    if (const auto why =
            add_split(plan, evolution, asked.steps.value_or(usual_steps_of_split), memory, asked))
      return fmt::format("steps of '{}' are in no split tiles: {}", plan.result, *why);
  } else if (const int steps = asked.steps.value_or(1); steps > 1) {
    if (const auto why = add_at_once(plan, evolution, steps, memory, asked))
      return fmt::format("{} steps of '{}' are no kernel: {}", steps, plan.result, *why);
    // What is left over takes fewer passes than steps, and one over all fields, where that is possible.
    Choices of_rest;
    of_rest.steps_from = asked.steps_from, of_rest.code = asked.code;
    const Rest rest = memory.is_of_blocks() ? rest_of_blocks : rest_of_cores;
    if (steps >= rest.least_steps && steps % rest.steps == 0)
      add_at_once(plan, evolution, rest.steps, memory, of_rest);
    if (evolution.fields.size() > 1) add_at_once(plan, evolution, 1, memory, of_rest);
  }
  plan.reads_initial = !asked.split && can_read_initial(evolution, !plan.several.empty());
  if (plan.reads_initial) {
    for (const rewrite::Version& version : rewrite::single_step(evolution).versions)
      plan.updates.push_back(plan_of_update(evolution, version.field, *version.stage, memory, asked));
  } else {
    for (std::size_t f = 0; f < evolution.fields.size(); ++f)
      plan.updates.push_back(plan_of_update(evolution, f, *evolution.fields[f].update, memory, asked));
  }
  return std::nullopt;
}

}  // namespace weft::plan
