#include "tools/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/images.h"
#include "tools/json_text.h"
#include "tools/json_value.h"
#include "tools/probe_report.h"
#include "tools/sizes.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t most_values = 1 << 16;  ///< Rows longer than this are data for files alone.

/// All lanes of all pixels of a result that is not a picture.
Json values_of(const Buffer& result) {
  Json values = Json::array();
  for (std::int64_t i = 0; i < result.pixels(); ++i) {
    for (int l = 0; l < result.type().lanes; ++l) values.push_back(value_as_json(lane_value(result, i, l)));
  }
  return values;
}

std::string value_text(const Buffer& result) {
  std::vector<std::string> texts;
  for (int l = 0; l < result.type().lanes; ++l) texts.push_back(lane_value(result, 0, l).to_string());
  return joined(texts, " ");
}

std::string clamped_note(const Written& output) {
  const auto lanes = static_cast<double>(output.picture.buffer.pixels() * output.picture.buffer.type().lanes);
  return fmt::format(
      "  {:.3g} % of the values lie outside 0 to {} and were clamped; --normalize shows all of them",
      100 * static_cast<double>(output.picture.clamped) / lanes, output.picture.white);
}

/// What people should know of how a picture was read, or nothing.
std::string conversion_of(const Job& job, const ir::StagePtr& input) {
  const auto picture = job.picture_types.find(input->name);
  return picture == job.picture_types.end() ? "" : conversion_text(picture->second, input->type);
}

bool has_scene(const Job& job) {
  const auto& inputs = job.pipeline().inputs;
  return std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input->rank() == 2; });
}

}  // namespace

void print_report(const RunOptions& options, const Job& job, const std::map<std::string, Buffer>& results,
                  const std::map<std::string, Written>& written, const Times& times) {
  if (job.image_files.empty() && !job.arguments.images.empty() && !options.quiet)
    fmt::print("input: {}, {}\n", has_scene(job) ? "a synthetic scene" : "synthetic blobs",
               parse_size(options.size).text());
  for (const ir::StagePtr& input : job.pipeline().inputs) {
    if (const std::string conversion = conversion_of(job, input); !conversion.empty())
      fmt::print("{}: read {}\n", job.image_files.at(input->name), conversion);
  }
  for (const ir::StagePtr& output : job.pipeline().outputs) {
    const Buffer& result = results.at(output->name);
    if (result.rank() == 0)
      fmt::print("{} = {}, computed in {}\n", output->name, value_text(result), milliseconds(times.run));
    const auto file = written.find(output->name);
    if (file == written.end() || options.quiet) continue;
    const Type type = file->second.picture.buffer.type();
    fmt::print("{}: {}, {} {}{}, computed in {}\n", file->second.file, output->name, size_text(result),
               weft::name_of(result.type()),
               type == result.type() ? "" : " written as " + weft::name_of(type), milliseconds(times.run));
    if (file->second.picture.clamped > 0) fmt::print("{}\n", clamped_note(file->second));
    if (!file->second.picture.legend.empty()) fmt::print("  {}\n", file->second.picture.legend);
  }
  if (options.time) {
    fmt::print("time: {} to prepare the input, {} to compile, {} to run, {} to write\n",
               milliseconds(times.read), milliseconds(times.compile), milliseconds(times.run),
               milliseconds(times.write));
  }
}

void print_warnings(const std::map<std::string, Written>& written) {
  std::fflush(stdout);
  for (const auto& [name, output] : written) {
    if (const std::string faint = faintness(output.picture, output.file); !faint.empty())
      fmt::print(stderr, "weft: {}\n", faint);
  }
}

void print_json_report(const Job& job, const std::map<std::string, Buffer>& results,
                       const std::map<std::string, Written>& written, const Times& times,
                       const std::string& target, const std::vector<ir::ProbedStage>& probed) {
  Json json = {
      {"application", job.application.name},
      {"target", target},
      {"seconds",
       {{"read", times.read}, {"compile", times.compile}, {"run", times.run}, {"write", times.write}}}};
  json["inputs"] = Json::array();
  json["outputs"] = Json::array();
  for (const ir::StagePtr& input : job.pipeline().inputs) {
    const auto file = job.image_files.find(input->name);
    json["inputs"].push_back({{"name", input->name},
                              {"file", file == job.image_files.end() ? Json(nullptr) : Json(file->second)},
                              {"synthetic", file == job.image_files.end()},
                              {"type", weft::name_of(input->type)},
                              {"read", conversion_of(job, input)},
                              {"size", job.arguments.images.at(input->name).extents()}});
  }
  for (const ir::StagePtr& output : job.pipeline().outputs) {
    const Buffer& result = results.at(output->name);
    Json entry = {{"name", output->name}, {"type", weft::name_of(result.type())}, {"size", result.extents()}};
    if (result.rank() == 0)
      entry["value"] = result.type().lanes == 1 ? values_of(result)[0] : values_of(result);
    if (result.rank() == 1 && result.pixels() <= most_values) entry["values"] = values_of(result);
    if (const auto file = written.find(output->name); file != written.end()) {
      entry["file"] = file->second.file;
      entry["written_as"] = weft::name_of(file->second.picture.buffer.type());
      entry["clamped"] = file->second.picture.clamped;
      if (const std::string faint = faintness(file->second.picture, file->second.file); !faint.empty())
        entry["warning"] = faint;
    }
    json["outputs"].push_back(std::move(entry));
  }
  if (!probed.empty()) json["probe"] = probe_json(probed);
  fmt::print("{}\n", json_text(json));
}

void print_probe(const RunOptions& options, const Job& job, const std::vector<ir::ProbedStage>& probed) {
  const Json json = {{"application", job.application.name}, {"probe", probe_json(probed)}};
  fmt::print("{}", options.json ? json_text(json) + "\n" : probe_text(probed));
}

}  // namespace weft::tools
