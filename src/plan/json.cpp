#include "plan/json.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <nlohmann/json.hpp>

#include "ir/print.h"
#include "plan/split_tiles.h"

namespace weft::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_pixels = 1 << 16;

Json as_json(const Extent& extent) {
  if (extent.is_all()) return "all";
  if (extent.is_fixed()) return extent.fixed();
  if (extent.step > 0)
    return {{"least", extent.sizes.front()}, {"step", extent.step}, {"room", extent.enough}};
  return {{"sizes", extent.sizes}, {"enough", extent.enough}};
}

Json as_json(const SplitChoices& split) {
  Json json = Json::object();
  if (split.scheme) json["scheme"] = name_of(*split.scheme);
  for (const auto& [dim, extents] : split.tiles)
    json["tiles"][ir::dim_name(dim)] = {{"pitch", extents.pitch}, {"top", extents.top}};
  return json;
}

/// Reads one kernel of a file.
class Reading {
 public:
  explicit Reading(const std::string& result) : result_(result) {}

  Choices run(const Json& json) {
    if (!json.is_object()) throw wrong("is no object");
    for (const auto& [key, value] : json.items()) {
      if (key == "levels")
        levels(value);
      else if (key == "kept")
        kept(value);
      else if (key == "steps")
        choices_.steps = number(value, "its steps");
      else if (key == "steps_from" && value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX)
        choices_.steps_from = value.get<std::int64_t>();
      else if (key == "split")
        split(value);
      else if (key == "code")
        code(value);
      else
        throw wrong("says '" + key + "', which is unknown");
    }
    // Where no rows are kept, the extents of the outermost level are no tile's.
    if (choices_.keeps_rows == false) {
      choices_.rows = choices_.of_blocks == true && choices_.height && choices_.height->is_fixed()
                          ? std::optional(choices_.height->fixed())
                          : std::nullopt;
      choices_.width.reset(), choices_.lines.reset(), choices_.height.reset();
    }
    return choices_;
  }

 private:
  Error wrong(const std::string& what) const {
    return Error(fmt::format("the schedule's kernel of '{}' {}", result_, what))
        .help("weft explain --json prints kernels as \"schedule\"");
  }

