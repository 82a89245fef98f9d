// A header is a claim. Here it is judged before memory is taken: is the file long enough to hold such a
// picture at all, and is the picture small enough for this machine?
#pragma once

#include "io/codec.h"

namespace weft::io {

/// The least length of a file that holds that number of bytes, compressed `ratio` to 1 at best. Little pictures may
/// be smaller still.
std::int64_t least_length(std::int64_t bytes, std::int64_t ratio);

/// Throws Fault when a picture has no pixels, cannot be addressed, or needs a file of `least` bytes at least,
/// and the file is shorter.
void check_claim(const Source& source, Type type, const std::vector<std::int64_t>& extents,
                 std::int64_t least);

/// Memory for that picture, once checked, also against the limit on pixels. Its pixels are not set: pages of
/// memory are taken as rows come in. `beside` is what the codec needs of its own.
Buffer allocate_claimed(const Source& source, Type type, std::vector<std::int64_t> extents,
                        std::int64_t least, std::int64_t beside = 0);

}  // namespace weft::io
