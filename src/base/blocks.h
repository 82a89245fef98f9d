// Memory for images, as kernels like it: at cache lines, and large blocks in huge pages where the system has
// them, since rows of neighbouring lines lie in a page each.
#pragma once

#include <cstddef>

namespace weft {

/// How many bytes a block of at least so many has: 64 or more, of large ones a multiple of 2 MiB. 0 if no
/// block can be as large.
std::size_t block_size(std::size_t bytes);

/// A block of a size that block_size() gave, for std::free; null if there is not enough memory.
void* allocate_block(std::size_t size);

}  // namespace weft
