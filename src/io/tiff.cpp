#include "io/claim.h"
#include "io/draft.h"
#include "io/tiff_dimensions.h"
#include "io/tiff_session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace weft::io {
namespace tiff {
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

/// The least length of a file that holds `bytes`, by how it is compressed.
std::int64_t least_of(TIFF* tiff, std::int64_t bytes) {
  switch (field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION)) {
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4: return 0;  // a bit may stand for a row
    default: return least_length(bytes, 16384);
  }
}

/// How the samples of a page are stored, where it matters for making pixels of them.
struct Stored {
  int bits, lanes, colours;

  int levels() const { return (1 << bits) - 1; }
  bool is_palette() const { return colours == PHOTOMETRIC_PALETTE; }
  bool is_white_zero() const { return colours == PHOTOMETRIC_MINISWHITE; }
  bool is_cmyk() const { return colours == PHOTOMETRIC_SEPARATED; }
  /// Pixels have to be made from them, rather than copied.
  bool is_coded() const { return bits < 8 || is_palette() || is_white_zero() || is_cmyk(); }
  bool operator==(const Stored&) const = default;
};

struct Page {
  Type type;
  std::int64_t width, height;
  int orientation;
  Stored stored;
  bool operator==(const Page&) const = default;
};

std::string text_of(const Page& page) {
  std::string text = name_of(page.type) + " " + size_text({page.width, page.height});
  if (page.orientation != 1) text += ", turned";
  if (page.stored.is_coded()) text += ", coded in " + std::to_string(page.stored.bits) + " bits";
  return text;
}

Scalar scalar_of_page(TIFF* tiff, int bits) {
  const int kind = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool is_float = kind == SAMPLEFORMAT_IEEEFP, is_signed = kind == SAMPLEFORMAT_INT;
  if (is_float && bits == 16) return Scalar::F16;
  if (is_float && bits == 32) return Scalar::F32;
  if (is_float && bits == 64) return Scalar::F64;
  const bool is_int = is_signed || kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID;
  if (is_int && !is_signed && (bits == 1 || bits == 2 || bits == 4)) return Scalar::U8;
  if (is_int && bits == 8) return is_signed ? Scalar::I8 : Scalar::U8;
  if (is_int && bits == 16) return is_signed ? Scalar::I16 : Scalar::U16;
  if (is_int && bits == 32) return is_signed ? Scalar::I32 : Scalar::U32;
  if (is_int && bits == 64) return is_signed ? Scalar::I64 : Scalar::U64;
  throw Fault{"its samples are " + std::to_string(bits) + "-bit " +
                  (is_float ? "floats"
                   : is_int ? "integers"
                            : "complex numbers"),
              "convert it to integers of 8, 16, 32 or 64 bits or floats of 16, 32 or 64"};
}

bool is_apart(TIFF* tiff) {
  return field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
}

int colours_of(TIFF* tiff) {
  std::uint16_t colours = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &colours);
  return colours;
}

/// Old JPEGs in TIFFs come as RGB when asked for.
bool decodes_to_rgb(TIFF* tiff) {
  if (field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION) != COMPRESSION_JPEG) return false;
  TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  return true;
}

/// The type of the pixels that the samples make. Refuses what would come out as wrong colours.
Type type_of_page(TIFF* tiff, Scalar scalar, const Stored& stored) {
  const Type type{scalar, stored.lanes};
  const bool one_lane = stored.lanes == 1;
  switch (stored.colours) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB:
      if (stored.bits >= 8 || one_lane) return type;
      throw Fault{"its pixels have " + std::to_string(stored.lanes) + " samples of " +
                      std::to_string(stored.bits) + " bits",
                  "convert it to 8 bits"};
    case PHOTOMETRIC_YCBCR:
      if (decodes_to_rgb(tiff)) return type;
      throw Fault{"its colours are YCbCr", "convert it to RGB"};
    case PHOTOMETRIC_MINISWHITE:
      if (one_lane && is_integer(scalar) && !is_signed(scalar)) return type;
      throw Fault{"its zero is white", "convert it to a zero that is black"};
    case PHOTOMETRIC_PALETTE:
      if (one_lane && stored.bits <= 8) return {Scalar::U8, 3};
      throw Fault{"its colours are a palette", "convert it to RGB"};
    case PHOTOMETRIC_SEPARATED:
      if (stored.lanes == 4 && stored.bits == 8 && scalar == Scalar::U8 && !is_apart(tiff) &&
          field<std::uint16_t>(tiff, TIFFTAG_INKSET) == INKSET_CMYK)
        return {Scalar::U8, 3};
      throw Fault{"its colours are inks", "convert it to RGB"};
    default: throw Fault{"its colours are neither grey nor RGB", "convert it to RGB"};
  }
}