  int number(const Json& json, const std::string& of) const {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() == 0 ||
        json.get<std::uint64_t>() > most_pixels)
      throw wrong(fmt::format("has no number of 1 to {} as {}", most_pixels, of));
    return json.get<int>();
  }

  Extent extent(const Json& json, const std::string& of) const {
    if (json == "all") return all_pixels();
    if (!json.is_object()) return fixed(number(json, of));
    if (json.size() == 3 && json.contains("least") && json.contains("step") && json.contains("room"))
      return in_room(number(json["least"], of), number(json["step"], of), number(json["room"], of));
    if (json.size() != 2 || !json.contains("sizes") || !json.contains("enough") ||
        !json["sizes"].is_array() || json["sizes"].empty())
      throw wrong(
          "has " + of +
          R"( other than a number, "all", {"sizes": [64, 32], "enough": 64}, or {"least": 8, "step": 3, "room": 64})");
    Extent extent{{}, number(json["enough"], of)};
    for (const Json& size : json["sizes"]) {
      extent.sizes.push_back(number(size, of));
      if (extent.sizes.size() > 1 && extent.sizes.end()[-2] <= extent.sizes.back())
        throw wrong("has sizes that do not descend as " + of);
    }
    return extent;
  }

  void split(const Json& json) {
    if (!json.is_object())
      throw wrong(R"(has a split other than {"scheme": "merged", "tiles": {"y": {"pitch": 64, "top": 34}}})");
    SplitChoices& choices = choices_.split.emplace();
    for (const auto& [key, value] : json.items()) {
      if (key == "scheme")
        choices.scheme = scheme(value);
      else if (key == "tiles" && value.is_object())
        for (const auto& [dim, extents] : value.items())
          choices.tiles[dimension(dim)] = extents_of(extents, dim);
      else
        throw wrong("says '" + key + "' of its split, which is unknown");
    }
  }
  SplitScheme scheme(const Json& json) const {
    for (const SplitScheme one : {SplitScheme::Colours, SplitScheme::Merged, SplitScheme::Fused}) {
      if (json == name_of(one)) return one;
    }
    throw wrong("has a scheme of split tiles other than 'colours', 'merged' or 'fused'");
  }
  int dimension(const std::string& wanted) const {
    for (int d = 0; d < 3; ++d) {
      if (ir::dim_name(d) == wanted) return d;
    }
    throw wrong("splits tiles along '" + wanted + "', which is none of x, y and z");
  }
  SplitChoices::Extents extents_of(const Json& json, const std::string& dim) const {
    if (!json.is_object() || json.size() != 2 || !json.contains("pitch") || !json.contains("top"))
      throw wrong("has split tiles along " + dim + R"( other than {"pitch": 64, "top": 34})");
    return {number(json["pitch"], "the pitch of its split tiles"),
            number(json["top"], "the top of its split tiles")};
  }

  void code(const Json& json) {
    if (!json.is_object()) throw wrong(R"(has code other than {"window": 600, "phases": 2})");
    for (const auto& [key, value] : json.items()) {
      const CodeLimit* limit = code_limit_named(key);
      if (!limit) throw wrong("says '" + key + "' of its code, which is unknown");
      const int asked = number(value, "the " + key + " of its code");
      if (asked > limit->most)
        throw wrong(
            fmt::format("has code with a {} of {}; at most {} can be asked for", key, asked, limit->most));
      choices_.code[key] = asked;
    }
  }

  void levels(const Json& list) {
    if (!list.is_array()) throw wrong("has levels that are no list");
    for (const Json& level : list) {
      if (!level.is_object() || !level.contains("kind")) throw wrong("has a level without a kind");
      for (const auto& [key, value] : level.items()) {
        if (key != "kind" && key != "order" && key != "extent" && key != "edges" && key != "whole" &&
            key != "share")
          throw wrong("says '" + key + "' of a level, which is unknown");
      }
      add_level(level);
    }
  }

  void add_level(const Json& level) {
    const Json& kind = level["kind"];
    std::vector<Extent> extents;
    if (level.contains("extent")) {
      if (!level["extent"].is_array()) throw wrong("has a level whose extent is no list");
      for (const Json& along : level["extent"]) extents.push_back(extent(along, "the extent of a level"));
    }
    const auto fixed_of = [&](std::size_t d) -> std::optional<int> {
      if (d >= extents.size() || extents[d].is_all()) return std::nullopt;
      if (!extents[d].is_fixed()) throw wrong("has several sizes where there is one");
      return extents[d].fixed();
    };
    if (kind == "grid" || kind == "core") {
      choices_.of_blocks = kind == "grid";
      if (kind == "grid" && extents.size() == 1 && extents[0].is_all()) choices_.in_turn = true;
      choices_.width = fixed_of(0);
      if (level.contains("edges"))
        choices_.edges = level["edges"] == 0 ? 0 : number(level["edges"], "the edges of a level");
      if (level.contains("whole")) choices_.whole = number(level["whole"], "what rows are whole in");
      if (extents.size() > 2) choices_.lines = fixed_of(1);
      if (extents.size() > 1 && !extents.back().is_all()) choices_.height = extents.back();
    } else if (kind == "row") {
      const Json order = level.value("order", Json("march"));
      if (order != "march" && order != "static" && order != "unrolled")
        throw wrong("has rows that neither march nor are static, nor unrolled");
      if (order == "unrolled" || choices_.traversal == Traversal::Static) {  // of a block's batch
        choices_.unrolled = order == "unrolled";
        return;
      }
      choices_.traversal = order == "static" ? Traversal::Static : Traversal::March;
      if (!extents.empty()) choices_.rows = fixed_of(extents.size() - 1);
    } else if (kind == "batch") {
      choices_.batch = extents.empty() ? std::nullopt : fixed_of(extents.size() - 1);
      const Json order = level.value("order", Json("march"));
      if (order != "march" && order != "static") throw wrong("has batches that neither march nor are static");
      if (order == "static") choices_.traversal = Traversal::Static;
    } else if (kind == "warp") {
      choices_.of_warps = true;
      if (level.contains("share"))
        choices_.share = level["share"] == 0 ? 0 : number(level["share"], "the share of a level");
    } else if (kind == "block") {
      const bool is_of_warps = extents.size() > 1 && !extents[1].is_all();
      if (is_of_warps) choices_.warps = fixed_of(1);
      choices_.of_warps = is_of_warps;
      if (!is_of_warps) choices_.columns = fixed_of(0);
    } else if (kind == "lane") {
      choices_.pixels = fixed_of(0);
    } else if (kind == "vector") {
      choices_.in_lanes = level.value("order", Json("parallel")) == "march";
    } else {
      throw wrong("has a level of a kind that is unknown: " + kind.dump());
    }
  }

  void kept(const Json& sources) {
    if (!sources.is_object() && !sources.is_boolean())
      throw wrong("has kept rows that are not by stages' names, nor true or false");
    choices_.keeps_rows = sources.is_boolean() ? sources.get<bool>() : !sources.empty();
    if (sources.is_boolean()) return;
    for (const auto& [stage, json] : sources.items()) {
      if (!json.is_object()) throw wrong("keeps rows of '" + stage + "' that are no object");
      KeptChoices& choices = choices_.kept[stage];
      for (const auto& [key, value] : json.items()) {
        if (key == "rows")
          choices.rows = number(value, "the rows of '" + stage + "'");
        else if (key == "in_memory" && value.is_boolean())
          choices.in_memory = value.get<bool>();
        else
          throw wrong("says '" + key + "' of '" + stage + "', which is unknown");
      }
    }
  }

  const std::string& result_;
  Choices choices_;
};

void add_code(Json& json, const KernelPlan& plan) {
  const LimitChoices unusual = unusual_of(plan.code, plan.is_of_blocks());
  if (!unusual.empty()) json["code"] = unusual;
}

}  // namespace

