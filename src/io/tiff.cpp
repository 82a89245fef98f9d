#include "io/codec.h"
#include "io/draft.h"
#include "io/tiff_session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace weft::io {
namespace {

template <class T>
T field(TIFF* tiff, std::uint32_t tag, T value = 0) {
  TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

// ---- Reading --------------------------------------------------------------------------------------------

Fault damaged(const TiffSession& session, const std::string& how = "") {
  if (session.ran_out) return {"the TIFF is truncated"};
  return {"the TIFF is damaged: " + (session.message.empty() ? how : session.message)};
}

Scalar scalar_of_page(TIFF* tiff) {
  const int bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  const int kind = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool is_float = kind == SAMPLEFORMAT_IEEEFP, is_signed = kind == SAMPLEFORMAT_INT;
  if (is_float && bits == 32) return Scalar::F32;
  if (is_float && bits == 64) return Scalar::F64;
  const bool is_int = is_signed || kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID;
  if (is_int && bits == 8) return is_signed ? Scalar::I8 : Scalar::U8;
  if (is_int && bits == 16) return is_signed ? Scalar::I16 : Scalar::U16;
  if (is_int && bits == 32) return is_signed ? Scalar::I32 : Scalar::U32;
  throw Fault{"its samples are " + std::to_string(bits) + "-bit " +
                  (is_float ? "floats"
                   : is_int ? "integers"
                            : "complex numbers"),
              "convert it to integers of 8, 16 or 32 bits or floats of 32 or 64"};
}

/// Refuses what would come out as wrong colours.
void check_colours(TIFF* tiff) {
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB: return;
    case PHOTOMETRIC_YCBCR:
      if (field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        return;
      }
      throw Fault{"its colours are YCbCr", "convert it to RGB"};
    case PHOTOMETRIC_MINISWHITE: throw Fault{"its zero is white", "convert it to a zero that is black"};
    case PHOTOMETRIC_PALETTE: throw Fault{"its colours are a palette", "convert it to RGB"};
    case PHOTOMETRIC_SEPARATED: throw Fault{"its colours are CMYK", "convert it to RGB"};
    default: throw Fault{"its colours are neither grey nor RGB", "convert it to RGB"};
  }
}

struct Page {
  Type type;
  std::int64_t width, height;
  bool operator==(const Page&) const = default;
};

std::string text_of(const Page& page) {
  return name_of(page.type) + " " + std::to_string(page.width) + "x" + std::to_string(page.height);
}

Page describe(TIFF* tiff) {
  check_colours(tiff);
  const Scalar scalar = scalar_of_page(tiff);
  const int lanes = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  if (lanes < 1 || lanes > 4) {
    throw Fault{"its pixels have " + std::to_string(lanes) + " lanes, Weft has 1 to 4"};
  }
  return {{scalar, lanes},
          field<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH),
          field<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH)};
}

/// Copies a page chunk by chunk. Strips are chunks as wide as the picture; planes kept apart come one after
/// the other, each with one lane of every pixel.
void read_page(const TiffSession& session, TIFF* tiff, const Page& page, std::uint8_t* to) {
  const bool tiled = TIFFIsTiled(tiff);
  const bool apart = field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  const int planes = apart ? page.type.lanes : 1;
  const std::int64_t bytes = size_of(page.type.scalar), pixel = size_of(page.type), part = pixel / planes;
  std::int64_t wide = page.width, high = field<std::uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP, 1);
  if (tiled) {
    wide = field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH);
    high = field<std::uint32_t>(tiff, TIFFTAG_TILELENGTH);
  } else {
    high = std::min(high, page.height);
  }
  check_claim({page.type.scalar, page.type.lanes / planes}, {wide, high}, session.file.size());
  if ((tiled ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, high)) !=
      static_cast<std::uint64_t>(wide * high * part)) {
    throw damaged(session, "its strips or tiles have an odd size");
  }

  std::vector<std::uint8_t> chunk(wide * high * part);
  for (int plane = 0; plane < planes; ++plane) {
    for (std::int64_t y0 = 0; y0 < page.height; y0 += high) {
      const std::int64_t rows = std::min(high, page.height - y0);
      for (std::int64_t x0 = 0; x0 < page.width; x0 += wide) {
        const auto need = static_cast<tmsize_t>((tiled ? high : rows) * wide * part);
        const auto got =
            tiled ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x0, y0, 0, plane), chunk.data(), need)
                  : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y0, plane), chunk.data(), need);
        if (got != need) throw damaged(session, "a strip or tile is short");
        const std::int64_t columns = std::min(wide, page.width - x0);
        for (std::int64_t y = 0; y < rows; ++y) {
          const std::uint8_t* from = chunk.data() + y * wide * part;
          std::uint8_t* row = to + ((y0 + y) * page.width + x0) * pixel + plane * bytes;
          if (!apart) {
            std::memcpy(row, from, columns * pixel);
          } else {
            for (std::int64_t x = 0; x < columns; ++x) std::memcpy(row + x * pixel, from + x * bytes, bytes);
          }
        }
      }
    }
  }
}

