// A TIFF has pages in a row; programs of science store arrays of more dimensions in it, and say in the
// description of the first page what they were.
#pragma once

#include "io/codec.h"

#include <string>

namespace weft::io {

/// Throws Fault if the pages have more than one dimension according to the description, as tifffile, ImageJ
/// and OME write it, or if it tells of more pages than there are headers, behind the last of which they lie.
void check_dimensions(const std::string& description, int lanes, std::int64_t pages,
                      std::int64_t bytes_of_page, std::size_t file_bytes);

}  // namespace weft::io
