#include "memory.h"

#include "page_size.h"
#include "shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include <sys/mman.h>

namespace simt {
namespace {

constexpr std::size_t least_gap = 16;  ///< Pages between buffers.
constexpr std::size_t most_address_space = std::size_t{1} << 40;
constexpr std::size_t least_address_space = std::size_t{1} << 32;
constexpr int poison = 0xcb;  ///< What nobody has written; as floats, large negative numbers.
constexpr std::size_t poisoned_bytes = std::size_t{64} << 20;

}  // namespace

Memory::Memory(std::size_t capacity) : capacity_(capacity) {
  for (std::size_t size = most_address_space; size >= least_address_space; size /= 2) {
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    arena_ = {static_cast<const char*>(memory), size};
    // An index that has overflowed leads far before a buffer: there is device memory, too, though nobody's.
    first_page_ = next_page_ = size / page_size / 4;
    return;
  }
  throw Failure("no address space for the device's memory");
}

Memory::~Memory() { ::munmap(const_cast<char*>(arena_.begin), arena_.size); }

Buffer* Memory::allocate(std::size_t bytes, abi::Site site) {
  const std::size_t pages = std::max<std::size_t>(1, (bytes + page_size - 1) / page_size);
  const std::size_t unused = pages + least_gap;  // a step of some rows beyond an image still ends in the gap
  if (bytes > capacity_ - used_ || (next_page_ + pages + unused) * page_size > arena_.size) return nullptr;
  auto buffer = std::make_unique<Buffer>();
  buffer->range = {arena_.begin + next_page_ * page_size, bytes};
  buffer->allocated = site;
  std::memset(const_cast<char*>(buffer->range.begin), poison, std::min(bytes, poisoned_bytes));

  buffers_.push_back(std::move(buffer));
  buffer_of_page_.resize(next_page_ - first_page_);
  buffer_of_page_.resize(buffer_of_page_.size() + pages, static_cast<std::uint32_t>(buffers_.size()));
  next_page_ += pages + unused;
  used_ += bytes;
  return buffers_.back().get();
}

void Memory::release(Buffer& buffer) {
  buffer.live = false;
  used_ -= buffer.range.size;
  buffer.shadow.cells.reset();
  const std::size_t pages = (buffer.range.size + page_size - 1) / page_size;
  ::madvise(const_cast<char*>(buffer.range.begin), pages * page_size, MADV_DONTNEED);
}

Buffer* Memory::near(const void* address) const {
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - arena_.begin);
  const std::size_t page = offset / page_size - first_page_;  // wraps to no page before the first
  if (page < buffer_of_page_.size() && buffer_of_page_[page])
    return buffers_[buffer_of_page_[page] - 1].get();

  // Buffers lie in the order in which they were made.
  const auto after = std::partition_point(buffers_.begin(), buffers_.end(),
                                          [&](const auto& buffer) { return buffer->range.begin <= address; });
  Buffer* below = after == buffers_.begin() ? nullptr : std::prev(after)->get();
  Buffer* above = after == buffers_.end() ? nullptr : after->get();
  if (!below || !above) return below ? below : above;
  const auto to_below = static_cast<const char*>(address) - (below->range.begin + below->range.size);
  const auto to_above = above->range.begin - static_cast<const char*>(address);
  return to_below <= to_above ? below : above;
}

std::string describe_place(const Buffer& buffer, const void* address) {
  const auto offset = static_cast<const char*>(address) - buffer.range.begin;
  const auto size = static_cast<std::ptrdiff_t>(buffer.range.size);
  std::string text = offset < 0       ? fmt::format("{} bytes before the beginning", -offset)
                     : offset >= size ? fmt::format("{} bytes after the end", offset - size)
                                      : fmt::format("at byte {}", offset);
  text += fmt::format(" of a buffer of {} bytes", size);
  if (buffer.allocated.file)
    text += fmt::format(" (allocated at {}:{})", buffer.allocated.file, buffer.allocated.line);
  return text;
}

}  // namespace simt
