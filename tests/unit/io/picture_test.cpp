#include <png.h>
#include <sys/resource.h>
#include <tiffio.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>

#include "tests/unit/io/picture_files.h"

namespace weft::io {
namespace {

// ---- Round trips ----------------------------------------------------------------------------------------

TEST_F(PictureTest, LosslessFormatsReturnEveryTypeTheyHold) {
  int written = 0;
  for (const char* extension :
       {".png", ".tif", ".TIFF", ".webp", ".bmp", ".pgm", ".ppm", ".pnm", ".pfm", ".npy"}) {
    for (int s = 0; s <= static_cast<int>(Scalar::F64); ++s) {
      for (int lanes = 1; lanes <= 4; ++lanes) {
        const Type type{static_cast<Scalar>(s), lanes};
        const fs::path file = at(std::string("a") + extension);
        for (const Extents& extents :
             {Extents{1, 1}, Extents{7, 5}, Extents{1, 13}, Extents{301, 3}, Extents{5, 3, 4}}) {
          if (!can_write(file, type, static_cast<int>(extents.size()))) continue;
          SCOPED_TRACE(file.filename().string() + " " + name_of(type));
          const Buffer picture = random_picture(type, extents);
          if (type.scalar == Scalar::Bool) {
            for (std::uint8_t& v : std::span(static_cast<std::uint8_t*>(picture.data()), picture.bytes()))
              v &= 1;
          }
          if (file.extension() == ".webp" && lanes < 3) continue;  // which has colours only
          write_picture(file, picture);
          expect_same(picture, read_picture(file).buffer);
          ++written;
        }
      }
    }
  }
  // PNG 2 types x 4 lanes, WebP 1 x 2, BMP 1 x 3, PGM and PPM 2 x 1, PNM 2 x 2, PFM 1 x 2, each in 4 sizes;
  // TIFF twice 8 x 4 in 5, NPY 12 x 4 in 5.
  EXPECT_EQ(written, 4 * (8 + 2 + 3 + 2 + 2 + 4 + 2) + 2 * 5 * 32 + 5 * 48);
}

TEST_F(PictureTest, JpegIsCloseToSmoothPictures) {
  for (int lanes : {1, 3}) {
    for (const Extents& extents : {Extents{1, 1}, Extents{33, 17}}) {
      const Buffer picture = Buffer::allocate({Scalar::U8, lanes}, extents);
      auto* value = static_cast<std::uint8_t*>(picture.data());
      for (std::int64_t i = 0; i < picture.pixels(); ++i) {
        for (int l = 0; l < lanes; ++l) *value++ = static_cast<std::uint8_t>(i % extents[0] * 5 + 20 * l);
      }
      write_picture(at("a.jpg"), picture);
      const Picture back = read_picture(at("a.jpg"));
      EXPECT_EQ(back.format, "JPEG");
      ASSERT_EQ(back.buffer.type(), picture.type());
      ASSERT_EQ(back.buffer.extents(), extents);
      const auto was = values_of<std::uint8_t>(picture), is = values_of<std::uint8_t>(back.buffer);
      for (std::size_t i = 0; i < was.size(); ++i) EXPECT_NEAR(was[i], is[i], 8) << i;
    }
  }
}

TEST_F(PictureTest, StridedPicturesAreWrittenAsTheirPixels) {
  const Buffer whole = random_picture({Scalar::U8, 3}, {9, 6});
  const Buffer planar(whole.data(), {Scalar::U8, 3}, {4, 5}, {1, 4}, 20);
  write_picture(at("a.png"), planar);
  expect_same(planar.packed(), read_picture(at("a.png")).buffer);
}

TEST_F(PictureTest, APngIsCompressedQuickly) {
  write_picture(at("a.png"), random_picture({Scalar::U8, 3}, {99, 60}));
  const std::string bytes = get("a.png");
  const std::size_t data = bytes.find("IDAT") + 4;
  // The second byte of zlib's stream has the level in its upper bits: 0 the fastest, 1 fast, 2 as unless said.
  ASSERT_LT(data + 1, bytes.size());
  EXPECT_EQ(static_cast<unsigned char>(bytes[data + 1]) >> 6, 1);
}

TEST_F(PictureTest, TheContentTellsTheFormatNotTheName) {
  write_picture(at("a.png"), random_picture({Scalar::U8, 1}, {3, 3}));
  fs::rename(at("a.png"), at("a.tif"));
  EXPECT_EQ(read_picture(at("a.tif")).format, "PNG");
}

TEST_F(PictureTest, ListsItsFormats) {
  EXPECT_EQ(readable_formats(),
            (std::vector<std::string>{"PNG", "JPEG", "TIFF", "WebP", "BMP", "PGM", "PPM", "PFM", "NPY"}));
  EXPECT_EQ(writable_formats(), (std::vector<std::string>{".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp",
                                                          ".bmp", ".pgm", ".ppm", ".pnm", ".pfm", ".npy"}));
}

// ---- PGM, PPM, PFM --------------------------------------------------------------------------------------

TEST_F(PictureTest, TextPgmHasCommentsAnywhere) {
  const Picture picture =
      read_picture(put("a.pgm", "P2 # grey\n#size:\n3 2\r\n255#white\n0 1 2 # one row\n\t3 4 255"));
  EXPECT_EQ(picture.format, "PGM");
  EXPECT_EQ(picture.buffer.extents(), (Extents{3, 2}));
  EXPECT_EQ(values_of<std::uint8_t>(picture.buffer), (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 255}));
}

TEST_F(PictureTest, TextPpm) {
  const Picture picture = read_picture(put("a.ppm", "P3\n1 2\n65535\n1 2 3\n4 5 65535\n"));
  EXPECT_EQ(picture.format, "PPM");
  EXPECT_EQ(values_of<std::uint16_t>(picture.buffer), (std::vector<std::uint16_t>{1, 2, 3, 4, 5, 65535}));
}

TEST_F(PictureTest, SamplesAreScaledToTheWholeRange) {
  const std::string wide("P5 3 1 1023\n\x00\x00\x02\x00\x03\xff", 18);
  EXPECT_EQ(values_of<std::uint8_t>(read_picture(put("a", "P2 3 1 15 0 7 15")).buffer),
            (std::vector<std::uint8_t>{0, 119, 255}));
  EXPECT_EQ(values_of<std::uint16_t>(read_picture(put("a", wide)).buffer),
            (std::vector<std::uint16_t>{0, 32800, 65535}));
}

TEST_F(PictureTest, BinaryRasterMayStartWithASpace) {
  EXPECT_EQ(values_of<std::uint8_t>(read_picture(put("a", "P5 2 1 255\n #")).buffer),
            (std::vector<std::uint8_t>{' ', '#'}));
}

TEST_F(PictureTest, PfmStartsWithItsBottomRow) {
  const Buffer picture = Buffer::allocate({Scalar::F32, 1}, {1, 2});
  picture.at<float>(0, 0) = 1;
  picture.at<float>(0, 1) = 2;
  write_picture(at("a.pfm"), picture);
  const std::string bytes = get("a.pfm");
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8), "Pf\n1 2\n-1.0\n");
  EXPECT_EQ(bytes.substr(bytes.size() - 8), std::string("\0\0\0\x40\0\0\x80\x3f", 8));
}

