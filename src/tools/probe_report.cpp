#include "tools/probe_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "ir/visit.h"
#include "tools/json_value.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;
using Coordinates = std::vector<std::int64_t>;

constexpr std::int64_t most_columns = 9, most_rows = 27;  ///< Of grids that are printed.
constexpr std::size_t most_listed = 4096;                 ///< Pixels of a stage in JSON.

/// The least box around the pixels.
struct Around {
  Coordinates from, to;

  explicit Around(const ir::ProbedStage& stage) : from(stage.pixels.at(0).at), to(from) {
    for (const ir::ProbedPixel& pixel : stage.pixels) {
      for (std::size_t d = 0; d < from.size(); ++d) {
        from[d] = std::min(from[d], pixel.at[d]);
        to[d] = std::max(to[d], pixel.at[d]);
      }
    }
  }
  bool fits_a_grid() const {
    std::int64_t rows = 1;
    for (std::size_t d = 1; d < from.size() && rows <= most_rows; ++d) rows *= to[d] - from[d] + 1;
    return rows <= most_rows && to[0] - from[0] < most_columns;
  }
};

std::string value_text(const ir::Value& value) {
  std::vector<std::string> lanes;
  for (int l = 0; l < value.type.lanes; ++l)
    lanes.push_back(ir::Value{value.type.lane(), {value.lane[l]}}.to_string());
  return joined(lanes, " ");
}

/// "in(3 to 5, 2)"
std::string box_text(const ir::ProbedStage& stage, const Around& around) {
  std::vector<std::string> ranges;
  for (std::size_t d = 0; d < around.from.size(); ++d) {
    const std::int64_t from = around.from[d], to = around.to[d];
    ranges.push_back(from == to ? std::to_string(from) : fmt::format("{} to {}", from, to));
  }
  return fmt::format("{}({})", stage.stage->name, joined(ranges));
}

/// A row for each y of the box, below the coordinates x; one grid for each further coordinate.
std::string grids(const ir::ProbedStage& stage, const Around& around) {
  std::map<Coordinates, std::string> values;
  std::size_t width = 1;
  for (const ir::ProbedPixel& pixel : stage.pixels) {
    const std::string& value = values[pixel.at] = value_text(pixel.value);
    width = std::max(width, value.size());
  }
  for (const Coordinates& corner : {around.from, around.to})
    width = std::max(width, std::to_string(corner[0]).size());
  const bool has_rows = around.from.size() > 1;
  std::size_t label = 0;
  if (has_rows) {
    for (const Coordinates& corner : {around.from, around.to})
      label = std::max(label, std::to_string(corner[1]).size());
  }
  std::string text;
  const auto row = [&](const std::string& begin, auto cell) {
    text += fmt::format("    {:>{}}", begin, label);
    for (std::int64_t x = around.from[0]; x <= around.to[0]; ++x)
      text += fmt::format("  {:>{}}", cell(x), width);
    text += "\n";
  };
  for (Coordinates at = around.from;;) {
    if (at.size() > 2 && at[1] == around.from[1]) {
      std::vector<std::string> further;
      for (std::size_t d = 2; d < at.size(); ++d)
        further.push_back(fmt::format("{} = {}", d == 2 ? "z" : "w", at[d]));
      text += "  " + joined(further) + "\n";
    }
    if (!has_rows || at[1] == around.from[1]) row("", [](std::int64_t x) { return std::to_string(x); });
    row(has_rows ? std::to_string(at[1]) : "", [&](std::int64_t x) {
      Coordinates point = at;
      point[0] = x;
      const auto value = values.find(point);
      return value == values.end() ? "." : value->second;
    });
    std::size_t d = 1;
    while (d < at.size() && ++at[d] > around.to[d]) at[d] = around.from[d], ++d;
    if (d >= at.size()) return text;
  }
}

/// The least and the largest of each lane.
std::string values_text(const ir::ProbedStage& stage) {
  const ir::ProbedPixel& first = stage.pixels[0];
  ir::Value least = first.value, largest = first.value;
  for (const ir::ProbedPixel& pixel : stage.pixels) {
    for (int l = 0; l < least.type.lanes; ++l) {
      if (pixel.value.as_double(l) < least.as_double(l)) least.lane[l] = pixel.value.lane[l];
      if (pixel.value.as_double(l) > largest.as_double(l)) largest.lane[l] = pixel.value.lane[l];
    }
  }
  return fmt::format("{} pixels, of values from {} to {}", stage.pixels.size(), value_text(least),
                     value_text(largest));
}

/// What a stage that is no window of pixels was computed from.
std::string whole_text(const ir::ProbedStage& stage) {
  if (!stage.is_whole) return "";
  std::vector<std::string> sources;
  for (const ir::StagePtr& source : ir::sources(*stage.stage)) sources.push_back(source->name);
  return ", from all pixels of " + joined(sources);
}

Json values_json(const ir::Value& value) {
  if (value.type.lanes == 1) return value_as_json(value);
  Json lanes = Json::array();
  for (int l = 0; l < value.type.lanes; ++l) lanes.push_back(value_as_json(value, l));
  return lanes;
}

}  // namespace

std::string probe_text(const std::vector<ir::ProbedStage>& probed) {
  std::string text;
  for (const ir::ProbedStage& stage : probed) {
    const ir::ProbedPixel& first = stage.pixels[0];
    const std::string whole = whole_text(stage);
    if (first.at.empty()) {
      text += fmt::format("{} = {}{}\n", stage.stage->name, value_text(first.value), whole);
      continue;
    }
    const Around around(stage);
    const std::string box = box_text(stage, around);
    if (stage.pixels.size() == 1)
      text += fmt::format("{} = {}{}\n", box, value_text(first.value), whole);
    else if (around.fits_a_grid())
      text += fmt::format("{}{}:\n{}", box, whole, grids(stage, around));
    else
      text += fmt::format("{}{}: {}\n", box, whole, values_text(stage));
  }
  return text;
}

Json probe_json(const std::vector<ir::ProbedStage>& probed) {
  Json json = Json::array();
  for (const ir::ProbedStage& stage : probed) {
    Json entry = {{"name", stage.stage->name},
                  {"type", weft::name_of(stage.stage->type)},
                  {"whole", stage.is_whole},
                  {"count", stage.pixels.size()}};
    if (!stage.pixels[0].at.empty()) {
      const Around around(stage);
      entry["from"] = around.from, entry["to"] = around.to;
    }
    if (stage.pixels.size() <= most_listed) {
      entry["pixels"] = Json::array();
      for (const ir::ProbedPixel& pixel : stage.pixels)
        entry["pixels"].push_back({{"at", pixel.at}, {"value", values_json(pixel.value)}});
    }
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace weft::tools
