// What a picture format is to picture.cpp: how to recognize, read and write it, and which pixels it can hold.
#pragma once

#include <weft/buffer.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::io {

using Bytes = std::span<const std::uint8_t>;

/// What codecs throw. They know what is wrong but not where: picture.cpp adds the file's name and makes it
/// a weft::Error.
struct Fault {
  std::string why, remedy = "";
};

struct Codec {
  std::string name;
  std::vector<std::string> extensions;

  // What can be written; what can be read is for `read` to say.
  std::vector<Scalar> scalars;
  std::vector<int> lanes;
  int max_rank = 2;

  // A codec for an extension only (.pnm) reads nothing.
  bool (*recognizes)(Bytes file) = nullptr;
  Buffer (*read)(Bytes file) = nullptr;
  void (*write)(std::FILE* file, const Buffer& picture);  ///< The picture is dense, and not empty.
};

const Codec& png_codec();
const Codec& jpeg_codec();
const Codec& tiff_codec();
const Codec& pgm_codec();
const Codec& ppm_codec();
const Codec& pnm_codec();
const Codec& pfm_codec();

/// Whether the file starts with these bytes.
bool starts_with(Bytes file, std::string_view magic);

/// A header is a claim: throws Fault when a file of `file_bytes` is too small to hold the picture it says it
/// holds, before anyone asks the system for a terabyte.
void check_claim(Type type, const std::vector<std::int64_t>& extents, std::size_t file_bytes);
/// Memory for that picture, once checked.
Buffer allocate_claimed(Type type, std::vector<std::int64_t> extents, std::size_t file_bytes);

/// Row y, as the codecs see rows: the pages of a picture of rank 3 lie one below the other.
inline std::uint8_t* row_of(const Buffer& picture, std::int64_t y) {
  return static_cast<std::uint8_t*>(picture.data()) + y * picture.extent(0) * size_of(picture.type());
}

}  // namespace weft::io
