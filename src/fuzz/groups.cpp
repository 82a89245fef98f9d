#include "fuzz/groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/random.h"
#include "ir/visit.h"

namespace weft::fuzz {
namespace {

bool is_legal(const ir::Pipeline& prepared, const schedule::Grouping& grouping,
              const schedule::Memory& memory = {}) {
  const auto found = schedule::schedule_of_groups(prepared, grouping, schedule::Tiling::Block, memory);
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
  // Readers first: a stage can join what reads it, if that is one group, or is the last of its own.
  for (auto stage = prepared.stages.rbegin(); stage != prepared.stages.rend(); ++stage) {
    const std::string& name = (*stage)->name;
    const auto& by = readers[name];
    const bool has_one = !by.empty() && std::all_of(by.begin(), by.end(), [&](const std::string& reader) {
      return group_of.at(reader) == group_of.at(by[0]);
    });
    const bool joins = random.bits() % 4 != 0;  // large groups are what is hard
    if (has_one && joins) {
      std::vector<std::string>& group = groups[group_of.at(by[0])];
      group.insert(group.begin(), name);
      if (is_legal(prepared, grouping)) {
        group_of[name] = group_of.at(by[0]);
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
  return grouping;
}

schedule::Grouping legal_groups(const ir::Pipeline& prepared, const schedule::Grouping& grouping,
                                const schedule::Memory& memory) {
  schedule::Grouping legal;
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
  return legal;
}

}  // namespace weft::fuzz
