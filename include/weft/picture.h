// Pictures in files, in a library of its own, weft::io; what the weft command reads and writes. A file is
// recognized by its first bytes when it is read and by its extension when it is written.
//     const weft::io::Picture in = weft::io::read_picture("in.jpg");
//     weft::io::write_picture("out.png", blur(in.buffer), {.icc = in.icc});
#pragma once

#include <weft/buffer.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::io {

/// A picture as a file holds it, turned upright as the file says (EXIF). `buffer` is dense and interleaved,
/// of 1 to 4 lanes: (width, height), or (width, height, pages) for a TIFF of several pages and a volume of
/// NumPy's. Its lanes are u8, u16 or f32, in a TIFF any but bool, in a file of NumPy's any. Values come as
/// stored, without colour management, but for these: palettes and CMYK become RGB, 1, 2 and 4 bits become 8,
/// and a black of 255 becomes one of 0.
struct Picture {
  Buffer buffer;
  std::string format;             ///< "PNG", "JPEG", "TIFF", "WebP", "BMP", "PGM", "PPM", "PFM" or "NPY".
  std::vector<std::uint8_t> icc;  ///< The profile that says what its colours mean; empty if there is none.
};

struct ReadOptions {
  /// Pictures of more pixels are refused before memory is taken for them. 0 stands for what fits in half of
  /// this machine's memory.
  std::int64_t max_pixels = 0;
};

/// Throws weft::Error when the file is missing, not a picture, truncated, damaged or too large.
Picture read_picture(const std::filesystem::path& file, const ReadOptions& options = {});

struct WriteOptions {
  /// For PNG, JPEG, TIFF and WebP; the other formats hold none. A profile of grey goes with 1 or 2 lanes,
  /// one of RGB with 3 or 4.
  std::vector<std::uint8_t> icc = {};
};

/// Writes all of the picture or nothing: a failure throws weft::Error and leaves `file` as it was.
void write_picture(const std::filesystem::path& file, const Buffer& picture,
                   const WriteOptions& options = {});

/// Whether write_picture would take such a picture, going by the extension; if not, `why` says so, and
/// `remedy`, what to do.
bool can_write(const std::filesystem::path& file, Type type, int rank, std::string* why = nullptr,
               std::string* remedy = nullptr);

std::vector<std::string> readable_formats();  ///< Names: "PNG", "JPEG" …
std::vector<std::string> writable_formats();  ///< Extensions: ".png", ".jpg" …

}  // namespace weft::io
