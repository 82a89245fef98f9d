// Pictures in files, in a library of its own, weft::io; what the weft command reads and writes. A file is
// recognized by its first bytes when it is read and by its extension when it is written.
//     const weft::io::Picture in = weft::io::read_picture("in.jpg");
//     weft::io::write_picture("out.png", blur(in.buffer));
#pragma once

#include <weft/buffer.h>

#include <filesystem>
#include <string>
#include <vector>

namespace weft::io {

/// A picture as a file holds it. `buffer` is dense and interleaved, of 1 to 4 lanes: (width, height), or
/// (width, height, pages) for a TIFF of several pages. Its lanes are u8, u16 or f32, and in a TIFF also i8,
/// i16, i32, u32 or f64. Pixels come as stored: no colour management, no rotation.
struct Picture {
  Buffer buffer;
  std::string format;  ///< "PNG", "JPEG", "TIFF", "PGM", "PPM" or "PFM".
};

/// Throws weft::Error when the file is missing, not a picture, truncated or damaged.
Picture read_picture(const std::filesystem::path& file);

/// Writes all of the picture or nothing: a failure throws weft::Error and leaves `file` as it was.
void write_picture(const std::filesystem::path& file, const Buffer& picture);

/// Whether write_picture would take such a picture, going by the extension; if not, `why` says so.
bool can_write(const std::filesystem::path& file, Type type, int rank, std::string* why = nullptr);

std::vector<std::string> readable_formats();  ///< Names: "PNG", "JPEG" …
std::vector<std::string> writable_formats();  ///< Extensions: ".png", ".jpg" …

}  // namespace weft::io
