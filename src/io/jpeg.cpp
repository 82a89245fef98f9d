#include "io/claim.h"
#include "io/guard.h"
#include "io/upright.h"

#include <cerrno>
#include <cstdio>  // jpeglib.h uses FILE and does not say so
#include <cstdlib>
#include <cstring>
#include <memory>

#include <jpeglib.h>
// clang-format off: jerror.h builds on jpeglib.h
#include <jerror.h>
// clang-format on

namespace weft::io {
namespace jpeg {
namespace {

constexpr int quality = 95;

Guard& guard_of(j_common_ptr jpeg) { return *static_cast<Guard*>(jpeg->client_data); }

void on_error(j_common_ptr jpeg) {
  if (jpeg->err->msg_code == JERR_FILE_WRITE) guard_of(jpeg).fail_as(std::strerror(errno));
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

int orientation_of(const jpeg_decompress_struct& jpeg) {
  for (const jpeg_marker_struct* m = jpeg.marker_list; m != nullptr; m = m->next) {
    using namespace std::string_view_literals;
    const Bytes bytes(m->data, m->data_length);
    if (m->marker == JPEG_APP0 + 1 && starts_with(bytes, "Exif\0\0"sv)) return orientation_of_exif(bytes);
  }
  return 1;
}

std::vector<std::uint8_t> profile_of(Reader& reader) {
  JOCTET* bytes = nullptr;
  unsigned size = 0;
  reader.guard.run([&] { jpeg_read_icc_profile(&reader.jpeg, &bytes, &size); });
  const std::unique_ptr<JOCTET, decltype(&std::free)> owner(bytes, std::free);
  return {bytes, bytes + size};
}

/// What libjpeg keeps beside the picture: all coefficients of a JPEG in several scans.
std::int64_t coefficients(jpeg_decompress_struct& jpeg) {
  if (!jpeg_has_multiple_scans(&jpeg)) return 0;
  return std::int64_t{jpeg.image_width} * jpeg.image_height * jpeg.num_components *
         static_cast<std::int64_t>(sizeof(JCOEF));
}

/// Every block of 64 coefficients takes a bit at least, and a block may stand for 16 times as many pixels;
/// with arithmetic coding a bit may stand for several blocks.
std::int64_t ratio_of(const jpeg_decompress_struct& jpeg) { return jpeg.arith_code ? 16384 : 2048; }

void read_rows(Reader& reader, const Buffer& picture) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  reader.guard.run([&] {
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = row_of(picture, jpeg.output_scanline);
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
  });
}

/// Adobe's programs write light for ink: 255 is no ink.
void read_cmyk_rows(Reader& reader, const Buffer& picture) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  const bool holds_light = jpeg.saw_Adobe_marker;
  std::vector<std::uint8_t> inks(std::size_t{4} * jpeg.image_width);
  reader.guard.run([&] {
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      std::uint8_t* rgb = row_of(picture, jpeg.output_scanline);
      JSAMPROW row = inks.data();
      jpeg_read_scanlines(&jpeg, &row, 1);
      if (!holds_light) {
        for (std::uint8_t& ink : inks) ink = static_cast<std::uint8_t>(255 - ink);
      }
      for (std::size_t x = 0; x < jpeg.image_width; ++x) light_of_cmyk(&inks[4 * x], rgb + 3 * x);
    }
    jpeg_finish_decompress(&jpeg);
  });
}

Decoded read(const Source& source) {
  Reader reader;
  jpeg_decompress_struct& jpeg = reader.jpeg;
  reader.guard.run([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, source.bytes.data(), source.bytes.size());
    for (int app : {1, 2}) jpeg_save_markers(&jpeg, JPEG_APP0 + app, 0xffff);  // EXIF, ICC
    jpeg_read_header(&jpeg, TRUE);
  });
  const int components = jpeg.num_components;
  if (components == 2) throw Fault{"a JPEG has 1, 3 or 4 lanes, not 2"};
  jpeg.out_color_space = components == 1 ? JCS_GRAYSCALE : components == 4 ? JCS_CMYK : JCS_RGB;

  const Type type{Scalar::U8, components == 1 ? 1 : 3};
  const std::int64_t width = jpeg.image_width, height = jpeg.image_height;
  const Buffer picture =
      allocate_claimed(source, type, {width, height},
                       least_length(width * height * type.lanes, ratio_of(jpeg)), coefficients(jpeg));
  Decoded decoded{picture, {}, orientation_of(jpeg)};
  if (components != 4) decoded.icc = profile_of(reader);
  (components == 4 ? read_cmyk_rows : read_rows)(reader, picture);
  return decoded;
}

void write(std::FILE* file, const Buffer& picture, Bytes icc) {
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
    if (!icc.empty()) jpeg_write_icc_profile(&jpeg, icc.data(), static_cast<unsigned>(icc.size()));
    while (jpeg.next_scanline < jpeg.image_height) {
      JSAMPROW row = row_of(picture, jpeg.next_scanline);
      jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
  });
}

}  // namespace
}  // namespace jpeg

const Codec& jpeg_codec() {
  static const Codec codec{.name = "JPEG",
                           .extensions = {".jpg", ".jpeg"},
                           .scalars = {Scalar::U8},
                           .lanes = {1, 3},
                           .recognizes = jpeg::recognizes,
                           .read = jpeg::read,
                           .write = jpeg::write};
  return codec;
}

}  // namespace weft::io
