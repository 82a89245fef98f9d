// weft run: an application on pictures from files, or on a scene drawn for the occasion.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "io/picture.h"
#include "ir/stage_ir.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/images.h"
#include "tools/scene.h"
#include "tools/schedule_flags.h"
#include "tools/targets.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string application, target = "auto", size, threads;
  ScheduleFlags schedule;
  std::vector<std::string> images, outputs, params;
  bool grey = false, normalize = false, json = false, time = false;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// The seconds that `work` takes.
template <class Work>
double timed(Work work) {
  const double start = seconds_now();
  work();
  return seconds_now() - start;
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) {
    if constexpr (requires { item->name; })
      names.push_back(item->name);
    else
      names.push_back(item.name);
  }
  return names;
}

/// "[NAME=]FILE" arguments as files by name; those without a name take the names in order.
std::map<std::string, std::string> files_by_name(const std::vector<std::string>& texts,
                                                 const std::string& kind, const std::string& application,
                                                 const std::vector<std::string>& names) {
  std::map<std::string, std::string> files;
  std::size_t next = 0;
  for (const std::string& text : texts) {
    auto [name, file] = parse_assignment(text);
    if (name.empty()) {
      while (next < names.size() && files.contains(names[next])) ++next;
      if (next == names.size()) {
        throw Error(fmt::format("'{}' has {} {}, and '{}' is one more", application, names.size(),
                                kind + (names.size() == 1 ? "" : "s"), text));
      }
      name = names[next];
    } else if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw unknown(fmt::format("'{}' has no {} '{}'; it has {}", application, kind, name, joined(names)),
                    name, names)
          .help(fmt::format("a file whose name has a '=' is given as ./{}", text));
    }
    if (file.empty()) throw Error(fmt::format("the {} '{}' needs the name of a file", kind, name));
    if (!files.emplace(name, file).second) throw Error(fmt::format("the {} '{}' is given twice", kind, name));
  }
  return files;
}

/// Everything that a run needs, and what it was made from.
struct Job {
  const Application& application;
  Prepared prepared;
  std::map<std::string, std::string> image_files, output_files;
  Arguments arguments;
  PictureOptions pictures;

  const ir::Pipeline& pipeline() const { return prepared.built.pipeline.ir(); }
};

// ---- inputs -----------------------------------------------------------------------------------------------

/// What --size could be, and gives.
std::string synthetic_form(const std::vector<DeclaredImage>& images) {
  int most = 0;
  for (const DeclaredImage& image : images) most = std::max(most, image.rank);
  return most == 2   ? "WxH for a synthetic scene"
         : most == 3 ? "WxHxD for synthetic blobs"
                     : "W for synthetic blobs";
}

void check_images_given(const RunOptions& options, const Application& application,
                        const std::vector<DeclaredImage>& declared,
                        const std::map<std::string, std::string>& files) {
  if (!files.empty() && !options.size.empty())
    throw Error("--size is for runs without images: pictures from files have a size of their own");
  for (const DeclaredImage& image : declared) {
    if (files.contains(image.name) || !options.size.empty()) continue;
    throw Error(fmt::format("'{}' needs the image '{}'", application.name, image.name))
        .help(fmt::format("weft run {} {} -o OUT, or --size {}", application.name,
                          joined(names_of(declared), " "), synthetic_form(declared)));
  }
}

Job job_with_pictures(const RunOptions& options, const Application& application, Built declared) {
  const auto files = files_by_name(options.images, "image", application.name, names_of(declared.images));
  check_images_given(options, application, declared.images, files);
  std::map<std::string, Buffer> pictures;
  std::map<std::string, Type> types;
  for (const DeclaredImage& image : declared.images) {
    const std::string& file = files.at(image.name);
    pictures[image.name] = with_rank(image, io::read_picture(file).buffer, file);
    types[image.name] = type_for_picture(image, pictures[image.name], file, options.grey);
  }
  Job job{application, prepare(application, options.params, types), files, {}, {}, {}};
  for (const auto& [name, picture] : pictures)
    job.arguments.images[name] = to_image(picture, types.at(name), application.about.range);
  return job;
}

