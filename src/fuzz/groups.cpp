#include "fuzz/groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/random.h"
#include "ir/visit.h"
#include "plan/block_strip.h"

namespace weft::fuzz {
namespace {

bool is_legal(const ir::Pipeline& prepared, const schedule::Grouping& grouping,
              const schedule::Memory& memory = {}) {
  const auto found = schedule::schedule_of_groups(prepared, grouping, schedule::Tiling::March, memory);
  return found.schedule.has_value();
}

/// Adds tiles as far as they are legal.
void add_tiles(schedule::Grouping& grouping, const schedule::Tiles& tiles, const ir::Pipeline& prepared,
               const schedule::Memory& memory = {}) {
  for (const auto& [result, tile] : tiles) {
    grouping.tiles[result] = tile;
    if (!is_legal(prepared, grouping, memory)) grouping.tiles.erase(result);
  }
}

/// Adds what is asked of kernels, as far as it is legal.
void add_kernels(schedule::Grouping& grouping, const std::map<std::string, plan::Choices>& kernels,
                 const ir::Pipeline& prepared, const schedule::Memory& memory) {
  for (const auto& [result, choices] : kernels) {
    grouping.kernels[result] = choices;
    if (!is_legal(prepared, grouping, memory)) grouping.kernels.erase(result);
  }
}

bool is_one_in(Random& random, int count) { return random.bits() % static_cast<unsigned>(count) == 0; }

/// Split tiles of some dimensions, mostly with room for the steps that random pipelines take.
plan::SplitChoices random_split(Random& random, int rank) {
  plan::SplitChoices split;
  split.scheme = static_cast<plan::SplitScheme>(random.bits() % 3);
  for (int d = 0; d < std::min(rank, 3); ++d) {
    const int top = 1 + static_cast<int>(random.bits() % 4);
    if (is_one_in(random, 2)) split.tiles[d] = {top + static_cast<int>(random.bits() % 16), top};
  }
  return split;
}

/// That a pass computes at a time.
int random_rows(Random& random) { return 1 + static_cast<int>(random.bits() % 4); }

/// Something else than what was chosen for a kernel, of each part with some probability.
plan::Choices random_choices(Random& random, const plan::KernelPlan& chosen) {
  plan::Choices asked;
  asked.of_blocks = chosen.is_of_blocks();
  if (chosen.is_of_blocks()) asked.of_warps = false;
  if (!chosen.updates.empty()) {
    asked.steps = 1 + static_cast<int>(random.bits() % 4);  // runs have few steps
    if (is_one_in(random, 2)) {
      asked.steps = 2 << random.bits() % 2;  // most fields have one or two arrays
      asked.split = random_split(random, static_cast<int>(chosen.computed.back().domain.size()));
      return asked;
    }
    if (is_one_in(random, 2)) asked.width = 8 << random.bits() % 5;
    if (!chosen.is_of_blocks() && *asked.steps > 1 && is_one_in(random, 2)) asked.rows = random_rows(random);
    return asked;
  }
  if (chosen.passes.size() == 1 && chosen.kept.empty()) {
    if (is_one_in(random, 2)) asked.keeps_rows = true;
    if (is_one_in(random, 2)) asked.pixels = 1 << random.bits() % 3;
  } else if (chosen.passes.size() == 1 && is_one_in(random, 4)) {
    asked.keeps_rows = false;
    return asked;
  }
  if (is_one_in(random, 2) && !chosen.parts) asked.width = 8 << random.bits() % 5;
  if (is_one_in(random, 3) && !chosen.parts) {
    const int height = 4 << random.bits() % 4;
    asked.height = plan::Extent{{4 * height, height}, static_cast<int>(random.bits() % 12) + 1};
  }
  if (is_one_in(random, 2) && chosen.is_of_blocks()) asked.batch = 1 << random.bits() % 4;
  if (is_one_in(random, 4) && chosen.is_of_blocks()) asked.columns = 32 << random.bits() % 4;
  if (!chosen.is_of_blocks() && chosen.is_tiled() && chosen.has_one_rate() && !chosen.parts &&
      is_one_in(random, 2)) {
    asked.edges = is_one_in(random, 2) ? 0 : 4 << random.bits() % 5;
    if (asked.edges == 0) asked.whole = 4 << random.bits() % 3;
  }
  if (!chosen.is_of_blocks() && chosen.is_tiled() && chosen.has_one_rate() && !chosen.parts &&
      !chosen.is_static() && chosen.levels[0].extent.size() == 2 && is_one_in(random, 2))
    asked.rows = random_rows(random);
  for (const plan::Kept& kept : chosen.kept) {
    if (kept.storage == plan::Storage::Ring && is_one_in(random, 3))
      asked.kept[kept.stage].rows = kept.rows << random.bits() % 2;
    if (kept.in_memory && is_one_in(random, 2)) asked.kept[kept.stage].in_memory = false;
  }
  return asked;
}

/// Of a GPU: all of a stage before the next, in a tile of a block's or of one of its warps.
plan::Choices random_static_tile(Random& random, const schedule::Memory& memory,
                                 const plan::KernelPlan& chosen) {
  plan::Choices asked;
  for (const plan::Kept& kept : chosen.kept) {
    if (is_one_in(random, 8)) asked.kept[kept.stage].rows = 48;  // more than any needs
  }
  asked.of_blocks = true, asked.of_warps = memory.has_warps && is_one_in(random, 2);
  asked.traversal = plan::Traversal::Static;
  if (is_one_in(random, 2)) asked.height = plan::fixed(1 + static_cast<int>(random.bits() % 12));
  if (*asked.of_warps && is_one_in(random, 2)) {
    asked.share = static_cast<int>(random.bits() % 101);
    if (is_one_in(random, 2)) asked.pixels = 1 << random.bits() % 3;
    return asked;
  }
  if (*asked.of_warps && is_one_in(random, 2)) asked.warps = 1 + static_cast<int>(random.bits() % 5);
  if (is_one_in(random, 2)) asked.width = 8 << random.bits() % 5;
  if (is_one_in(random, 3)) asked.unrolled = is_one_in(random, 2);
  return asked;
}

/// Low ones, so that loops take the place of straight-line code in small windows, too.
plan::LimitChoices random_limits(Random& random) {
  plan::LimitChoices limits;
  for (const plan::CodeLimit& limit : plan::code_limits) {
    if (is_one_in(random, 2)) limits[limit.name] = std::min(1 << random.bits() % 5, limit.most);
  }
  return limits;
}

/// Of a warp: its lanes' pixels, and whole batches of rows.
plan::Choices random_choices_of_warp(Random& random, const plan::KernelPlan& chosen) {
  plan::Choices asked;
  asked.of_blocks = asked.of_warps = true;
  if (is_one_in(random, 2)) asked.pixels = 1 << random.bits() % 4;
  if (chosen.is_of_volume() && is_one_in(random, 2)) asked.lines = 1 + static_cast<int>(random.bits() % 8);
  const int batch = chosen.level(plan::LevelKind::Batch)->extent.back().fixed();
  const auto turns = static_cast<int>(random.bits() % 8) + 1 + chosen.before / batch;
  if (is_one_in(random, 2)) asked.height = plan::fixed(turns * batch - chosen.before);
  if (!chosen.is_of_volume() && is_one_in(random, 2)) asked.batch = chosen.step[1];  // rows move up
  return asked;
}

/// Of the evolutions, and half of the other kernels, that the groups make for that memory.
std::map<std::string, plan::Choices> random_kernels(Random& random, const ir::Pipeline& prepared,
                                                    const schedule::Grouping& grouping,
                                                    const schedule::Memory& memory) {
  std::map<std::string, plan::Choices> kernels;
  const auto found = schedule_of_groups(prepared, grouping, schedule::Tiling::March, memory);
  if (!found.schedule) return kernels;
  for (const plan::KernelPlan& chosen : found.schedule->kernels) {
    if (chosen.updates.empty() && !is_one_in(random, 2)) continue;
    if (chosen.is_of_blocks() && chosen.updates.empty() && is_one_in(random, 6)) {
      kernels[chosen.result].of_blocks = kernels[chosen.result].in_turn = true;
      continue;
    }
    if (chosen.is_of_blocks() && chosen.is_tiled() && !chosen.parts && is_one_in(random, 3))
      kernels[chosen.result] = random_static_tile(random, memory, chosen);
    else
      kernels[chosen.result] =
          chosen.is_of_lanes() ? random_choices_of_warp(random, chosen) : random_choices(random, chosen);
    if (is_one_in(random, 4)) kernels[chosen.result].code = random_limits(random);
  }
  return kernels;
}

schedule::Tile random_tile(Random& random) {
  constexpr std::array widths = {4, 8, 24, 40, 64, 96, 200};
  constexpr std::array heights = {1, 2, 4, 12, 20, 64};
  return {widths[random.bits() % widths.size()], heights[random.bits() % heights.size()],
          random.bits() % 2 ? schedule::Traversal::Static : schedule::Traversal::March};
}

}  // namespace

schedule::Grouping random_groups(const ir::Pipeline& prepared, std::uint64_t seed) {
  constexpr std::uint64_t of_groups = 0x6b8b4567;  // other numbers than those of the images
  Random random(seed ^ of_groups);
  schedule::Grouping grouping;
  schedule::Groups& groups = grouping.groups;
  std::map<std::string, std::size_t> group_of;
  std::map<std::string, std::vector<std::string>> readers;
  for (const ir::StagePtr& stage : prepared.stages) {
    for (const ir::StagePtr& source : ir::sources(*stage)) readers[source->name].push_back(stage->name);
  }
  // Readers first: a stage joins a group that reads it, or has nothing to do with it, or is the last of its own.
  for (auto stage = prepared.stages.rbegin(); stage != prepared.stages.rend(); ++stage) {
    const std::string& name = (*stage)->name;
    const auto& by = readers[name];
    const bool joins = !is_one_in(random, 4);  // large groups are what is hard
    if (joins && !groups.empty()) {
      const std::size_t joined = by.empty() || is_one_in(random, 8)
                                     ? random.bits() % groups.size()
                                     : group_of.at(by[random.bits() % by.size()]);
      std::vector<std::string>& group = groups[joined];
      group.insert(group.begin(), name);
      if (is_legal(prepared, grouping)) {
        group_of[name] = joined;
        continue;
      }
      group.erase(group.begin());
    }
    group_of[name] = groups.size();
    groups.push_back({name});
  }
  std::erase_if(groups, [](const auto& group) { return group.size() == 1; });
  schedule::Tiles tiles;
  for (const auto& group : groups) {
    if (random.bits() % 2 == 0) tiles[group.back()] = random_tile(random);
  }
  add_tiles(grouping, tiles, prepared);
  // A kernel is asked for of one processor or the other.
  const schedule::Memory memory = is_one_in(random, 2)
                                      ? schedule::Memory{}
                                      : schedule::Memory{plan::most_shared_bytes, is_one_in(random, 2)};
  add_kernels(grouping, random_kernels(random, prepared, grouping, memory), prepared, memory);
  return grouping;
}

schedule::Grouping legal_groups(const ir::Pipeline& prepared, const schedule::Grouping& grouping,
                                const schedule::Memory& memory) {
  schedule::Grouping legal;
  legal.preparation = grouping.preparation;
  for (std::vector<std::string> group : grouping.groups) {
    std::erase_if(group, [&](const std::string& name) {
      return std::none_of(prepared.stages.begin(), prepared.stages.end(),
                          [&](const ir::StagePtr& stage) { return stage->name == name; });
    });
    if (group.size() < 2) continue;
    legal.groups.push_back(std::move(group));
    if (!is_legal(prepared, legal, memory)) legal.groups.pop_back();
  }
  add_tiles(legal, grouping.tiles, prepared, memory);
  add_kernels(legal, grouping.kernels, prepared, memory);
  return legal;
}

}  // namespace weft::fuzz
