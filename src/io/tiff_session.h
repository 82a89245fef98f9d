// A TIFF opened with libtiff: from memory to read, on a file to write, its complaints kept instead of
// printed.
#pragma once

#include "io/codec.h"

#include <tiffio.h>

#include <memory>
#include <string>

namespace weft::io {

/// What libtiff tells us on the side, and the bytes it reads from. Outlives the file opened with it.
struct TiffSession {
  TiffSession() = default;
  explicit TiffSession(Bytes bytes) : file(bytes) {}
  TiffSession(const TiffSession&) = delete;
  TiffSession& operator=(const TiffSession&) = delete;

  Bytes file;
  std::size_t at = 0;
  bool ran_out = false;  // it asked for bytes beyond the end
  std::string message;   // its first complaint; those that follow are consequences
};

using Tiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Tiff open_to_read(TiffSession& session);  ///< Reads session.file; null on failure.
Tiff open_to_write(TiffSession& session, std::FILE* file, bool big);  ///< Null on failure.

}  // namespace weft::io
