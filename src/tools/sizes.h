// Sizes on the command line: "640x480", "64x64x32", "1024", x first, and what they mean for an application.
#pragma once

#include <weft/application.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/bindings.h"

namespace weft::tools {

struct Size {
  std::vector<std::int64_t> extents;  ///< In pixels, each at least 1, x first.

  int rank() const { return static_cast<int>(extents.size()); }
  std::int64_t pixels() const;
  std::string text() const;  ///< "640x480"
  bool operator==(const Size&) const = default;
};

std::string dimensions(int n);  ///< "1 dimension", "2 dimensions"

/// Throws weft::Error for what is no size, has no pixels or could not be addressed.
Size parse_size(const std::string& text);
std::vector<Size> parse_sizes(const std::string& text);  ///< "640x480,1x1"

/// The size with another number of dimensions: the first ones, or further ones as long as the shortest, but
/// at most 16, so that a volume made from the size of an image fits into memory.
Size fitted(const Size& size, int rank);

/// The number of dimensions that --size has for an application: of the image that has most or, without
/// images, of the options `width`, `height` and `depth`.
int rank_of(const Built& built);
/// Throws weft::Error if the size has another number of dimensions than the application wants.
void check_rank(const Application& application, const Built& built, const Size& size);

/// An application without images gets its size from options: those of them that `assignments` lack.
std::vector<std::string> with_size(const Built& built, std::vector<std::string> assignments,
                                   const Size& size);

/// 4 Mi pixels of any number of dimensions.
Size default_size(int rank);
/// What an application is timed with: the size given, fitted; else its own, that of its source; else the
/// default.
Size bench_size(const Application& application, const Built& built, const std::optional<Size>& given);

/// The size of every input if those that may be of any size are of this one. Some may be empty.
ir::Sizes input_sizes(const ir::Pipeline& pipeline, const Size& size);

/// Throws weft::Error if this machine's memory cannot hold `count` images of that size.
void check_memory(const Size& size, std::int64_t bytes_per_pixel, std::int64_t count);

}  // namespace weft::tools
