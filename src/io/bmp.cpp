// BMP: a header that grew over the years, a palette perhaps, and rows from the bottom up, each filled to a
// multiple of 4 bytes, blue first. Read without compression, 1 to 32 bits a pixel; written in 8, 24 or 32.
#include "io/claim.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace weft::io {
namespace bmp {
namespace {

constexpr std::size_t file_header = 14, core_header = 12, info_header = 40, v4_header = 108;
constexpr std::uint32_t plain = 0, bit_fields = 3, alpha_bit_fields = 6;

struct Numbers {
  Bytes bytes;
  std::uint32_t u8(std::size_t at) const {
    if (at >= bytes.size()) throw Fault{"the BMP is truncated"};
    return bytes[at];
  }
  std::uint32_t u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) const { return u16(at) | u16(at + 2) << 16; }
  std::int64_t i32(std::size_t at) const { return static_cast<std::int32_t>(u32(at)); }
};

/// A run of bits within a pixel.
struct Field {
  std::uint32_t mask = 0;

  std::uint8_t of(std::uint32_t pixel) const {
    if (mask == 0) return 0;
    const std::uint64_t most = mask >> std::countr_zero(mask);
    const std::uint64_t value = (pixel & mask) >> std::countr_zero(mask);
    return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
  }
};

using Colour = std::array<std::uint8_t, 3>;

struct Header {
  std::int64_t width, height;
  bool top_down;
  int bits;
  std::size_t raster;
  std::array<Field, 4> fields;  ///< Red, green, blue, alpha; of 16 and 32 bits.
  std::vector<Colour> palette;  ///< With 8 bits and less: one for each value of a pixel.

  std::int64_t row() const { return (width * bits + 31) / 32 * 4; }
  bool is_grey() const {
    return !palette.empty() && std::all_of(palette.begin(), palette.end(),
                                           [](const Colour& c) { return c[0] == c[1] && c[1] == c[2]; });
  }
  int lanes() const {
    if (!palette.empty()) return is_grey() ? 1 : 3;
    return fields[3].mask != 0 ? 4 : 3;
  }
};

Fault damaged(const std::string& how) { return {"the BMP is damaged: " + how}; }

std::array<Field, 4> read_fields(const Numbers& in, std::size_t header, std::uint32_t compression, int bits) {
  if (compression == plain) {
    if (bits == 16) return {{{0x7c00}, {0x03e0}, {0x001f}, {}}};
    return {{{0xff0000}, {0xff00}, {0xff}, {}}};
  }
  // Behind a short header or in a long one: the place is the same.
  const std::size_t at = file_header + info_header;
  const bool has_alpha = header >= info_header + 16 || compression == alpha_bit_fields;
  return {{{in.u32(at)}, {in.u32(at + 4)}, {in.u32(at + 8)}, {has_alpha ? in.u32(at + 12) : 0}}};
}

std::vector<Colour> read_palette(const Numbers& in, std::size_t header, int bits) {
  const std::size_t bytes = header == core_header ? 3 : 4, all = std::size_t{1} << bits;
  std::size_t count = header == core_header ? 0 : in.u32(file_header + 32);
  if (count == 0) count = all;
  if (count > all) throw damaged("its palette has " + std::to_string(count) + " colours");
  std::vector<Colour> palette(all);  // what is not there is black
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = file_header + header + i * bytes;
    for (std::size_t l = 0; l < 3; ++l) palette[i][l] = static_cast<std::uint8_t>(in.u8(at + 2 - l));
  }
  return palette;
}

Header read_header(const Numbers& in) {
  Header h{};
  const std::size_t header = in.u32(file_header);
  const bool core = header == core_header;
  if (!core && (header < info_header || header > 1024))
    throw damaged("its header has " + std::to_string(header) + " bytes");
  h.raster = in.u32(10);
  h.width = core ? in.u16(file_header + 4) : in.i32(file_header + 4);
  h.height = core ? in.u16(file_header + 6) : in.i32(file_header + 8);
  h.bits = static_cast<int>(in.u16(file_header + (core ? 10 : 14)));
  const std::uint32_t compression = core ? plain : in.u32(file_header + 16);
  h.top_down = h.height < 0;
  h.height = std::abs(h.height);
  if (h.width < 0) throw damaged("its width is negative");
  if (compression != plain && compression != bit_fields && compression != alpha_bit_fields)
    throw Fault{"the BMP is compressed", "save it without compression, or as PNG"};
  const std::array known = {1, 2, 4, 8, 16, 24, 32};
  if (std::find(known.begin(), known.end(), h.bits) == known.end())
    throw damaged("its pixels have " + std::to_string(h.bits) + " bits");
  if (h.bits <= 8)
    h.palette = read_palette(in, header, h.bits);
  else
    h.fields = read_fields(in, header, compression, h.bits);
  return h;
}

