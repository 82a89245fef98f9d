#include "analysis/window.h"

#include <algorithm>

namespace weft::analysis {

std::optional<Window> window_of(const Footprint& footprint) {
  const Pattern of = pattern(footprint);
  if (of != Pattern::Point && of != Pattern::Local) return std::nullopt;
  Window window;
  for (const Along& along : footprint) window.push_back({along.min, along.max});
  return window;
}

Window hull(const Window& a, const Window& b) {
  Window result = a;
  for (std::size_t d = 0; d < result.size(); ++d) {
    result[d].min = std::min(a[d].min, b[d].min);
    result[d].max = std::max(a[d].max, b[d].max);
  }
  return result;
}

Window read_around(const Window& pixels, const Window& read) {
  Window result = read;
  for (std::size_t d = 0; d < std::min(result.size(), pixels.size()); ++d) {
    result[d].min += pixels[d].min;
    result[d].max += pixels[d].max;
  }
  return result;
}

bool is_one_pixel(const Window& window) {
  return std::all_of(window.begin(), window.end(), [](const Reach& r) { return r == Reach{}; });
}

std::int64_t pixels_in(const Window& window) {
  std::int64_t product = 1;
  for (const Reach& r : window) product *= r.extent();
  return product;
}

}  // namespace weft::analysis