Job job_with_scene(const RunOptions& options, const Application& application, Built declared) {
  check_images_given(options, application, declared.images, {});
  std::vector<std::string> params = options.params;
  if (!options.size.empty()) {
    check_rank(application, declared, parse_size(options.size));
    params = with_size(declared, params, parse_size(options.size));
  }
  Job job{application, prepare(application, params), {}, {}, {}, {}};
  if (job.pipeline().inputs.empty()) return job;
  const ir::Sizes sizes = input_sizes(job.pipeline(), parse_size(options.size));
  std::uint64_t seed = 1;  // the same scene, moved a little, for every further image
  for (const ir::StagePtr& input : job.pipeline().inputs) {
    const Size size{sizes.at(input->name)};
    if (size.pixels() == 0)
      throw Error(fmt::format("image '{}' would be empty: its size is {}", input->name, size.text()));
    check_memory(size, size_of(input->type), 2);
    const Buffer picture = size.rank() == 2 ? draw_scene(size, seed++) : draw_blobs(size, seed++);
    job.arguments.images[input->name] = synthetic_image(picture, input->type, application.about.range);
  }
  return job;
}

// ---- outputs ----------------------------------------------------------------------------------------------

void check_outputs(const RunOptions& options, Job& job) {
  const auto& outputs = job.pipeline().outputs;
  job.output_files = files_by_name(options.outputs, "output", job.application.name, names_of(outputs));
  const bool prints = options.time || options.json || outputs[0]->rank() == 0;
  if (job.output_files.empty() && !prints)
    throw Error("say where the result goes: -o FILE").help("--time runs without writing anything");
  std::set<std::filesystem::path> seen;
  for (const ir::StagePtr& output : outputs) {
    const auto file = job.output_files.find(output->name);
    if (file == job.output_files.end()) continue;
    check_result(file->second, output->name, output->type, output->rank(), job.pictures);
    check_writable(file->second);
    if (!seen.insert(std::filesystem::path(file->second).lexically_normal()).second)
      throw Error("two outputs cannot both go to '" + file->second + "'");
  }
}

struct Written {
  ResultPicture picture;
  std::string file;
};

/// All results are converted before the first is written.
std::map<std::string, Written> write_outputs(const Job& job, const std::map<std::string, Buffer>& results) {
  std::map<std::string, Written> written;
  for (const auto& [name, file] : job.output_files)
    written[name] = {to_picture(results.at(name), file, job.pictures), file};
  for (const auto& [name, output] : written) io::write_picture(output.file, output.picture.buffer);
  return written;
}

// ---- reports ----------------------------------------------------------------------------------------------

struct Times {
  double read = 0, compile = 0, run = 0, write = 0;
};

/// A lane as a number; integers exactly.
Json as_json(const ir::Value& lane) {
  const Scalar s = lane.type.scalar;
  if (s == Scalar::U64) return static_cast<std::uint64_t>(lane.lane[0].i);
  return is_float(s) ? Json(lane.as_double()) : Json(lane.lane[0].i);
}

constexpr std::int64_t most_values = 1 << 16;  ///< Rows longer than this are data for files alone.

/// All lanes of all pixels of a result that is not a picture.
Json values_of(const Buffer& result) {
  Json values = Json::array();
  for (std::int64_t i = 0; i < result.pixels(); ++i) {
    for (int l = 0; l < result.type().lanes; ++l) values.push_back(as_json(lane_value(result, i, l)));
  }
  return values;
}

std::string value_text(const Buffer& result) {
  std::vector<std::string> texts;
  for (int l = 0; l < result.type().lanes; ++l) texts.push_back(lane_value(result, 0, l).to_string());
  return joined(texts, " ");
}

std::string clamped_note(const Written& output, const PictureOptions& pictures) {
  const auto lanes = static_cast<double>(output.picture.buffer.pixels() * output.picture.buffer.type().lanes);
  return fmt::format(
      "  {:.3g} % of the values lie outside 0 to {} and were clamped; --normalize shows all of them",
      100 * static_cast<double>(output.picture.clamped) / lanes, pictures.range);
}

bool has_scene(const Job& job) {
  const auto& inputs = job.pipeline().inputs;
  return std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input->rank() == 2; });
}

