// What one `weft run` is about: what the command line said, and the application with its images, built.
#pragma once

#include <weft/pipeline.h>

#include <map>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "tools/arguments.h"
#include "tools/results.h"
#include "tools/schedule_flags.h"

namespace weft::tools {

struct RunOptions {
  std::string application, target = "auto", size, threads, probe;
  ScheduleFlags schedule;
  std::vector<std::string> images, outputs, params;
  std::string max_pixels;
  std::string normalize, depth;  ///< Empty unless given; "true" is --normalize without a percentile.
  bool grey = false, rgb = false, json = false, time = false, quiet = false, show = false;
};

/// Everything that a run needs, and what it was made from.
struct Job {
  const Application& application;
  Prepared prepared;
  std::map<std::string, std::string> image_files, output_files;
  Arguments arguments;
  PictureOptions pictures;
  std::vector<std::string> stages;            ///< Outputs of this run only: stages that files are named for.
  std::map<std::string, Type> picture_types;  ///< Of image_files, before their pixels were converted.
  /// The ICC profile of the first picture. It says nothing about pixels of other lanes.
  std::vector<std::uint8_t> icc = {};
  int icc_lanes = 0;

  const ir::Pipeline& pipeline() const { return prepared.built.pipeline.ir(); }
};

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
                                                 const std::vector<std::string>& names);

/// The same with what names a stage among the outputs: of `-o a=a.png b=b.png`, the parser takes the second
/// for an image.
RunOptions with_outputs_told_apart(RunOptions options, const Built& built);

}  // namespace weft::tools
