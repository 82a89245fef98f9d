// Memory for intermediate images. A pipeline needs the same few sizes in every run; fresh pages from the
// system cost more than most kernels, as each is zeroed at its first touch. So blocks are kept.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>

namespace weft::runtime {

/// Thread-safe. It owns all its blocks: those not given back die with it, too.
class MemoryPool {
 public:
  MemoryPool() = default;
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// At least `bytes` bytes of undefined content at a multiple of 64, from 4 MiB on in huge pages where the
  /// system has them. Throws weft::Error if there is not enough memory.
  void* take(std::size_t bytes);
  /// Keeps a block for later calls of take. Null is allowed.
  void give(void* block);
  /// Returns the kept blocks to the system.
  void trim();

 private:
  void free_kept_blocks();

  std::mutex mutex_;
  std::multimap<std::size_t, void*> kept_;        // By size.
  std::unordered_map<void*, std::size_t> taken_;  // The sizes of blocks in use.
};

}  // namespace weft::runtime
