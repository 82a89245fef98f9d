// Cameras store what the sensor saw and note how they were held. This turns pictures upright.
#pragma once

#include "io/codec.h"

namespace weft::io {

/// The orientation that a block of EXIF tells, 1 to 8; 1, which is upright, if it tells none. The block is a
/// small TIFF, after "Exif\0\0" in some formats.
int orientation_of_exif(Bytes exif);

/// Where the first row and the first column are stored:
///     1 top left    2 top right    3 bottom right    4 bottom left
///     5 left top    6 right top    7 right bottom    8 left bottom
/// So 6 comes out turned clockwise by a quarter, and 8 the other way.
Buffer upright(const Buffer& picture, int orientation);

}  // namespace weft::io