TEST_F(PictureTest, PfmOfEitherByteOrder) {
  const std::vector<float> expected{2, 1};
  const std::string big("Pf\n1 2\n1.0\n\x3f\x80\0\0\x40\0\0\0", 19),
      little("Pf 1 2 -1\n\0\0\x80\x3f\0\0\0\x40", 18);
  EXPECT_EQ(values_of<float>(read_picture(put("a", big)).buffer), expected);
  EXPECT_EQ(values_of<float>(read_picture(put("a", little)).buffer), expected);
}

// ---- PNG and TIFF as others write them ------------------------------------------------------------------

TEST_F(PictureTest, PngPalettesAndSingleBitsAreExpanded) {
  const auto write = [&](int colours) {
    std::FILE* file = std::fopen(at("a.png").c_str(), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, 2, 1, 1, colours, PNG_INTERLACE_ADAM7, 0, 0);
    const png_color palette[] = {{10, 20, 30}, {40, 50, 60}};
    if (colours == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
    std::uint8_t row = 0x40;  // pixels 0 and 1
    std::uint8_t* rows = &row;
    png_set_rows(png, info, &rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);
    return values_of<std::uint8_t>(read_picture(at("a.png")).buffer);
  };
  EXPECT_EQ(write(PNG_COLOR_TYPE_GRAY), (std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(write(PNG_COLOR_TYPE_PALETTE), (std::vector<std::uint8_t>{10, 20, 30, 40, 50, 60}));
}

/// Writes a 37 x 21 picture as `layout` asks and expects to read it back.
struct Layout {
  bool tiled, apart, big_endian;
  int compression;
};

class TiffLayout : public PictureTest, public testing::WithParamInterface<Layout> {};

TEST_P(TiffLayout, IsRead) {
  const auto [tiled, apart, big_endian, compression] = GetParam();
  const std::int64_t width = 37, height = 21, wide = tiled ? 16 : width, high = tiled ? 32 : 4;
  const Buffer picture = random_picture({Scalar::U16, 3}, {width, height});
  const auto pixel = [&](std::int64_t x, std::int64_t y, int l) -> std::uint16_t {
    if (x >= width || y >= height) return 0;
    return static_cast<const std::uint16_t*>(picture.data())[(y * width + x) * 3 + l];
  };

  TIFF* tiff = TIFFOpen(at("a.tif").c_str(), big_endian ? "wb" : "wl");
  ASSERT_NE(tiff, nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, apart ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  if (tiled) TIFFSetField(tiff, TIFFTAG_TILEWIDTH, wide);
  if (tiled) TIFFSetField(tiff, TIFFTAG_TILELENGTH, high);
  if (!tiled) TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, high);
  std::uint32_t index = 0;
  for (int plane = 0; plane < (apart ? 3 : 1); ++plane) {
    for (std::int64_t y0 = 0; y0 < height; y0 += high) {
      for (std::int64_t x0 = 0; x0 < width; x0 += wide) {
        std::vector<std::uint16_t> chunk;
        for (std::int64_t y = y0; y < (tiled ? y0 + high : std::min(y0 + high, height)); ++y) {
          for (std::int64_t x = x0; x < x0 + wide; ++x) {
            for (int l = apart ? plane : 0; l < (apart ? plane + 1 : 3); ++l) chunk.push_back(pixel(x, y, l));
          }
        }
        const auto bytes = static_cast<tmsize_t>(chunk.size() * 2);
        ASSERT_EQ(tiled ? TIFFWriteEncodedTile(tiff, index, chunk.data(), bytes)
                        : TIFFWriteEncodedStrip(tiff, index, chunk.data(), bytes),
                  bytes);
        ++index;
      }
    }
  }
  TIFFClose(tiff);
  expect_same(picture, read_picture(at("a.tif")).buffer);
}

INSTANTIATE_TEST_SUITE_P(
    All, TiffLayout, testing::ValuesIn([] {
      std::vector<Layout> layouts;
      for (int bits = 0; bits < 8; ++bits) {
        for (int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
          layouts.push_back({bool(bits & 1), bool(bits & 2), bool(bits & 4), compression});
        }
      }
      return layouts;
    }()));

// ---- Bad files ------------------------------------------------------------------------------------------

/// A small picture in every format that can be cut short.
std::vector<std::pair<std::string, Buffer>> samples() {
  return {
      {"PNG", random_picture({Scalar::U8, 3}, {9, 7})},   {"JPEG", random_picture({Scalar::U8, 3}, {9, 7})},
      {"TIFF", random_picture({Scalar::F64, 2}, {9, 7})}, {"PGM", random_picture({Scalar::U16, 1}, {9, 7})},
      {"PPM", random_picture({Scalar::U8, 3}, {9, 7})},   {"PFM", random_picture({Scalar::F32, 3}, {9, 7})},
      {"WebP", random_picture({Scalar::U8, 4}, {9, 7})},  {"BMP", random_picture({Scalar::U8, 3}, {9, 7})},
      {"NPY", random_picture({Scalar::I16, 2}, {9, 7})}};
}

std::string extension_of(const std::string& format) {
  if (format == "TIFF") return ".tif";
  std::string extension = "." + format;
  for (char& c : extension) c = static_cast<char>(std::tolower(c));
  return extension;
}

TEST_F(PictureTest, FilesThatAreNoPictures) {
  put("empty.png", "");
  put("text.jpg", "hello, this is no picture");
  put("P.pgm", "P5");
  EXPECT_EQ(read_error("none.png"), "cannot read 'none.png': there is no such file");
  EXPECT_EQ(read_error("empty.png"), "cannot read 'empty.png': the file is empty");
  EXPECT_EQ(error_of([&] { read_picture(folder_); }),
            "cannot read '" + folder_.string() + "': it is a directory");
  EXPECT_EQ(error_of([&] { read_picture("/dev/null"); }),
            "cannot read '/dev/null': it is not a regular file");
  for (const std::string name : {"text.jpg", "P.pgm"}) {
    EXPECT_EQ(read_error(name), "cannot read '" + name +
                                    "': it is not a picture in a format Weft reads\n"
                                    "  help: convert it to PNG, JPEG, TIFF, WebP, BMP, PGM, PPM, PFM or NPY");
  }
}

TEST_F(PictureTest, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
  fs::permissions(put("a.png", "x"), fs::perms::none);
  EXPECT_EQ(read_error("a.png"), "cannot read 'a.png': Permission denied");
}

TEST_F(PictureTest, FilesCutAnywhere) {
  for (const auto& [format, picture] : samples()) {
    const std::string name = "a" + extension_of(format);
    write_picture(at(name), picture);
    const std::string whole = get(name);
    for (std::size_t n = 8; n < whole.size(); ++n) {
      put(name, whole.substr(0, n));
      ASSERT_EQ(read_error(name), "cannot read '" + name + "': the " + format + " is truncated")
          << n << " bytes";
    }
  }
  put("a.pgm", "P2 3 2 255 1 2 3 4 5 ");
  EXPECT_EQ(read_error("a.pgm"), "cannot read 'a.pgm': the PGM is truncated");
}

TEST_F(PictureTest, DamagedFiles) {
  const auto damage = [&](const std::string& name, const Buffer& picture, std::size_t at_byte, char value) {
    write_picture(at(name), picture);
    std::string bytes = get(name);
    bytes[at_byte] = value;
    put(name, bytes);
    return read_error(name);
  };
  const Buffer rgb = random_picture({Scalar::U8, 3}, {9, 7});
  EXPECT_EQ(damage("a.png", rgb, 29, '?'), "cannot read 'a.png': the PNG is damaged: IHDR: CRC error");
  EXPECT_EQ(damage("a.jpg", rgb, 3, '\x02'),
            "cannot read 'a.jpg': the JPEG is damaged: Unsupported marker type 0x02");
  EXPECT_EQ(damage("a.tif", rgb, 4, '\x09'),
            "cannot read 'a.tif': the TIFF is damaged: Sanity check on directory count failed, this is "
            "probably not a valid IFD offset");

  const auto text = [&](const std::string& bytes) {
    put("a", bytes);
    return read_error("a");
  };
  EXPECT_EQ(text("P5 x 3 255\n"), "cannot read 'a': the PGM is damaged: the width is 'x'");
  EXPECT_EQ(text("P5 3 -3 255\n"), "cannot read 'a': the PGM is damaged: a size is negative");
  EXPECT_EQ(text("P6 3 3 65536\n"),
            "cannot read 'a': the PPM is damaged: the largest sample is 65536, not within 1 to 65535");
  EXPECT_EQ(text("P2 2 1 9 3 10"), "cannot read 'a': the PGM is damaged: a sample is 10, the largest is 9");
  EXPECT_EQ(text("P2 2 1 9 3 ten\n"), "cannot read 'a': the PGM is damaged: a sample is 'ten'");
  EXPECT_EQ(text("Pf 2 1 0\n........"),
            "cannot read 'a': the PFM is damaged: the scale is not a number above or below 0");
}

TEST_F(PictureTest, AbsurdSizes) {
  const auto text = [&](const std::string& bytes) {
    put("a", bytes);
    return read_error("a");
  };
  EXPECT_EQ(text("P5 0 3 255\n"), "cannot read 'a': it has no pixels: its size is 0x3");
  EXPECT_EQ(text("Pf 3 0 -1\n"), "cannot read 'a': it has no pixels: its size is 3x0");
  EXPECT_EQ(text("P6 99999999999999999999 1 255\n"),
            "cannot read 'a': the PPM is damaged: the width is '99999999999999999999'");
  EXPECT_EQ(text("P6 4000000000 4000000000 255\n"),
            "cannot read 'a': it is too large to address: 4000000000x4000000000");
  EXPECT_EQ(text("PF 1000000 1000000 -1\n"),
            "cannot read 'a': it claims 1000000x1000000 pixels, more than its 22 bytes can hold");
  EXPECT_EQ(text(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\0\0\0\0"
                             "\x31\xa2\x54\xba\0\0\0\0IDAT\x35\xaf\x06\x1e",
                             45)),
            "cannot read 'a': it claims 2147483647x2147483647 pixels, more than its 45 bytes can hold");
}

TEST_F(PictureTest, TiffsWeftHasNoPixelsFor) {
  const auto write = [&](int bits, int kind, int lanes, int colours) {
    TIFF* tiff = TIFFOpen(at("a.tif").c_str(), "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 1);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, kind);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, lanes);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, colours);
    std::uint8_t pixel[64] = {};
    TIFFWriteEncodedStrip(tiff, 0, pixel, (bits * lanes + 7) / 8);
    TIFFClose(tiff);
    return read_error("a.tif");
  };
  EXPECT_EQ(write(24, SAMPLEFORMAT_IEEEFP, 1, PHOTOMETRIC_MINISBLACK),
            "cannot read 'a.tif': its samples are 24-bit floats\n"
            "  help: convert it to integers of 8, 16, 32 or 64 bits or floats of 16, 32 or 64");
  EXPECT_EQ(write(8, SAMPLEFORMAT_UINT, 5, PHOTOMETRIC_MINISBLACK),
            "cannot read 'a.tif': its pixels have 5 lanes, Weft has 1 to 4");
  EXPECT_EQ(write(16, SAMPLEFORMAT_UINT, 4, PHOTOMETRIC_SEPARATED),
            "cannot read 'a.tif': its colours are inks\n  help: convert it to RGB");
  EXPECT_EQ(write(4, SAMPLEFORMAT_UINT, 4, PHOTOMETRIC_SEPARATED),
            "cannot read 'a.tif': its colours are inks\n  help: convert it to RGB");
  EXPECT_EQ(write(32, SAMPLEFORMAT_IEEEFP, 1, PHOTOMETRIC_MINISWHITE),
            "cannot read 'a.tif': its zero is white\n  help: convert it to a zero that is black");
  EXPECT_EQ(write(4, SAMPLEFORMAT_UINT, 3, PHOTOMETRIC_RGB),
            "cannot read 'a.tif': its pixels have 3 samples of 4 bits\n  help: convert it to 8 bits");
}

TEST_F(PictureTest, TiffPagesMustAgree) {
  TIFF* tiff = TIFFOpen(at("a.tif").c_str(), "w");
  for (int width : {2, 3}) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    std::uint8_t row[3] = {};
    TIFFWriteEncodedStrip(tiff, 0, row, width);
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
  EXPECT_EQ(read_error("a.tif"),
            "cannot read 'a.tif': its pages differ: page 1 is u8 2x1, page 2 is u8 3x1\n"
            "  help: split it into one file per page");
}

/// Whatever a few wrong bytes make of a file, it reads as a picture or is refused.
TEST_F(PictureTest, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  for (const auto& [format, picture] : samples()) {
    const std::string name = "a" + extension_of(format);
    write_picture(at(name), picture);
    const std::string whole = get(name);
    for (int round = 0; round < 400; ++round) {
      std::string bytes = whole;
      for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      put(name, bytes);
      EXPECT_NO_THROW({
        try {
          read_picture(at(name));
        } catch (const Error&) {
        }
      });
    }
  }
}

// ---- Failed writes --------------------------------------------------------------------------------------

TEST_F(PictureTest, PicturesTheFormatCannotHold) {
  const auto of = [](Scalar scalar, int lanes, Extents extents = {2, 2}) {
    return Buffer::allocate({scalar, lanes}, std::move(extents));
  };
  EXPECT_EQ(write_error("a.png", of(Scalar::F32, 1)),
            "cannot write 'a.png': a PNG holds u8 or u16, not f32\n  help: write .tif, .pfm or .npy");
  EXPECT_EQ(write_error("a.jpg", of(Scalar::U16, 3)),
            "cannot write 'a.jpg': a JPEG holds u8, not u16\n  help: write .png, .tif, .ppm or .npy");
  EXPECT_EQ(write_error("a.jpg", of(Scalar::U8, 4)),
            "cannot write 'a.jpg': a JPEG holds 1 or 3 lanes, not 4\n  help: write .png, .tif, .webp, .bmp "
            "or .npy");
  EXPECT_EQ(write_error("a.pgm", of(Scalar::U8, 3)),
            "cannot write 'a.pgm': a PGM holds 1 lane, not 3\n  help: write .png, .jpg, .tif, .webp, .bmp, "
            ".ppm or .npy");
  EXPECT_EQ(write_error("a.tif", of(Scalar::Bool, 1)),
            "cannot write 'a.tif': a TIFF holds u8, i8, u16, i16, u32, i32, f32 or f64, not bool\n"
            "  help: write .npy");
  EXPECT_EQ(write_error("a.png", of(Scalar::I8, 1)),
            "cannot write 'a.png': a PNG holds u8 or u16, not i8\n  help: write .tif or .npy");
  EXPECT_EQ(write_error("a.png", of(Scalar::U8, 1, {2, 2, 2})),
            "cannot write 'a.png': a PNG holds 2 dimensions, not 3\n  help: write .tif or .npy");
  EXPECT_EQ(write_error("a.tif", of(Scalar::U8, 1, {2})),
            "cannot write 'a.tif': a TIFF holds 2 or 3 dimensions, not 1\n"
            "  help: write pictures of 2 dimensions, or of 3 as a .tif or .npy");
  EXPECT_EQ(write_error("a.png", of(Scalar::U8, 1, {2, 0})),
            "cannot write 'a.png': the picture has no pixels");
  const std::string all =
      "\n  help: write .png, .jpg, .jpeg, .tif, .tiff, .webp, .bmp, .pgm, .ppm, .pnm, .pfm or "
      ".npy";
  EXPECT_EQ(write_error("a.gif", of(Scalar::U8, 1)),
            "cannot write 'a.gif': '.gif' is not a format Weft writes" + all);
  EXPECT_EQ(write_error("a", of(Scalar::U8, 1)),
            "cannot write 'a': its name has no extension to tell the format" + all);
  EXPECT_EQ(write_error("a.jpg", of(Scalar::U8, 1, {65501, 1})),
            "cannot write 'a.jpg': a JPEG has at most 65500 rows and columns\n  help: write .png or .tif");
  EXPECT_EQ(files(), 0u);

  std::string why;
  EXPECT_FALSE(can_write("a.png", {Scalar::F32, 1}, 2, &why));
  EXPECT_EQ(why, "a PNG holds u8 or u16, not f32");
}

TEST_F(PictureTest, PlacesThatCannotBeWritten) {
  const Buffer picture = random_picture({Scalar::U8, 1}, {3, 3});
  put("file", "x");
  fs::create_directory(at("folder.png"));
  EXPECT_EQ(write_error("none/a.png", picture), "cannot write 'none/a.png': there is no folder 'none'");
  EXPECT_EQ(write_error("file/a.png", picture),
            "cannot write 'file/a.png': in folder 'file': Not a directory");
  EXPECT_EQ(write_error("folder.png", picture), "cannot write 'folder.png': it is a directory");
  if (geteuid() != 0) {  // root writes everywhere
    fs::permissions(at("folder.png"), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(write_error("folder.png/a.png", picture),
              "cannot write 'folder.png/a.png': in folder 'folder.png': Permission denied");
  }
  EXPECT_EQ(files(), 2u);
}

/// A limit on the size of files stands in for a disk that fills up.
TEST_F(PictureTest, AWriteThatFailsHalfwayLeavesTheOldFile) {
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  for (const auto& [format, small] : samples()) {
    const std::string name = "a" + extension_of(format);
    put(name, "old");
    const Buffer picture = random_picture(small.type(), {300, 300});
    rlimit limit = old_limit;
    limit.rlim_cur = 20000;
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = write_error(name, picture);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_EQ(error, "cannot write '" + name + "': File too large");
    EXPECT_EQ(get(name), "old");
  }
  EXPECT_EQ(files(), samples().size());
  std::signal(SIGXFSZ, old_handler);
}

TEST_F(PictureTest, ALinkStaysALink) {
  put("a.png", "old");
  fs::create_symlink("a.png", at("link.png"));
  write_picture(at("link.png"), random_picture({Scalar::U8, 1}, {3, 3}));
  EXPECT_TRUE(fs::is_symlink(at("link.png")));
  EXPECT_EQ(read_picture(at("a.png")).format, "PNG");
  EXPECT_EQ(files(), 2u);
}

}  // namespace
}  // namespace weft::io