Page describe(TIFF* tiff) {
  const Stored stored{field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1),
                      field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1), colours_of(tiff)};
  const Scalar scalar = scalar_of_page(tiff, stored.bits);
  if (stored.lanes < 1 || stored.lanes > 4) {
    throw Fault{"its pixels have " + std::to_string(stored.lanes) + " lanes, Weft has 1 to 4"};
  }
  return {type_of_page(tiff, scalar, stored), field<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH),
          field<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH), field<std::uint16_t>(tiff, TIFFTAG_ORIENTATION, 1),
          stored};
}

/// Red, green and blue of all values, in the 16 bits that the format has; some writers use 8 of them.
struct Palette {
  std::uint16_t* lanes[3] = {};
  int shift = 8;
};

Palette palette_of(const TiffSession& session, TIFF* tiff, const Stored& stored) {
  Palette palette;
  if (!stored.is_palette()) return palette;
  if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &palette.lanes[0], &palette.lanes[1], &palette.lanes[2]))
    throw damaged(session, "it has no palette");
  const auto is_short = [&](const std::uint16_t* lane) {
    return std::all_of(lane, lane + stored.levels() + 1, [](std::uint16_t v) { return v < 256; });
  };
  if (std::all_of(palette.lanes, palette.lanes + 3, is_short)) palette.shift = 0;
  return palette;
}

/// Pixels from a row of samples that are more, or less, than lanes of pixels.
void decode_row(const Page& page, const Palette& palette, const std::uint8_t* from, std::uint8_t* to,
                std::int64_t columns) {
  const Stored& stored = page.stored;
  const auto sample = [&](std::int64_t x) {
    const std::int64_t bit = x * stored.bits;
    return from[bit / 8] >> (8 - stored.bits - bit % 8) & stored.levels();
  };
  if (stored.is_palette()) {
    for (std::int64_t x = 0; x < columns; ++x) {
      for (const std::uint16_t* lane : palette.lanes)
        *to++ = static_cast<std::uint8_t>(lane[sample(x)] >> palette.shift);
    }
  } else if (stored.is_cmyk()) {
    for (std::int64_t x = 0; x < columns; ++x, from += 4, to += 3) {
      std::uint8_t light[4];
      std::transform(from, from + 4, light,
                     [](std::uint8_t ink) { return static_cast<std::uint8_t>(255 - ink); });
      light_of_cmyk(light, to);
    }
  } else {
    const std::int64_t bytes = columns * size_of(page.type);
    if (stored.bits < 8) {
      for (std::int64_t x = 0; x < columns; ++x)
        to[x] = static_cast<std::uint8_t>(sample(x) * (255 / stored.levels()));
    } else {
      std::memcpy(to, from, bytes);
    }
    if (!stored.is_white_zero()) return;
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(~to[i]);
  }
}

