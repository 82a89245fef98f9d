// What memory can do: plain loops on all threads that move bytes and compute nothing. `weft bench` times them
// in turns with an application.
#pragma once

#include <weft/buffer.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/thread_pool.h"

namespace weft::tools {

using Bytes = std::span<const unsigned char>;

/// Reads all bytes; the result is of no use but to keep the reading.
std::uint64_t read_all(Bytes bytes);

/// Copies; on x86 in lines of caches that are not read before.
void copy_past_caches(unsigned char* to, const unsigned char* from, std::size_t bytes);

/// Reads the inputs' number of bytes and writes the outputs': what no implementation can do without. Where one side has more bytes, the rest is only read, or only written.
class PlainCopy {
 public:
  /// How it writes: by memcpy, or, on x86, past the caches.
  enum class Stores { Plain, PastCaches };

  PlainCopy(std::int64_t read, std::int64_t written, runtime::ThreadPool& pool,
            Stores stores = Stores::Plain);
  void operator()();

 private:
  void copy_part(std::int64_t part, std::int64_t parts);

  Buffer from_, to_;  // in memory as that of images
  volatile std::uint64_t unread_[64] = {};
  runtime::ThreadPool& pool_;
  const Stores stores_;
};

/// Reads given memory: what a reduction cannot do without.
class PlainRead {
 public:
  PlainRead(std::vector<Bytes> memory, runtime::ThreadPool& pool) : memory_(std::move(memory)), pool_(pool) {}
  void operator()();

 private:
  std::vector<Bytes> memory_;
  volatile std::uint64_t unread_[64] = {};
  runtime::ThreadPool& pool_;
};

}  // namespace weft::tools
