#include "io/claim.h"
#include "io/guard.h"
#include "io/upright.h"

#include <png.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace weft::io {
namespace png {
namespace {

constexpr bool native_is_little = std::endian::native == std::endian::little;  // a PNG is big-endian

void on_error(png_structp png, png_const_charp message) {
  static_cast<Guard*>(png_get_error_ptr(png))->fail(message);
}
void on_warning(png_structp, png_const_charp) {}  // odd metadata; the pixels are fine

struct Input {
  Bytes rest;
  Guard* guard;
};

void take(png_structp png, png_bytep to, std::size_t n) {
  auto& input = *static_cast<Input*>(png_get_io_ptr(png));
  if (n > input.rest.size()) input.guard->fail_as("the PNG is truncated");
  std::memcpy(to, input.rest.data(), n);
  input.rest = input.rest.subspan(n);
}

void put(png_structp png, png_bytep from, std::size_t n) {
  auto* file = static_cast<std::FILE*>(png_get_io_ptr(png));
  if (std::fwrite(from, 1, n, file) != n)
    static_cast<Guard*>(png_get_error_ptr(png))->fail_as(std::strerror(errno));
}
void flush(png_structp) {}

struct Reader {
  Guard guard{"the PNG is damaged"};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &guard, on_error, on_warning);
  png_infop info = png_create_info_struct(png);
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Writer {
  Guard guard{"libpng says"};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &guard, on_error, on_warning);
  png_infop info = png_create_info_struct(png);
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

bool recognizes(Bytes file) { return starts_with(file, "\x89PNG\r\n\x1a\n"); }

/// A profile that libpng finds odd is not worth an error: the pixels are fine.
void forgive_profiles(png_structp png) {
  png_set_benign_errors(png, 1);
  png_set_option(png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
}

std::vector<std::uint8_t> profile_of(png_structp png, png_infop info) {
  png_charp name = nullptr;
  png_bytep bytes = nullptr;
  png_uint_32 size = 0;
  int compression = 0;
  if (!png_get_iCCP(png, info, &name, &compression, &bytes, &size)) return {};
  return {bytes, bytes + size};
}

int orientation_of(png_structp png, png_infop info) {
  png_bytep bytes = nullptr;
  png_uint_32 size = 0;
  return png_get_eXIf_1(png, info, &size, &bytes) ? orientation_of_exif({bytes, size}) : 1;
}

Decoded read(const Source& source) {
  Reader reader;
  Input input{source.bytes, &reader.guard};
  const png_structp png = reader.png;
  const png_infop info = reader.info;
  int passes = 0;
  reader.guard.run([&] {
    png_set_read_fn(png, &input, take);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // allocate_claimed judges the size
    forgive_profiles(png);
    png_read_info(png, info);
    png_set_expand(png);  // palettes to colours, 1, 2 and 4 bits to 8, transparent colours to alpha
    if (native_is_little) png_set_swap(png);
    passes = png_set_interlace_handling(png);
  });

  // The size is judged before png_read_update_info, which allocates rows. Deflate makes 1032 bytes of one at
  // best; a row begins with a byte that says how it is filtered.
  const std::int64_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  const auto row = static_cast<std::int64_t>(png_get_rowbytes(png, info));
  const std::int64_t least = least_length(height * (row + 1), 1032);
  check_claim(source, {Scalar::U8, 1}, {width, height}, least);
  reader.guard.run([&] { png_read_update_info(png, info); });

  const Type type{png_get_bit_depth(png, info) == 16 ? Scalar::U16 : Scalar::U8, png_get_channels(png, info)};
  const Buffer picture = allocate_claimed(source, type, {width, height}, least);
  reader.guard.run([&] {
    // Every pass of an interlaced file fills in some pixels of every row.
    for (int pass = 0; pass < passes; ++pass) {
      for (std::int64_t y = 0; y < height; ++y) png_read_row(png, row_of(picture, y), nullptr);
    }
    png_read_end(png, info);  // EXIF may follow the pixels
  });
  return {picture, profile_of(png, info), orientation_of(png, info)};
}

// Of zlib, from 1 to 9, 6 unless said. That takes six times as long for files that are a tenth smaller; a run of
// 640x480 pixels would spend 0.1 s and more on it, all else a few milliseconds.
constexpr int compression_level = 2;

void write(std::FILE* file, const Buffer& picture, Bytes icc) {
  constexpr int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  const Type type = picture.type();
  const std::int64_t width = picture.extent(0), height = picture.extent(1);
  if (width > PNG_UINT_31_MAX || height > PNG_UINT_31_MAX) throw Fault{"a PNG has at most 2^31 - 1 rows"};
  Writer writer;
  const png_structp png = writer.png;
  writer.guard.run([&] {
    png_set_write_fn(png, file, put, flush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, writer.info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
                 8 * size_of(type.scalar), colours[type.lanes - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, compression_level);
    if (!icc.empty()) {
      forgive_profiles(png);
      png_set_iCCP(png, writer.info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, icc.data(),
                   static_cast<png_uint_32>(icc.size()));
    }
    png_write_info(png, writer.info);
    if (native_is_little && type.scalar == Scalar::U16) png_set_swap(png);
    for (std::int64_t y = 0; y < height; ++y) png_write_row(png, row_of(picture, y));
    png_write_end(png, nullptr);
  });
}

}  // namespace
}  // namespace png

const Codec& png_codec() {
  static const Codec codec{.name = "PNG",
                           .extensions = {".png"},
                           .scalars = {Scalar::U8, Scalar::U16},
                           .lanes = {1, 2, 3, 4},
                           .recognizes = png::recognizes,
                           .read = png::read,
                           .write = png::write};
  return codec;
}

}  // namespace weft::io
