#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "plan/json.h"
#include "schedule/groups.h"

namespace weft::schedule {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_tile_extent = 1 << 16;
constexpr const char *march = "march", *at_rest = "static";
constexpr const char *prepared_key = "prepared", *for_search = "for search";

/// Far beyond any schedule, and far from what the stack could not bear.
constexpr std::size_t most_bytes = 16 << 20;
constexpr int most_depth = 32;

/// A part of what the parser throws: the number in "… number overflow parsing '1e999'".
std::string number_in(const std::string& message) {
  const std::size_t open = message.find('\''), close = message.rfind('\'');
  return open < close ? message.substr(open + 1, close - open - 1) : message;
}

/// Looks at what the parser meets, before it becomes a part of anything.
class Limits {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    if (depth > most_depth) throw Error(fmt::format("the schedule is nested more than {} deep", most_depth));
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto key = value.get<std::string>();
      if (!keys_.back().insert(key).second)
        throw Error("the schedule says '" + key + "' twice").help("leave one of them");
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

Json parsed(const std::string& text) {
  if (text.size() > most_bytes)
    throw Error(
        fmt::format("the schedule has {} bytes, and more than {} make no sense", text.size(), most_bytes));
  try {
    Limits limits;
    return Json::parse(
        text, [&](int depth, Json::parse_event_t event, Json& value) { return limits(depth, event, value); });
  } catch (const Json::parse_error& error) {
    const std::size_t before = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(before), '\n');
    throw Error(fmt::format("the schedule is not JSON; see its line {}", line));
  } catch (const Json::out_of_range& error) {
    throw Error("the schedule has a number that is beyond all bounds: " + number_in(error.what()));
  }
}

Error not_a_schedule(const std::string& why) {
  return Error("the schedule " + why)
      .help(R"(write {"groups": [["dx", "dy", "mag"], …]}, as explain --json does)");
}

Groups groups_from(const Json& list) {
  if (!list.is_array()) throw not_a_schedule("has groups that are no list");
  Groups groups;
  for (const Json& group : list) {
    if (!group.is_array() ||
        !std::all_of(group.begin(), group.end(), [](const Json& s) { return s.is_string(); }))
      throw not_a_schedule("has a group that is no list of stages' names");
    groups.push_back(group.get<std::vector<std::string>>());
  }
  return groups;
}

Error not_a_tile(const std::string& result) {
  return Error(fmt::format("the schedule's tile of '{}' makes no sense", result))
      .help(R"(write {"width": 256, "height": 64}, and "traversal": "static" if it does not march)");
}

int pixels_from(const Json& tile, const char* extent, const std::string& result) {
  if (!tile.contains(extent) || !tile[extent].is_number_unsigned()) throw not_a_tile(result);
  const auto pixels = tile[extent].get<std::uint64_t>();
  if (pixels == 0 || pixels > most_tile_extent)
    throw Error(fmt::format("the schedule's tile of '{}' has a {} of {}", result, extent, pixels))
        .help(fmt::format("give it 1 to {} pixels", most_tile_extent));
  return static_cast<int>(pixels);
}

Tile tile_from(const Json& tile, const std::string& result) {
  if (!tile.is_object() || tile.size() != (tile.contains("traversal") ? 3U : 2U)) throw not_a_tile(result);
  const Json traversal = tile.value("traversal", Json(march));
  if (traversal != march && traversal != at_rest) throw not_a_tile(result);
  return {pixels_from(tile, "width", result), pixels_from(tile, "height", result),
          traversal == march ? Traversal::March : Traversal::Static};
}

Json as_json(const Groups& groups, rewrite::Preparation preparation) {
  Json json{{"groups", groups}};
  if (preparation == rewrite::Preparation::ForSearch) json[prepared_key] = for_search;
  return json;
}

}  // namespace

Grouping grouping_from_json(const std::string& text) {
  Json json = parsed(text);
  if (json.is_object() && json.contains("schedule")) json = Json(json["schedule"]);
  if (!json.is_object() || !json.contains("groups")) throw not_a_schedule("has no groups");
  for (const auto& [key, value] : json.items()) {
    if (key != "groups" && key != "tiles" && key != "kernels" && key != prepared_key)
      throw not_a_schedule("says '" + key + "', which is unknown");
  }
  Grouping grouping{groups_from(json["groups"]), {}};
  if (json.contains(prepared_key)) {
    if (json[prepared_key] != for_search)
      throw not_a_schedule(fmt::format("is prepared for something else, not '{}'", for_search));
    grouping.preparation = rewrite::Preparation::ForSearch;
  }
  if (json.contains("kernels")) {
    if (!json["kernels"].is_object()) throw not_a_schedule("has kernels that are not by stages' names");
    for (const auto& [result, kernel] : json["kernels"].items())
      grouping.kernels[result] = plan::choices_from(kernel, result);
  }
  if (!json.contains("tiles")) return grouping;
  if (!json["tiles"].is_object()) throw not_a_schedule("has tiles that are not by stages' names");
  for (const auto& [result, tile] : json["tiles"].items()) grouping.tiles[result] = tile_from(tile, result);
  return grouping;
}

std::string to_json(const Groups& groups) { return Json{{"groups", groups}}.dump(); }

std::string to_json(const Grouping& grouping) {
  Json json = as_json(grouping.groups, grouping.preparation);
  for (const auto& [result, tile] : grouping.tiles) {
    Json& one = json["tiles"][result] = {{"width", tile.width}, {"height", tile.height}};
    if (tile.traversal == Traversal::Static) one["traversal"] = at_rest;
  }
  for (const auto& [result, kernel] : grouping.kernels) json["kernels"][result] = plan::as_json(kernel);
  return json.dump();
}

std::string to_json(const Schedule& schedule) {
  Json json = as_json(groups_of(schedule), schedule.preparation);
  for (const plan::KernelPlan& kernel : schedule.kernels) {
    if (kernel.evolves_with.empty()) json["kernels"][kernel.result] = plan::as_json(kernel);
  }
  return json.dump();
}

}  // namespace weft::schedule
