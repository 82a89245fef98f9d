#include "io/claim.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/blocks.h"

namespace weft::io {
namespace {

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", bytes * 1e-9);
  return text;
}

double memory_of_this_machine() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// A picture and what is made of it share the memory, so half of it is for the picture.
void check_limit(const Source& source, Type type, const std::vector<std::int64_t>& extents,
                 std::int64_t beside) {
  const std::int64_t pixels = checked_pixels(extents, size_of(type), "it");
  const double bytes = static_cast<double>(pixels) * size_of(type) + static_cast<double>(beside);
  const std::string has = "it has " + size_text(extents) + " pixels, ";
  const std::string remedy =
      "--max-pixels " + std::to_string(pixels) + " reads it; in C++, ReadOptions::max_pixels";
  if (source.max_pixels > 0 && pixels > source.max_pixels)
    throw Fault{has + "and no more than " + std::to_string(source.max_pixels) + " are to be read", remedy};
  const double memory = memory_of_this_machine();
  if (source.max_pixels == 0 && bytes > memory / 2)
    throw Fault{
        has + "which take " + gigabytes(bytes) + ", and this machine has " + gigabytes(memory) + " of memory",
        remedy};
}

}  // namespace

std::string size_text(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const auto e : extents) text += (text.empty() ? "" : "x") + std::to_string(e);
  return text;
}

std::int64_t least_length(std::int64_t bytes, std::int64_t ratio) {
  constexpr std::int64_t harmless = std::int64_t{1} << 20;
  return std::max<std::int64_t>(bytes - harmless, 0) / ratio;
}

void check_claim(const Source& source, Type type, const std::vector<std::int64_t>& extents,
                 std::int64_t least) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    throw Fault{"it has no pixels: its size is " + size_text(extents)};
  checked_pixels(extents, size_of(type), "it");
  if (least > static_cast<std::int64_t>(source.bytes.size())) {
    throw Fault{"it claims " + size_text(extents) + " pixels, more than its " +
                std::to_string(source.bytes.size()) + " bytes can hold"};
  }
}

Buffer allocate_claimed(const Source& source, Type type, std::vector<std::int64_t> extents,
                        std::int64_t least, std::int64_t beside) {
  check_claim(source, type, extents, least);
  check_limit(source, type, extents, beside);
  const auto bytes = static_cast<std::size_t>(checked_pixels(extents, size_of(type), "it") * size_of(type));
  const std::size_t size = block_size(bytes);
  std::shared_ptr<void> data(size == 0 ? nullptr : allocate_block(size), std::free);
  if (!data) throw std::bad_alloc();
  std::vector<std::int64_t> strides = dense_strides(extents, type.lanes);
  return Buffer(data.get(), type, std::move(extents), std::move(strides)).owned_by(data);
}

}  // namespace weft::io
