#include "io/tiff_dimensions.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft::io {
namespace {

/// The number behind `key`, if there is one.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() ? std::optional(number) : std::nullopt;
}

/// [3, 7, 5, 5] behind "shape": in tifffile's JSON.
std::vector<std::int64_t> shape_of_tifffile(std::string_view text) {
  std::vector<std::int64_t> shape;
  const auto key = text.find("\"shape\":");
  if (!text.starts_with('{') || key == std::string_view::npos) return shape;
  const auto open = text.find('[', key), close = text.find(']', key);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return shape;
  text = text.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t extent = 0;
    const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (problem == std::errc()) shape.push_back(extent);
    at = std::min(text.find_first_of(",", at), text.size());
    at = std::min(text.find_first_not_of(", ", at), text.size());
  }
  return shape;
}

struct Stack {
  std::string text;                   ///< As its program calls it.
  std::vector<std::int64_t> extents;  ///< Of the dimensions that pages run over.
};

Stack stack_of(const std::string& description, int lanes) {
  Stack stack;
  const std::vector<std::int64_t> shape = shape_of_tifffile(description);
  if (shape.size() > 2) {
    stack.text = size_text(shape);
    stack.extents.assign(shape.begin(), shape.end() - (lanes > 1 && shape.size() > 3 ? 3 : 2));
  } else if (description.starts_with("ImageJ=")) {
    for (const char* name : {"channels", "slices", "frames"}) {
      const std::int64_t n = number_after(description, std::string("\n") + name + "=").value_or(1);
      stack.extents.push_back(n);
      if (n > 1) stack.text += (stack.text.empty() ? "" : ", ") + std::to_string(n) + " " + name;
    }
  } else if (description.find("<OME") != std::string::npos) {
    for (const auto& [key, name] :
         {std::pair{"SizeC=\"", "channels"}, {"SizeZ=\"", "slices"}, {"SizeT=\"", "frames"}}) {
      std::int64_t n = number_after(description, key).value_or(1);
      if (key[4] == 'C' && lanes > 1) n /= lanes;
      stack.extents.push_back(n);
      if (n > 1) stack.text += (stack.text.empty() ? "" : ", ") + std::to_string(n) + " " + name;
    }
  }
  return stack;
}

}  // namespace

void check_dimensions(const std::string& description, int lanes, std::int64_t pages,
                      std::int64_t bytes_of_page, std::size_t file_bytes) {
  const Stack stack = stack_of(description, lanes);
  std::int64_t product = 1, beside = 0;
  for (const std::int64_t n : stack.extents) {
    if (n < 1 || n > static_cast<std::int64_t>(file_bytes) / product) return;  // no description of this file
    product *= n;
    beside += n > 1;
  }
  if (beside > 1 && product == pages) {
    throw Fault{"it has more than 3 dimensions (" + stack.text + ")",
                "write each volume to a file of its own, or reshape the array to 3 dimensions"};
  }
  const bool has_them = bytes_of_page > 0 && product <= static_cast<std::int64_t>(file_bytes) / bytes_of_page;
  if (product > pages && has_them) {
    throw Fault{"it has " + std::to_string(product) + " pages and headers of " + std::to_string(pages),
                "write it with a header for every page"};
  }
}

}  // namespace weft::io
