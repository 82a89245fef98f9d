#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schedule/groups.h"

namespace weft::schedule {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t before = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(before), '\n');
    throw Error(fmt::format("the schedule is not JSON; see its line {}", line));
  }
}

Error not_a_schedule(const std::string& why) {
  return Error("the schedule " + why)
      .help(R"(write {"groups": [["dx", "dy", "mag"], …]}, as explain --json does)");
}

}  // namespace

Groups groups_from_json(const std::string& text) {
  Json json = parsed(text);
  if (json.is_object() && json.contains("schedule")) json = Json(json["schedule"]);
  if (!json.is_object() || !json.contains("groups")) throw not_a_schedule("has no groups");
  for (const auto& [key, value] : json.items()) {
    if (key != "groups") throw not_a_schedule("says '" + key + "', which nothing is known of");
  }
  const Json& list = json["groups"];
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

std::string to_json(const Groups& groups) { return Json{{"groups", groups}}.dump(); }

}  // namespace weft::schedule
