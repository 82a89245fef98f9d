// weft list: the applications, and what each needs.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "ir/stage_ir.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/json_text.h"
#include "tools/sizes.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> names_of_types(const std::vector<Scalar>& scalars) {
  std::vector<std::string> names;
  for (Scalar s : scalars) names.push_back(weft::name_of(s));
  return names;
}

std::string image_text(const DeclaredImage& image) {
  std::vector<std::string> lanes;
  for (int n : image.lanes) lanes.push_back(std::to_string(n));
  std::string text = image.name + ": " + one_of(names_of_types(image.scalars));
  if (image.lanes != std::vector{1}) text += ", " + one_of(lanes) + " channels";
  if (image.rank != 2) text += ", " + dimensions(image.rank);
  return text;
}

std::string in_brackets(const ValueRange& range) {
  const std::string text = text_of(range);
  return text.empty() ? "" : " (" + text + ")";
}

/// The default first, then the other choices.
std::string option_text(const DeclaredOption& option) {
  std::string text = option.name + "=" + option.initial;
  for (const std::string& choice : option.choices) {
    if (choice != option.initial) text += "|" + choice;
  }
  return text + in_brackets(option.range);
}

std::string output_text(const ir::Stage& output) {
  std::string text = output.name + ": " + weft::name_of(output.type);
  if (output.rank() == 0) text += " scalar";
  if (output.rank() == 1 || output.rank() > 2) text += ", " + dimensions(output.rank());
  return text;
}

std::string settings_text(const Built& built) {
  std::vector<std::string> settings;
  for (const auto& option : built.options) settings.push_back(option_text(option));
  for (const auto& param : built.pipeline.ir().params)
    settings.push_back(param->name + "=" + param->initial.to_string() + in_brackets(param->range));
  return joined(settings);
}

/// Why an application that is an example of what is refused cannot be built.
std::string refusal(const Application& application) {
  try {
    build(application);
  } catch (const Error& error) {
    return error.message();
  }
  throw InternalError(fmt::format("'{}' should be refused, and is not", application.name));
}

void print_needs(const Application& application) {
  const Built built = build(application);
  std::vector<std::string> images, outputs;
  for (const auto& image : built.images) images.push_back(image_text(image));
  for (const auto& output : built.pipeline.ir().outputs) outputs.push_back(output_text(*output));
  fmt::print("  {:<22}{} -> {}\n", "", images.empty() ? "no images" : joined(images, "; "),
             joined(outputs, "; "));
  const std::string settings = settings_text(built);
  if (!settings.empty()) fmt::print("  {:<22}--param {}\n", "", settings);
}

void print(const std::map<std::string, std::vector<const Application*>>& groups) {
  bool first = true;
  for (const auto& [source, members] : groups) {
    fmt::print("{}{}\n", first ? "" : "\n", source.empty() ? "applications" : source);
    first = false;
    for (const Application* application : members) {
      fmt::print("  {:<22}{}\n", application->name, application->about.summary);
      if (application->about.refused)
        fmt::print("  {:<22}refused: {}\n", "", refusal(*application));
      else
        print_needs(*application);
    }
  }
}

void add_range(Json& json, const ValueRange& range) {
  if (range.has_least()) json["least"] = range.least;
  if (range.has_most()) json["most"] = range.most;
}

Json as_json(const Application& application) {
  Json json = {{"name", application.name},
               {"summary", application.about.summary},
               {"source", application.about.source},
               {"size", application.about.size},
               {"range", application.about.range}};
  for (const char* key : {"images", "options", "params", "outputs"}) json[key] = Json::array();
  if (application.about.refused) {
    json["refused"] = refusal(application);
    return json;
  }
  const Built built = build(application);
  for (const auto& image : built.images) {
    json["images"].push_back({{"name", image.name},
                              {"pixels", names_of_types(image.scalars)},
                              {"channels", image.lanes},
                              {"dimensions", image.rank}});
  }
  for (const auto& option : built.options) {
    json["options"].push_back(
        {{"name", option.name}, {"default", option.initial}, {"choices", option.choices}});
    add_range(json["options"].back(), option.range);
  }
  for (const auto& param : built.pipeline.ir().params) {
    json["params"].push_back({{"name", param->name},
                              {"type", weft::name_of(param->initial.type)},
                              {"default", param->initial.to_string()}});
    add_range(json["params"].back(), param->range);
  }
  for (const auto& output : built.pipeline.ir().outputs) {
    json["outputs"].push_back(
        {{"name", output->name}, {"type", weft::name_of(output->type)}, {"dimensions", output->rank()}});
  }
  return json;
}

void list(bool json) {
  if (json) {
    Json all = {{"applications", Json::array()}};
    for (const auto& entry : applications()) all["applications"].push_back(as_json(entry.second));
    fmt::print("{}\n", json_text(all));
    return;
  }
  std::map<std::string, std::vector<const Application*>> groups;
  for (const auto& entry : applications()) groups[entry.second.about.source].push_back(&entry.second);
  print(groups);
}

}  // namespace

void add_list(Parser& weft) {
  auto json = std::make_shared<bool>(false);
  Command command = weft.add_command("list", "the applications, and what each needs");
  command.add_flag("--json", *json, "one JSON object");
  command.footer(
      "Of an application's parameters, the first value is the default.\n"
      "Example:\n  weft list --json");
  command.callback([json] { list(*json); });
}

}  // namespace weft::tools
