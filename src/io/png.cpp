#include "io/codec.h"
#include "io/guard.h"

#include <png.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace weft::io {
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
  if (std::fwrite(from, 1, n, file) != n) png_error(png, std::strerror(errno));
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

Buffer read(Bytes file) {
  Reader reader;
  Input input{file, &reader.guard};
  const png_structp png = reader.png;
  const png_infop info = reader.info;
  int passes = 0;
  reader.guard.run([&] {
    png_set_read_fn(png, &input, take);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // allocate_claimed judges the size
    png_read_info(png, info);
    png_set_expand(png);  // palettes to colours, 1, 2 and 4 bits to 8, transparent colours to alpha
    if (native_is_little) png_set_swap(png);
    passes = png_set_interlace_handling(png);
  });

  // The size is judged before png_read_update_info, which allocates rows.
  const std::int64_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  check_claim({Scalar::U8, 1}, {width, height}, file.size());
  reader.guard.run([&] { png_read_update_info(png, info); });

  const Type type{png_get_bit_depth(png, info) == 16 ? Scalar::U16 : Scalar::U8, png_get_channels(png, info)};
  Buffer picture = allocate_claimed(type, {width, height}, file.size());
  reader.guard.run([&] {
    // Every pass of an interlaced file fills in some pixels of every row.
    for (int pass = 0; pass < passes; ++pass) {
      for (std::int64_t y = 0; y < height; ++y) png_read_row(png, row_of(picture, y), nullptr);
    }
    png_read_end(png, nullptr);
  });
  return picture;
}

void write(std::FILE* file, const Buffer& picture) {
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
    png_write_info(png, writer.info);
    if (native_is_little && type.scalar == Scalar::U16) png_set_swap(png);
    for (std::int64_t y = 0; y < height; ++y) png_write_row(png, row_of(picture, y));
    png_write_end(png, nullptr);
  });
}

}  // namespace

const Codec& png_codec() {
  static const Codec codec{.name = "PNG",
                           .extensions = {".png"},
                           .scalars = {Scalar::U8, Scalar::U16},
                           .lanes = {1, 2, 3, 4},
                           .recognizes = recognizes,
                           .read = read,
                           .write = write};
  return codec;
}

}  // namespace weft::io