/// Reads a page chunk by chunk. Strips are chunks as wide as the picture; planes kept apart come one after
/// the other, each with one lane of every pixel. Strips that hold pixels as they are go where they belong.
void read_page(const TiffSession& session, TIFF* tiff, const Page& page, std::uint8_t* to) {
  const bool tiled = TIFFIsTiled(tiff), apart = is_apart(tiff), coded = page.stored.is_coded();
  const int planes = apart ? page.stored.lanes : 1;
  const std::int64_t bytes = size_of(page.type.scalar), pixel = size_of(page.type);
  std::int64_t wide = page.width, high = field<std::uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP, 1);
  if (tiled) {
    wide = field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH);
    high = field<std::uint32_t>(tiff, TIFFTAG_TILELENGTH);
  } else {
    high = std::min(high, page.height);
  }
  const Type part{page.type.scalar, page.stored.lanes / planes};
  check_claim({session.file}, part, {wide, high}, least_of(tiff, wide * high * size_of(part)));
  const std::int64_t row = (wide * page.stored.bits * part.lanes + 7) / 8;
  if ((tiled ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, high)) !=
      static_cast<std::uint64_t>(row * high)) {
    throw damaged(session, "its strips or tiles have an odd size");
  }

  const Palette palette = palette_of(session, tiff, page.stored);
  const bool in_place = !tiled && !apart && !coded;
  std::vector<std::uint8_t> chunk(in_place ? 0 : row * high);
  for (int plane = 0; plane < planes; ++plane) {
    for (std::int64_t y0 = 0; y0 < page.height; y0 += high) {
      const std::int64_t rows = std::min(high, page.height - y0);
      for (std::int64_t x0 = 0; x0 < page.width; x0 += wide) {
        const auto need = static_cast<tmsize_t>((tiled ? high : rows) * row);
        std::uint8_t* const samples = in_place ? to + y0 * row : chunk.data();
        const auto got =
            tiled ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x0, y0, 0, plane), samples, need)
                  : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y0, plane), samples, need);
        if (got != need) throw damaged(session, "a strip or tile is short");
        const std::int64_t columns = std::min(wide, page.width - x0);
        for (std::int64_t y = 0; !in_place && y < rows; ++y) {
          const std::uint8_t* from = samples + y * row;
          std::uint8_t* pixels = to + ((y0 + y) * page.width + x0) * pixel + plane * bytes;
          if (coded) {
            decode_row(page, palette, from, pixels, columns);
          } else if (!apart) {
            std::memcpy(pixels, from, columns * pixel);
          } else {
            for (std::int64_t x = 0; x < columns; ++x)
              std::memcpy(pixels + x * pixel, from + x * bytes, bytes);
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

std::string description_of(TIFF* tiff) {
  const char* text = nullptr;
  return TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text ? text : "";
}

std::vector<std::uint8_t> profile_of(TIFF* tiff) {
  std::uint32_t size = 0;
  const std::uint8_t* bytes = nullptr;
  if (!TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &size, &bytes)) return {};
  return {bytes, bytes + size};
}

Decoded read(const Source& source) {
  TiffSession session(source.bytes);
  const Tiff tiff = open_to_read(session);
  if (!tiff) throw damaged(session);

  std::vector<Page> pages;
  std::string description;
  std::vector<std::uint8_t> icc;
  std::int64_t least = 0;
  for_each_page(session, tiff.get(), [&] {
    pages.push_back(describe(tiff.get()));
    const Page& page = pages.back();
    if (page != pages.front()) {
      throw Fault{"its pages differ: page 1 is " + text_of(pages[0]) + ", page " +
                      std::to_string(pages.size()) + " is " + text_of(page),
                  "split it into one file per page"};
    }
    if (pages.size() > 1) return;
    description = description_of(tiff.get());
    icc = profile_of(tiff.get());
    check_claim(source, page.type, {page.width, page.height}, 0);
    least = least_of(tiff.get(), page.width * page.height * size_of(page.type));
  });
  if (pages.empty()) throw Fault{"the TIFF has no pages"};

  const Page page = pages.front();
  const auto count = static_cast<std::int64_t>(pages.size());
  std::vector<std::int64_t> extents{page.width, page.height};
  if (count > 1) extents.push_back(count);
  const std::int64_t stored_bits = page.width * page.height * page.stored.bits * page.stored.lanes;
  check_dimensions(description, page.stored.lanes, count, stored_bits / 8, source.bytes.size());
  const Buffer picture = allocate_claimed(source, page.type, extents, least);
  std::int64_t row = 0;
  for_each_page(session, tiff.get(), [&] {
    describe(tiff.get());  // asks for RGB again: the page was left in between
    read_page(session, tiff.get(), page, row_of(picture, row));
    row += page.height;
  });
  if (page.stored.is_cmyk()) icc.clear();
  return {picture, std::move(icc), page.orientation};
}

// ---- Writing --------------------------------------------------------------------------------------------

bool write_page(TIFF* tiff, const Buffer& picture, std::int64_t page, Bytes icc) {
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
  if (!icc.empty())
    TIFFSetField(tiff, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(icc.size()), icc.data());
  if (picture.rank() == 3) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
  std::uint32_t strip = 0;
  for (std::int64_t y = 0; y < height; y += rows_per_strip) {
    const std::int64_t n = std::min(rows_per_strip, height - y) * row;
    if (TIFFWriteEncodedStrip(tiff, strip++, row_of(picture, page * height + y), n) != n) return false;
  }
  return TIFFWriteDirectory(tiff);
}

void write(std::FILE* file, const Buffer& picture, Bytes icc) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (picture.extent(0) > most || picture.extent(1) > most) throw Fault{"a TIFF has at most 2^32 - 1 rows"};
  // Offsets of 32 bits, which every reader knows, as long as they last.
  const bool big = picture.bytes() > most - (most >> 4);
  TiffSession session;
  Tiff tiff = open_to_write(session, file, big);
  errno = 0;
  bool good = tiff != nullptr;
  const std::int64_t pages = picture.rank() == 3 ? picture.extent(2) : 1;
  for (std::int64_t page = 0; good && page < pages; ++page) good = write_page(tiff.get(), picture, page, icc);
  const int error = good ? 0 : errno;
  tiff.reset();
  if (error != 0) throw Fault{system_message(error)};
  if (!good || !session.message.empty()) throw Fault{"libtiff says: " + session.message};
}

}  // namespace
}  // namespace tiff

const Codec& tiff_codec() {
  static const Codec codec{.name = "TIFF",
                           .extensions = {".tif", ".tiff"},
                           .scalars = {Scalar::U8, Scalar::I8, Scalar::U16, Scalar::I16, Scalar::U32,
                                       Scalar::I32, Scalar::F32, Scalar::F64},
                           .lanes = {1, 2, 3, 4},
                           .max_rank = 3,
                           .recognizes = tiff::recognizes,
                           .read = tiff::read,
                           .write = tiff::write};
  return codec;
}

}  // namespace weft::io