Json as_json(const KernelPlan& plan) {
  if (!plan.several.empty()) {
    Json json = as_json(plan.several[0]);
    json["steps"] = plan.several[0].steps, json["steps_from"] = plan.several[0].steps_from;
    return json;
  }
  if (plan.split) {
    SplitChoices split{plan.split->scheme, {}};
    for (const SplitDimension& d : plan.split->dims) split.tiles[d.dim] = {d.pitch, d.top};
    const Json owner{{"kind", name_of(plan.levels[0].kind)}};
    Json json{{"levels", Json::array({owner})}, {"split", as_json(split)}};
    add_code(json, plan);
    return json;
  }
  Json levels = Json::array(), kept = Json::object();
  for (const Level& level : plan.levels) {
    Json& one = levels.emplace_back(Json{{"kind", name_of(level.kind)}, {"order", name_of(level.order)}});
    const bool follows = plan.parts && level.kind != LevelKind::Batch;  // from the parts of the reduction
    for (const Extent& extent : level.extent) {
      if (!follows) one["extent"].push_back(as_json(extent));
    }
    if (level.kind == LevelKind::Core && plan.is_tiled() && !follows)
      one["edges"] = plan.edges, one["whole"] = plan.whole;
    if (level.kind == LevelKind::Warp && plan.is_of_lanes() && plan.is_static()) one["share"] = plan.share;
  }
  for (const Kept& k : plan.kept) {
    Json& one = kept[k.stage] = {{"rows", k.rows}};
    if (!k.is_member && !plan.is_of_blocks()) one["in_memory"] = k.in_memory;
  }
  Json json = {{"levels", std::move(levels)}, {"kept", std::move(kept)}};
  add_code(json, plan);
  if (!plan.updates.empty()) json["steps"] = 1;
  return json;
}

Json as_json(const Choices& choices) {
  Json levels = Json::array();
  const auto add = [&](const char* kind, const Extent& x, const Extent& y) {
    levels.push_back({{"kind", kind}, {"extent", Json::array({as_json(x), as_json(y)})}});
  };
  const auto of = [](const std::optional<int>& pixels) { return pixels ? fixed(*pixels) : all_pixels(); };
  if (choices.in_turn == true)
    levels.push_back({{"kind", "grid"}, {"extent", Json::array({"all"})}});
  else
    add(choices.of_blocks == true ? "grid" : "core", of(choices.width),
        choices.height.value_or(all_pixels()));
  if (choices.lines) {
    Json& extent = levels.back()["extent"];
    extent.insert(extent.begin() + 1, *choices.lines);
  }
  if (choices.edges) levels.back()["edges"] = *choices.edges;
  if (choices.whole) levels.back()["whole"] = *choices.whole;
  if (choices.in_lanes)
    levels.push_back({{"kind", "vector"}, {"order", *choices.in_lanes ? "march" : "parallel"}});
  if (choices.warps) add("block", fixed(1), of(choices.warps));
  if (choices.of_warps == true) levels.push_back({{"kind", "warp"}});
  if (choices.of_warps == true && choices.share) levels.back()["share"] = *choices.share;
  if (choices.of_warps == false && !choices.columns) levels.push_back({{"kind", "block"}});
  if (choices.columns) add("block", of(choices.columns), all_pixels());
  if (choices.batch) add("batch", all_pixels(), of(choices.batch));
  const bool is_static_block = choices.of_blocks == true && choices.traversal == Traversal::Static;
  if (is_static_block && choices.batch) levels.back()["order"] = "static";
  if (is_static_block && !choices.batch) levels.push_back({{"kind", "batch"}, {"order", "static"}});
  if (choices.unrolled)
    levels.push_back({{"kind", "row"}, {"order", *choices.unrolled ? "unrolled" : "march"}});
  if (choices.pixels) add("lane", of(choices.pixels), all_pixels());
  if ((choices.traversal && !is_static_block) || choices.rows)
    levels.push_back(
        {{"kind", "row"}, {"order", choices.traversal == Traversal::Static ? "static" : "march"}});
  if (choices.rows)
    levels.back()["extent"] = Json::array({as_json(all_pixels()), as_json(fixed(*choices.rows))});
  Json json = {{"levels", std::move(levels)}};
  if (choices.steps) json["steps"] = *choices.steps;
  if (choices.steps_from) json["steps_from"] = *choices.steps_from;
  if (choices.split) json["split"] = as_json(*choices.split);
  if (!choices.code.empty()) json["code"] = choices.code;
  if (choices.keeps_rows && choices.kept.empty()) json["kept"] = *choices.keeps_rows;
  for (const auto& [stage, of_stage] : choices.kept) {
    Json& one = json["kept"][stage] = Json::object();
    if (of_stage.rows) one["rows"] = *of_stage.rows;
    if (of_stage.in_memory) one["in_memory"] = *of_stage.in_memory;
  }
  return json;
}

Choices choices_from(const Json& json, const std::string& result) { return Reading(result).run(json); }

}  // namespace weft::plan
