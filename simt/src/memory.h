// The device's memory. Every buffer has pages of its own, with unused ones around it, and an address is never
// given out twice: so an address outside of a buffer is known for what it is, and one of a released buffer
// too.
#pragma once

#include "loaded_text.h"
#include "timeline.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace simt {

struct Cell;  // shadow.h

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

/// What the race checks remember of a range of memory: a cell per word, or per byte once bytes are used.
struct Shadow {
  std::unique_ptr<Cell[], FreeMemory> cells;
  unsigned shift = 2;  ///< Bytes of a cell, as a power of two.
};

struct Buffer {
  Range range;
  abi::Site allocated{}, released{};
  OperationId allocation = 0, release = 0;  ///< 0: by the host itself, or not at all.
  bool live = true;
  bool release_asked = false;
  bool watched_from_start = false;  ///< All writes to it are in its shadow.
  OperationId last_user = 0;
  std::vector<OperationId> users;
  Shadow shadow;
};

class Memory {
 public:
  explicit Memory(std::size_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Null if the device has no more.
  Buffer* allocate(std::size_t bytes, abi::Site site);
  void release(Buffer& buffer);

  /// Any address of the device's range, in a buffer or not.
  bool contains(const void* address) const { return arena_.contains(address); }
  /// The buffer of an address in that range, or the one nearest to it. Null: there is none.
  Buffer* near(const void* address) const;
  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }

 private:
  Range arena_;
  std::size_t capacity_, used_ = 0;
  std::size_t first_page_ = 0, next_page_ = 0;
  std::vector<std::uint32_t> buffer_of_page_;  ///< From the first page on: index + 1; 0: none.
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

/// "12 bytes after the end of a buffer of 4096 bytes (allocated at blur.cu:80)"
std::string describe_place(const Buffer& buffer, const void* address);

}  // namespace simt
