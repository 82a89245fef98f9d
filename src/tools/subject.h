// What is timed: an application with images to run it on.
#pragma once

#include <weft/application.h>
#include <weft/pipeline.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/sizes.h"

namespace weft::tools {

/// An application with random images, the same ones in every run.
struct Subject {
  Pipeline pipeline;
  Size size;
  Arguments arguments;
};

/// The application of that size or, without one, of its source's; with parameters ("k=v") and types of images
/// as on the command line. Throws weft::Error for what does not fit the application or this machine's memory.
Subject subject_of(const Application& application, const std::optional<Size>& size,
                   const std::vector<std::string>& params, const std::map<std::string, Type>& types);

/// Seconds.
double median(std::vector<double> values);

}  // namespace weft::tools
