#include "base/blocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <sys/mman.h>

#include "base/round_up.h"

namespace weft {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = 2 * huge_page;
constexpr std::size_t largest = std::numeric_limits<std::ptrdiff_t>::max() - huge_page;

std::size_t alignment_of(std::size_t bytes) { return bytes >= huge_from ? huge_page : cache_line; }

}  // namespace

std::size_t block_size(std::size_t bytes) {
  if (bytes > largest) return 0;
  const std::size_t wanted = std::max(bytes, std::size_t{1});
  return round_up(wanted, alignment_of(wanted));
}

void* allocate_block(std::size_t size) {
  void* block = std::aligned_alloc(alignment_of(size), size);
  // Advice only: where there are no huge pages, ordinary ones do.
  if (block && size >= huge_from) ::madvise(block, size, MADV_HUGEPAGE);
  return block;
}

}  // namespace weft
