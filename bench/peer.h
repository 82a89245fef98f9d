// What a library has to export so that `race` times its function beside an application. It is built by its
// own tools; nothing of Weft is needed for it.
#pragma once

#include <stdint.h>

extern "C" {

/// Planar pixels: (x, y) of lane l lies at pixels + x + y * width + l * width * height, counted in scalars.
struct peer_image {
  void* pixels;
  int64_t width, height, lanes;
};

/// Computes the application on its inputs, in their order, which its outputs follow. Returns null, or what
/// went wrong.
const char* peer_run(const peer_image* images, int64_t count);
}
