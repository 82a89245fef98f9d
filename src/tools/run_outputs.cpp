#include "tools/run_outputs.h"

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/picture.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tools/files.h"
#include "tools/terminal.h"

namespace weft::tools {

namespace {

std::optional<double> parse_normalize(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "true") return 100;
  const double percentile = parse_number("--normalize", text);
  if (percentile > 50 && percentile <= 100) return percentile;
  throw Error("--normalize=" + text + " has to be more than 50 and at most 100");
}

std::optional<Scalar> parse_depth(const std::string& text) {
  const std::map<std::string, Scalar> depths = {{"8", Scalar::U8}, {"16", Scalar::U16}, {"32f", Scalar::F32}};
  if (text.empty()) return std::nullopt;
  if (const auto found = depths.find(text); found != depths.end()) return found->second;
  throw Error("there is no depth '" + text + "'; there are 8, 16 and 32f");
}

PictureOptions picture_options(const RunOptions& options, const Job& job) {
  const About& about = job.application.about;
  PictureOptions pictures{about.range, about.white, about.bgr, parse_normalize(options.normalize),
                          parse_depth(options.depth)};
  if (pictures.normalize && pictures.depth == Scalar::F32)
    throw Error("--normalize makes pictures of 8 or 16 bits, not of --depth 32f");
  for (const auto& [name, type] : job.picture_types)
    pictures.deep |= is_integer(type.scalar) && size_of(type.scalar) > 1;
  for (const auto& [name, image] : job.arguments.images) pictures.with_alpha |= image.type().lanes == 2;
  return pictures;
}

/// How the output is shown. The application says what is white in its results, not in other stages.
PictureOptions options_of(const Job& job, const std::string& output) {
  PictureOptions options = job.pictures;
  if (std::find(job.stages.begin(), job.stages.end(), output) != job.stages.end()) options.white = 0;
  return options;
}

/// A file without a name is for "the result". Where there are several, the others would be lost silently.
void check_nothing_is_lost(const RunOptions& options, const Job& job) {
  std::vector<std::string> lost;
  std::string given;
  for (const ir::StagePtr& output : job.pipeline().outputs) {
    const auto file = job.output_files.find(output->name);
    if (file != job.output_files.end()) given += fmt::format(" -o {}={}", output->name, file->second);
    const bool printed = output->rank() == 0 || (options.json && output->rank() == 1);
    if (file == job.output_files.end() && !printed) lost.push_back(output->name);
  }
  const bool all_named = std::all_of(options.outputs.begin(), options.outputs.end(),
                                     [](const auto& text) { return !parse_assignment(text).name.empty(); });
  if (lost.empty() || all_named) return;
  throw Error(fmt::format("'{}' has {} outputs, and no file is given for {}", job.application.name,
                          job.pipeline().outputs.size(), joined(lost)))
      .help(fmt::format("add -o {}=FILE, or give names to leave some out:{}", joined(lost, "=FILE -o "),
                        given));
}

}  // namespace

void check_outputs(const RunOptions& options, Job& job) {
  const auto& outputs = job.pipeline().outputs;
  job.pictures = picture_options(options, job);
  job.output_files = files_by_name(options.outputs, "output", job.application.name, names_of(outputs));
  const bool prints = options.time || options.json || options.show || outputs[0]->rank() == 0;
  if (job.output_files.empty() && !prints)
    throw Error("say where the result goes: -o FILE").help("--time runs without writing anything");
  check_nothing_is_lost(options, job);
  std::set<std::filesystem::path> seen;
  for (const ir::StagePtr& output : outputs) {
    const auto file = job.output_files.find(output->name);
    if (file == job.output_files.end()) continue;
    check_result(file->second, output->name, output->type, output->rank(), options_of(job, output->name));
    check_writable(file->second);
    if (!seen.insert(std::filesystem::path(file->second).lexically_normal()).second)
      throw Error("two outputs cannot both go to '" + file->second + "'");
  }
}

std::map<std::string, Written> write_outputs(const Job& job, const std::map<std::string, Buffer>& results) {
  std::map<std::string, Written> written;
  for (const auto& [name, file] : job.output_files)
    written[name] = {to_picture(results.at(name), file, options_of(job, name)), file};
  for (const auto& [name, output] : written) {
    const Buffer& picture = output.picture.buffer;
    const bool keeps_profile =
        results.at(name).type().lanes == job.icc_lanes && picture.type().lanes == job.icc_lanes;
    io::write_picture(output.file, picture, {keeps_profile ? job.icc : std::vector<std::uint8_t>{}});
  }
  return written;
}

void show_results(const Job& job, const std::map<std::string, Buffer>& results, TerminalPictures how) {
  if (how == TerminalPictures::None) return;
  std::vector<std::string> names;
  for (const auto& [name, file] : job.output_files) names.push_back(name);
  if (names.empty()) names.push_back(job.pipeline().outputs.at(0)->name);
  PictureOptions options = job.pictures;
  options.depth = Scalar::U8;
  for (const std::string& name : names) {
    if (results.at(name).rank() == 0) continue;
    const ResultPicture picture = to_picture(results.at(name), "shown.png", options);
    show_picture(picture.buffer, how);
    if (!picture.legend.empty() && job.output_files.empty()) fmt::print("  {}\n", picture.legend);
  }
}

}  // namespace weft::tools
