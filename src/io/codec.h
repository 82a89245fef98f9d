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

/// A whole file, and how many pixels may be made of it; 0: as many as memory allows.
struct Source {
  Bytes bytes;
  std::int64_t max_pixels = 0;
};

struct Decoded {
  Buffer buffer;
  std::vector<std::uint8_t> icc = {};
  int orientation = 1;  ///< As EXIF and TIFF count them; see upright().
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
  Decoded (*read)(const Source& source) = nullptr;
  /// The picture is dense, and not empty. A format without profiles ignores `icc`.
  void (*write)(std::FILE* file, const Buffer& picture, Bytes icc) = nullptr;
};

const Codec& png_codec();
const Codec& jpeg_codec();
const Codec& tiff_codec();
const Codec& webp_codec();
const Codec& bmp_codec();
const Codec& pgm_codec();
const Codec& ppm_codec();
const Codec& pnm_codec();
const Codec& pfm_codec();
const Codec& npy_codec();

/// Whether the file starts with these bytes.
bool starts_with(Bytes file, std::string_view magic);

/// "640x480"
std::string size_text(const std::vector<std::int64_t>& extents);

/// Writes all of the bytes. Throws Fault.
void put(std::FILE* file, const void* bytes, std::size_t n);

/// Row y, as the codecs see rows: the pages of a picture of rank 3 lie one below the other.
inline std::uint8_t* row_of(const Buffer& picture, std::int64_t y) {
  return static_cast<std::uint8_t*>(picture.data()) + y * picture.extent(0) * size_of(picture.type());
}

/// The RGB of one CMYK pixel, without a profile: what the inks leave over. All values are amounts of light
/// rather than of ink: 255 is no ink, as in the JPEGs of Adobe's programs.
inline void light_of_cmyk(const std::uint8_t* cmyk, std::uint8_t* rgb) {
  for (int l = 0; l < 3; ++l) rgb[l] = static_cast<std::uint8_t>((cmyk[l] * cmyk[3] + 127) / 255);
}

}  // namespace weft::io
