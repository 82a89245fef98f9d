// Copies between images of the host and the pinned memory that a GPU reads and writes. One thread would take longer than
// the way to the GPU does: several share the rows.
#pragma once

#include <weft/buffer.h>

#include <memory>
#include <mutex>

#include "runtime/thread_pool.h"

namespace weft::runtime {

/// The rows [first, last) along the last dimension, which the buffer has: the same memory.
Buffer rows_of(const Buffer& buffer, std::int64_t first, std::int64_t last);

/// Thread-safe. Its threads start with the first image that is worth several.
class HostCopies {
 public:
  /// Both are of the host's memory, of the same type and extents.
  void copy(const Buffer& to, const Buffer& from) const;

 private:
  mutable std::once_flag made_;
  mutable std::unique_ptr<ThreadPool> threads_;
};

}  // namespace weft::runtime