void print(const RunOptions& options, const Job& job, const std::map<std::string, Buffer>& results,
           const std::map<std::string, Written>& written, const Times& times) {
  if (job.image_files.empty() && !job.arguments.images.empty())
    fmt::print("input: {}, {}\n", has_scene(job) ? "a synthetic scene" : "synthetic blobs",
               parse_size(options.size).text());
  for (const ir::StagePtr& output : job.pipeline().outputs) {
    const Buffer& result = results.at(output->name);
    if (result.rank() == 0)
      fmt::print("{} = {}, computed in {}\n", output->name, value_text(result), milliseconds(times.run));
    const auto file = written.find(output->name);
    if (file == written.end()) continue;
    const Type type = file->second.picture.buffer.type();
    fmt::print("{}: {}, {} {}{}, computed in {}\n", file->second.file, output->name, size_text(result),
               weft::name_of(result.type()),
               type == result.type() ? "" : " written as " + weft::name_of(type), milliseconds(times.run));
    if (file->second.picture.clamped > 0 && !options.normalize)
      fmt::print("{}\n", clamped_note(file->second, job.pictures));
  }
  if (options.time) {
    fmt::print("time: {} to prepare the input, {} to compile, {} to run, {} to write\n",
               milliseconds(times.read), milliseconds(times.compile), milliseconds(times.run),
               milliseconds(times.write));
  }
}

void print_json(const Job& job, const std::map<std::string, Buffer>& results,
                const std::map<std::string, Written>& written, const Times& times,
                const std::string& target) {
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
    }
    json["outputs"].push_back(std::move(entry));
  }
  fmt::print("{}\n", json.dump(2));
}

void run(const RunOptions& options) {
  const RunTarget target = parse_target(options.target);
  const runtime::Scheduling scheduling = parse(options.schedule);
  const int threads =
      options.threads.empty() ? 0 : static_cast<int>(parse_count("--threads", options.threads));
  const Application& application = find_application(options.application);
  if (!options.size.empty()) parse_size(options.size);

  Times times;
  std::optional<Job> job;
  times.read = timed([&] {
    Built declared = prepare(application, options.params).built;
    const bool scene = options.images.empty();
    job.emplace((scene ? job_with_scene : job_with_pictures)(options, application, std::move(declared)));
  });
  job->arguments.params = job->prepared.params;
  job->pictures = {application.about.range, options.normalize, application.about.bgr};
  check_outputs(options, *job);

  std::optional<Program> program;
  times.compile =
      timed([&] { program = compile(job->prepared.built.pipeline, target, threads, scheduling); });
  std::map<std::string, Buffer> results;
  times.run = timed([&] { results = program->run(job->arguments); });
  std::map<std::string, Written> written;
  times.write = timed([&] { written = write_outputs(*job, results); });
  if (options.json)
    print_json(*job, results, written, times, name_of(target, *program));
  else
    print(options, *job, results, written, times);
}

}  // namespace

void add_run(CLI::App& weft) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = weft.add_subcommand("run", "runs an application on pictures");
  command->add_option("APP", options->application, "the application")->required();
  command->add_option("IMAGE", options->images, "picture files in order, or NAME=FILE");
  add_repeatable(*command, "-o,--output", options->outputs,
                 "FILE for the first output, or NAME=FILE for any");
  command
      ->add_option("--target", options->target,
                   "auto (the GPU if one works, else the CPU), cpu, reference, cuda,\n"
                   "simt, simt-race or simt-address")
      ->capture_default_str();
  add_repeatable(*command, "--param", options->params,
                 "NAME=VALUE: an option or a parameter of the application");
  command->add_option(
      "--size", options->size,
      "WIDTHxHEIGHT of a synthetic scene, instead of images; WIDTH or WIDTHxHEIGHTxDEPTH for\n"
      "applications of other dimensions");
  command->add_flag("--grey", options->grey,
                    "reads colour pictures as luminance where one channel is needed");
  command->add_flag("--normalize", options->normalize,
                    "writes the least value as black and the largest as white");
  add_schedule_flags(*command, options->schedule);
  command->add_option("--threads", options->threads, "all cores unless said");
  command->add_flag("--json", options->json, "one JSON object");
  command->add_flag("--time", options->time,
                    "also says how long reading, compiling, running and writing took");
  command->footer(
      "Integer pictures become float images scaled to the application's range, and results likewise;\n"
      ".pfm and float .tif files are taken and written as they are.\n"
      "Examples:\n"
      "  weft run gaussian photo.png -o blurred.png --param size=5\n"
      "  weft run harris photo.jpg -o corners.png --grey --normalize --param k=0.06\n"
      "  weft run sobel --size 640x480 -o edges.pfm --time");
  command->callback([options] { run(*options); });
}

}  // namespace weft::tools
