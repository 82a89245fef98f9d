// What `race` calls, around one function that Halide generated: compiled with -DFILTER=NAME and linked with
// its library.
#include "bench/peer.h"

#include <HalideRuntime.h>

#include <array>
#include <string>
#include <vector>

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

extern "C" int JOINED(FILTER, _argv)(void** arguments);
extern "C" const halide_filter_metadata_t* JOINED(FILTER, _metadata)();

namespace {

std::string& last_error() {
  static std::string text;
  return text;
}

void keep_error(void*, const char* text) { last_error() = text; }

/// An image as Halide sees it: the lanes are the last dimension.
struct Argument {
  std::array<halide_dimension_t, 3> dimensions;
  halide_buffer_t buffer{};
};

void describe(const peer_image& image, const halide_filter_argument_t& expected, Argument& argument) {
  const auto width = static_cast<int32_t>(image.width), height = static_cast<int32_t>(image.height);
  argument.dimensions = {halide_dimension_t(0, width, 1), halide_dimension_t(0, height, width),
                         halide_dimension_t(0, static_cast<int32_t>(image.lanes), width * height)};
  argument.buffer.host = static_cast<uint8_t*>(image.pixels);
  argument.buffer.type = expected.type;
  argument.buffer.dimensions = expected.dimensions;
  argument.buffer.dim = argument.dimensions.data();
}

}  // namespace

const char* peer_run(const peer_image* images, int64_t count) {
  const halide_filter_metadata_t& filter = *JOINED(FILTER, _metadata)();
  if (filter.num_arguments != count) return "Halide's function takes another number of images";
  halide_set_error_handler(keep_error);
  std::vector<Argument> arguments(static_cast<std::size_t>(count));
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (filter.arguments[i].dimensions != (images[i].lanes > 1 ? 3 : 2))
      return "Halide's function takes images of other dimensions";
    describe(images[i], filter.arguments[i], arguments[i]);
    addresses.push_back(&arguments[i].buffer);
  }
  return JOINED(FILTER, _argv)(addresses.data()) == 0 ? nullptr : last_error().c_str();
}
