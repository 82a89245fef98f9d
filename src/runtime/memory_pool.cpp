#include "runtime/memory_pool.h"

#include <weft/error.h>

#include <cstdlib>
#include <string>

#include "base/blocks.h"

namespace weft::runtime {
namespace {

Error out_of_memory(std::size_t bytes) {
  return Error("not enough memory for an intermediate image of " + std::to_string(bytes) + " bytes")
      .help("use a smaller image, or process it in parts");
}

}  // namespace

MemoryPool::~MemoryPool() {
  free_kept_blocks();
  for (const auto& [block, size] : taken_) std::free(block);
}

void* MemoryPool::take(std::size_t bytes) {
  const std::size_t size = block_size(bytes);
  if (size == 0) throw out_of_memory(bytes);

  const std::lock_guard lock(mutex_);
  // The smallest that fits; more than twice as large would keep memory from those who need it.
  if (const auto fit = kept_.lower_bound(size); fit != kept_.end() && fit->first / 2 <= size) {
    void* block = fit->second;
    taken_.emplace(block, fit->first);
    kept_.erase(fit);
    return block;
  }
  void* block = allocate_block(size);
  if (!block) {  // What is kept for later may be what is missing now.
    free_kept_blocks();
    block = allocate_block(size);
  }
  if (!block) throw out_of_memory(bytes);
  taken_.emplace(block, size);
  return block;
}

void MemoryPool::give(void* block) {
  if (!block) return;
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(block);
  if (found == taken_.end())
    throw InternalError("a block was given to a memory pool that it was not taken from");
  kept_.emplace(found->second, block);
  taken_.erase(found);
}

void MemoryPool::trim() {
  const std::lock_guard lock(mutex_);
  free_kept_blocks();
}

void MemoryPool::free_kept_blocks() {
  for (const auto& [size, block] : kept_) std::free(block);
  kept_.clear();
}

}  // namespace weft::runtime
