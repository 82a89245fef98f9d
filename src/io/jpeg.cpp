#include "io/codec.h"
#include "io/guard.h"

#include <cstdio>  // jpeglib.h uses FILE and does not say so

#include <jpeglib.h>
// clang-format off: jerror.h builds on jpeglib.h
#include <jerror.h>
// clang-format on

namespace weft::io {
namespace {

constexpr int quality = 95;

Guard& guard_of(j_common_ptr jpeg) { return *static_cast<Guard*>(jpeg->client_data); }

void on_error(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  guard_of(jpeg).fail(text);
}

/// libjpeg only warns of data that is missing and fills in grey. We want the picture or an error.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // a trace message
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF: guard_of(jpeg).fail_as("the JPEG is truncated");
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: on_error(jpeg); break;
    default: break;  // odd metadata; the pixels are fine
  }
}

void on_output(j_common_ptr) {}  // never to stderr

jpeg_error_mgr quiet_errors() {
  jpeg_error_mgr errors;
  jpeg_std_error(&errors);
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  errors.output_message = on_output;
  return errors;
}

struct Reader {
  Guard guard{"the JPEG is damaged"};
  jpeg_error_mgr errors = quiet_errors();
  jpeg_decompress_struct jpeg{};
  Reader() {
    jpeg.err = &errors;
    jpeg.client_data = &guard;
  }
  ~Reader() { jpeg_destroy_decompress(&jpeg); }
};

struct Writer {
  Guard guard{"libjpeg says"};
  jpeg_error_mgr errors = quiet_errors();
  jpeg_compress_struct jpeg{};
  Writer() {
    jpeg.err = &errors;
    jpeg.client_data = &guard;
  }
  ~Writer() { jpeg_destroy_compress(&jpeg); }
};

bool recognizes(Bytes file) { return starts_with(file, "\xff\xd8\xff"); }

Buffer read(Bytes file) {
  Reader reader;
  jpeg_decompress_struct& jpeg = reader.jpeg;
  reader.guard.run([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file.data(), file.size());
    jpeg_read_header(&jpeg, TRUE);
  });
  if (jpeg.num_components == 4) throw Fault{"its colours are CMYK", "convert it to RGB"};
  if (jpeg.num_components == 2) throw Fault{"a JPEG has 1 or 3 lanes, not 2"};
  const bool grey = jpeg.num_components == 1;
  jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;

  Buffer picture =
      allocate_claimed({Scalar::U8, grey ? 1 : 3}, {jpeg.image_width, jpeg.image_height}, file.size());
  reader.guard.run([&] {
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = row_of(picture, jpeg.output_scanline);
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
  });
  return picture;
}

void write(std::FILE* file, const Buffer& picture) {
  const std::int64_t width = picture.extent(0), height = picture.extent(1);
  if (width > JPEG_MAX_DIMENSION || height > JPEG_MAX_DIMENSION) {
    throw Fault{"a JPEG has at most " + std::to_string(JPEG_MAX_DIMENSION) + " rows and columns",
                "write .png or .tif"};
  }
  Writer writer;
  jpeg_compress_struct& jpeg = writer.jpeg;
  writer.guard.run([&] {
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = static_cast<JDIMENSION>(width);
    jpeg.image_height = static_cast<JDIMENSION>(height);
    jpeg.input_components = picture.type().lanes;
    jpeg.in_color_space = picture.type().lanes == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
      JSAMPROW row = row_of(picture, jpeg.next_scanline);
      jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
  });
}

}  // namespace

const Codec& jpeg_codec() {
  static const Codec codec{.name = "JPEG",
                           .extensions = {".jpg", ".jpeg"},
                           .scalars = {Scalar::U8},
                           .lanes = {1, 3},
                           .recognizes = recognizes,
                           .read = read,
                           .write = write};
  return codec;
}

}  // namespace weft::io
