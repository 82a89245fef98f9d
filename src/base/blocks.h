// Memory for images, as kernels like it: at cache lines, and large blocks in huge pages where the system has
// them, since rows of neighbouring lines lie in a page each.
#pragma once

#include <cstddef>

namespace weft {

/// The size of a block with room for `bytes`: at least 64, and for large ones a multiple of 2 MiB. 0 if no block can be that
/// large.
std::size_t block_size(std::size_t bytes);

/// A block of a size that block_size() gave, for std::free; null if there is not enough memory.
void* allocate_block(std::size_t size);

}  // namespace weft
