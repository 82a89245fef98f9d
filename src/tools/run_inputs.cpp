#include "tools/run_inputs.h"

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/picture.h>

#include <algorithm>

#include "ir/bindings.h"
#include "tools/images.h"
#include "tools/scene.h"
#include "tools/sizes.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

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

/// Images whose size is said by another's: two pictures side by side, say, or a map of half the size.
void check_sizes(const Job& job) {
  ir::Sizes sizes;
  for (const auto& [name, image] : job.arguments.images) sizes[name] = image.extents();
  for (const ir::StagePtr& input : job.pipeline().inputs) {
    std::vector<std::int64_t> needed;
    std::string formula;
    for (const auto& range : input->box) {
      needed.push_back(ir::evaluate(range.extent, sizes));
      formula += (formula.empty() ? "" : " x ") + range.extent.to_string();
    }
    if (needed == sizes.at(input->name)) continue;
    Error error(fmt::format("image '{}' has to be {}, and '{}' is {}", input->name, Size{needed}.text(),
                            job.image_files.at(input->name), Size{sizes.at(input->name)}.text()));
    error.note("size", formula);
    for (const auto& [name, file] : job.image_files) {
      if (name != input->name)
        error.note("image", fmt::format("'{}' is {}, {}", name, file, Size{sizes.at(name)}.text()));
    }
    throw error;
  }
}

ImageOptions image_options(const RunOptions& options, const About& about) {
  if (options.grey && options.rgb) throw Error("--grey and --rgb exclude each other");
  const Channels channels = options.grey ? Channels::Grey : options.rgb ? Channels::Rgb : Channels::AsStored;
  return {channels, about.range, about.advice};
}

Job job_with_pictures(const RunOptions& options, const Application& application, Built declared) {
  const auto files = files_by_name(options.images, "image", application.name, names_of(declared.images));
  check_images_given(options, application, declared.images, files);
  std::map<std::string, Buffer> pictures;
  const ImageOptions of_images = image_options(options, application.about);
  io::ReadOptions reading;
  if (!options.max_pixels.empty()) reading.max_pixels = parse_count("--max-pixels", options.max_pixels);
  std::map<std::string, Type> types, picture_types;
  std::vector<std::uint8_t> icc;
  for (const DeclaredImage& image : declared.images) {
    const std::string& file = files.at(image.name);
    io::Picture picture = io::read_picture(file, reading);
    pictures[image.name] = with_rank(image, picture.buffer, file);
    types[image.name] = type_for_picture(image, pictures[image.name], file, of_images);
    picture_types[image.name] = pictures[image.name].type();
    if (&image == &declared.images.front()) icc = std::move(picture.icc);
  }
  Job job{application, prepare(application, options.params, types), files, {}, {}, {}, {}, picture_types};
  for (const auto& [name, picture] : pictures)
    job.arguments.images[name] = to_image(picture, types.at(name), application.about.range);
  check_sizes(job);
  const std::string& first = declared.images.front().name;
  if (types.at(first).lanes == picture_types.at(first).lanes) {
    job.icc = std::move(icc);
    job.icc_lanes = types.at(first).lanes;
  }
  return job;
}

Job job_with_scene(const RunOptions& options, const Application& application, Built declared) {
  check_images_given(options, application, declared.images, {});
  std::vector<std::string> params = options.params;
  if (!options.size.empty()) {
    check_rank(application, declared, parse_size(options.size));
    params = with_size(declared, params, parse_size(options.size));
  }
  Job job{application, prepare(application, params), {}, {}, {}, {}, {}, {}};
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

}  // namespace

Job job_with_inputs(const RunOptions& options, const Application& application) {
  Built declared = prepare(application, options.params).built;
  const bool scene = options.images.empty();
  return (scene ? job_with_scene : job_with_pictures)(options, application, std::move(declared));
}

}  // namespace weft::tools