void read_row(const Header& h, const std::uint8_t* from, std::uint8_t* to) {
  const int lanes = h.lanes();
  for (std::int64_t x = 0; x < h.width; ++x, to += lanes) {
    if (h.bits <= 8) {
      const std::int64_t at = x * h.bits;
      const int shift = 8 - h.bits - static_cast<int>(at % 8);
      const Colour& colour = h.palette[(from[at / 8] >> shift) & ((1 << h.bits) - 1)];
      std::memcpy(to, colour.data(), lanes);
    } else if (h.bits == 24) {
      for (int l = 0; l < 3; ++l) to[l] = from[3 * x + 2 - l];
    } else {
      std::uint32_t pixel = 0;
      for (int b = 0; b < h.bits / 8; ++b) pixel |= std::uint32_t{from[x * h.bits / 8 + b]} << 8 * b;
      for (int l = 0; l < lanes; ++l) to[l] = h.fields[l].of(pixel);
    }
  }
}

/// Two letters are little to go by; the four bytes that are kept for later are 0, too.
bool recognizes(Bytes file) {
  return starts_with(file, "BM") && file.size() >= 8 &&
         std::all_of(file.begin() + 6, file.begin() + std::min<std::ptrdiff_t>(10, std::ssize(file)),
                     [](std::uint8_t b) { return b == 0; });
}

Decoded read(const Source& source) {
  const Header h = read_header({source.bytes});
  const Type type{Scalar::U8, h.lanes()};
  check_claim(source, type, {h.width, h.height}, 0);
  if (h.raster > source.bytes.size() ||
      (static_cast<std::int64_t>(source.bytes.size() - h.raster)) / h.row() < h.height)
    throw Fault{"the BMP is truncated"};
  const Buffer picture = allocate_claimed(source, type, {h.width, h.height}, 0);
  for (std::int64_t y = 0; y < h.height; ++y)
    read_row(h, source.bytes.data() + h.raster + y * h.row(),
             row_of(picture, h.top_down ? y : h.height - 1 - y));
  return {picture};
}

// ---- Writing --------------------------------------------------------------------------------------------

void append(std::vector<std::uint8_t>& out, std::uint64_t value, int bytes) {
  for (int b = 0; b < bytes; ++b) out.push_back(static_cast<std::uint8_t>(value >> 8 * b));
}

std::vector<std::uint8_t> header_of(const Buffer& picture, std::int64_t raster_bytes) {
  const int lanes = picture.type().lanes;
  const std::size_t header = lanes == 4 ? v4_header : info_header;
  const std::size_t raster = file_header + header + (lanes == 1 ? 4 * 256 : 0);
  std::vector<std::uint8_t> out{'B', 'M'};
  append(out, raster + raster_bytes, 4);
  append(out, 0, 4);
  append(out, raster, 4);
  append(out, header, 4);
  append(out, picture.extent(0), 4);
  append(out, picture.extent(1), 4);
  append(out, 1, 2);
  append(out, 8 * lanes, 2);
  append(out, lanes == 4 ? bit_fields : plain, 4);
  append(out, raster_bytes, 4);
  for (int per_metre = 0; per_metre < 2; ++per_metre) append(out, 2835, 4);  // 72 dots per inch
  append(out, lanes == 1 ? 256 : 0, 4);
  append(out, 0, 4);
  if (lanes == 1) {
    for (std::uint32_t grey = 0; grey < 256; ++grey) append(out, grey * 0x010101, 4);
  }
  if (lanes == 4) {
    for (const std::uint32_t mask : {0xff0000u, 0xff00u, 0xffu, 0xff000000u}) append(out, mask, 4);
    append(out, 0x73524742, 4);  // "sRGB"
    out.resize(file_header + v4_header);
  }
  return out;
}

void write(std::FILE* file, const Buffer& picture, Bytes) {
  const int lanes = picture.type().lanes;
  const std::int64_t width = picture.extent(0), height = picture.extent(1);
  const std::int64_t row = (width * lanes + 3) / 4 * 4;
  constexpr std::int64_t most = 0x7fffffff;
  if (width > most || height > most || row > (most - 4096) / height)
    throw Fault{"a BMP has at most 2 GB", "write .png or .tif"};
  const std::vector<std::uint8_t> header = header_of(picture, row * height);
  put(file, header.data(), header.size());
  std::vector<std::uint8_t> line(row);
  for (std::int64_t y = height - 1; y >= 0; --y) {
    std::memcpy(line.data(), row_of(picture, y), width * lanes);
    for (std::int64_t x = 0; lanes >= 3 && x < width; ++x) std::swap(line[x * lanes], line[x * lanes + 2]);
    put(file, line.data(), line.size());
  }
}

}  // namespace
}  // namespace bmp

const Codec& bmp_codec() {
  static const Codec codec{.name = "BMP",
                           .extensions = {".bmp"},
                           .scalars = {Scalar::U8},
                           .lanes = {1, 3, 4},
                           .recognizes = bmp::recognizes,
                           .read = bmp::read,
                           .write = bmp::write};
  return codec;
}

}  // namespace weft::io