/// Calls visit() with every page of full size in turn; thumbnails and masks go with another page.
template <class Visit>
void for_each_page(const TiffSession& session, TIFF* tiff, Visit visit) {
  if (!TIFFSetDirectory(tiff, 0)) throw damaged(session);
  for (;;) {
    const auto kind = field<std::uint32_t>(tiff, TIFFTAG_SUBFILETYPE);
    if (!(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK))) visit();
    if (TIFFLastDirectory(tiff)) break;
    if (!TIFFReadDirectory(tiff)) throw damaged(session, "its pages run in a circle");
  }
  if (session.ran_out) throw damaged(session);  // libtiff forgives a last page cut short at its very end
}

bool recognizes(Bytes file) {
  using namespace std::string_view_literals;
  for (const auto magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {  // + in files beyond 4 GB
    if (starts_with(file, magic)) return true;
  }
  return false;
}

Buffer read(Bytes file) {
  TiffSession session(file);
  const Tiff tiff = open_to_read(session);
  if (!tiff) throw damaged(session);

  std::vector<Page> pages;
  for_each_page(session, tiff.get(), [&] {
    pages.push_back(describe(tiff.get()));
    if (pages.back() != pages.front()) {
      throw Fault{"its pages differ: page 1 is " + text_of(pages[0]) + ", page " +
                      std::to_string(pages.size()) + " is " + text_of(pages.back()),
                  "split it into one file per page"};
    }
  });
  if (pages.empty()) throw Fault{"the TIFF has no pages"};

  const Page page = pages.front();
  std::vector<std::int64_t> extents{page.width, page.height};
  if (pages.size() > 1) extents.push_back(static_cast<std::int64_t>(pages.size()));
  Buffer picture = allocate_claimed(page.type, extents, file.size());
  std::int64_t row = 0;
  for_each_page(session, tiff.get(), [&] {
    check_colours(tiff.get());  // asks for RGB again: the page was left in between
    read_page(session, tiff.get(), page, row_of(picture, row));
    row += page.height;
  });
  return picture;
}

// ---- Writing --------------------------------------------------------------------------------------------

bool write_page(TIFF* tiff, const Buffer& picture, std::int64_t page) {
  const Type type = picture.type();
  const std::int64_t width = picture.extent(0), height = picture.extent(1), row = width * size_of(type);
  const std::int64_t rows_per_strip = std::clamp<std::int64_t>((256 << 10) / row, 1, height);
  const int kind = is_float(type.scalar)    ? SAMPLEFORMAT_IEEEFP
                   : is_signed(type.scalar) ? SAMPLEFORMAT_INT
                                            : SAMPLEFORMAT_UINT;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8 * size_of(type.scalar));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, type.lanes);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, kind);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, type.lanes < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows_per_strip));
  if (type.lanes % 2 == 0) {
    const bool offsets = is_signed(type.scalar) && !is_float(type.scalar);  // no colours, so no alpha
    const std::uint16_t extra = offsets ? EXTRASAMPLE_UNSPECIFIED : EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &extra);
  }
  if (picture.rank() == 3) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
  std::uint32_t strip = 0;
  for (std::int64_t y = 0; y < height; y += rows_per_strip) {
    const std::int64_t n = std::min(rows_per_strip, height - y) * row;
    if (TIFFWriteEncodedStrip(tiff, strip++, row_of(picture, page * height + y), n) != n) return false;
  }
  return TIFFWriteDirectory(tiff);
}

void write(std::FILE* file, const Buffer& picture) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (picture.extent(0) > most || picture.extent(1) > most) throw Fault{"a TIFF has at most 2^32 - 1 rows"};
  // Offsets of 32 bits, which every reader knows, as long as they last.
  const bool big = picture.bytes() > most - (most >> 4);
  TiffSession session;
  Tiff tiff = open_to_write(session, file, big);
  errno = 0;
  bool good = tiff != nullptr;
  const std::int64_t pages = picture.rank() == 3 ? picture.extent(2) : 1;
  for (std::int64_t page = 0; good && page < pages; ++page) good = write_page(tiff.get(), picture, page);
  const int error = good ? 0 : errno;
  tiff.reset();
  if (error != 0) throw Fault{system_message(error)};
  if (!good || !session.message.empty()) throw Fault{"libtiff says: " + session.message};
}

}  // namespace

const Codec& tiff_codec() {
  static const Codec codec{.name = "TIFF",
                           .extensions = {".tif", ".tiff"},
                           .scalars = {Scalar::U8, Scalar::I8, Scalar::U16, Scalar::I16, Scalar::U32,
                                       Scalar::I32, Scalar::F32, Scalar::F64},
                           .lanes = {1, 2, 3, 4},
                           .max_rank = 3,
                           .recognizes = recognizes,
                           .read = read,
                           .write = write};
  return codec;
}

}  // namespace weft::io
