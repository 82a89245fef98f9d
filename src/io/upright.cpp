#include "io/upright.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::io {
namespace {

/// Numbers of either byte order; beyond the end all are 0.
struct Numbers {
  Bytes bytes;
  bool big_endian;

  std::uint32_t byte(std::size_t at) const { return at < bytes.size() ? bytes[at] : 0; }
  std::uint32_t u16(std::size_t at) const {
    return big_endian ? byte(at) << 8 | byte(at + 1) : byte(at + 1) << 8 | byte(at);
  }
  std::uint32_t u32(std::size_t at) const {
    return big_endian ? u16(at) << 16 | u16(at + 2) : u16(at + 2) << 16 | u16(at);
  }
};

/// Where upright pixels lie in the stored picture, in pixels.
struct Walk {
  std::int64_t start, along_row, along_column;
};

/// Blocks of pixels, since one of the two pictures is walked column by column.
template <int bytes>
void copy(const std::uint8_t* from, std::uint8_t* to, std::int64_t width, std::int64_t height,
          const Walk& walk) {
  constexpr std::int64_t block = 32;
  for (std::int64_t y0 = 0; y0 < height; y0 += block) {
    for (std::int64_t x0 = 0; x0 < width; x0 += block) {
      for (std::int64_t y = y0; y < std::min(y0 + block, height); ++y) {
        for (std::int64_t x = x0; x < std::min(x0 + block, width); ++x) {
          const std::int64_t at = walk.start + x * walk.along_row + y * walk.along_column;
          std::memcpy(to + (y * width + x) * bytes, from + at * bytes, bytes);
        }
      }
    }
  }
}

using Copy = void (*)(const std::uint8_t*, std::uint8_t*, std::int64_t, std::int64_t, const Walk&);

/// For pixels of `bytes` bytes: 1 to 4 lanes of 1, 2, 4 or 8.
Copy copy_of(int bytes) {
  switch (bytes) {
    case 1: return copy<1>;
    case 2: return copy<2>;
    case 3: return copy<3>;
    case 4: return copy<4>;
    case 6: return copy<6>;
    case 8: return copy<8>;
    case 12: return copy<12>;
    case 16: return copy<16>;
    case 24: return copy<24>;
    default: return copy<32>;
  }
}

}  // namespace

int orientation_of_exif(Bytes exif) {
  using namespace std::string_view_literals;
  constexpr std::uint32_t orientation_tag = 0x0112, is_u32 = 4;
  if (starts_with(exif, "Exif\0\0"sv)) exif = exif.subspan(6);
  if (!starts_with(exif, "II*\0"sv) && !starts_with(exif, "MM\0*"sv)) return 1;
  const Numbers numbers{exif, exif[0] == 'M'};
  const std::size_t directory = numbers.u32(4);
  for (std::uint32_t i = 0; i < numbers.u16(directory); ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (entry >= exif.size()) break;
    if (numbers.u16(entry) != orientation_tag) continue;
    const std::uint32_t value =
        numbers.u16(entry + 2) == is_u32 ? numbers.u32(entry + 8) : numbers.u16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Buffer upright(const Buffer& picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  std::vector<std::int64_t> extents = picture.extents();
  const std::int64_t w = extents[0], h = extents[1];
  const Walk walks[] = {{0, 1, w}, {w - 1, -1, w},       {w * h - 1, -1, -w}, {w * (h - 1), 1, -w},
                        {0, w, 1}, {w * (h - 1), -w, 1}, {w * h - 1, -w, -1}, {w - 1, w, -1}};
  if (orientation >= 5) std::swap(extents[0], extents[1]);
  Buffer turned = Buffer::allocate(picture.type(), extents);
  const int bytes = size_of(picture.type());
  const std::int64_t pages = picture.rank() == 3 ? extents[2] : 1;
  for (std::int64_t page = 0; page < pages; ++page) {
    copy_of(bytes)(row_of(picture, page * h), row_of(turned, page * extents[1]), extents[0], extents[1],
                   walks[orientation - 1]);
  }
  return turned;
}

}  // namespace weft::io
