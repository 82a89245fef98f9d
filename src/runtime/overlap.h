// Whether pixels of buffers share memory: exactly, not by the ends of their memory alone, since tiles of one
// picture, or its lanes, are buffers whose pixels lie between those of others and are apart nevertheless.
// That is a question about sums of strides:
//
//     width 64, strides {1, 10}     pixels (10, 0) and (0, 1) are the same
//     width 64, strides {2, 128}    the pixels between these may belong to another buffer
#pragma once

#include <weft/buffer.h>

namespace weft::runtime {

/// Whether two pixels of the buffer, or lanes of them, are the same memory.
bool overlaps_itself(const Buffer& buffer);
/// Whether a pixel of one is also memory of the other.
bool overlap(const Buffer& a, const Buffer& b);
/// Likewise of all memory from a buffer's first pixel to its last: cheaper, and true more often.
bool are_intertwined(const Buffer& a, const Buffer& b);

}  // namespace weft::runtime
