// What single formats do beyond returning the pixels they were given.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <cstdio>  // jpeglib.h uses FILE and does not say so

#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "io/upright.h"
#include "tests/unit/io/picture_files.h"

namespace weft::io {
namespace {

using namespace std::string_literals;
using U8s = std::vector<std::uint8_t>;

Buffer counted(Type type, Extents extents) {
  const Buffer picture = Buffer::allocate(type, std::move(extents));
  auto* value = static_cast<std::uint8_t*>(picture.data());
  std::iota(value, value + picture.bytes(), std::uint8_t{0});
  return picture;
}

// ---- Orientation ----------------------------------------------------------------------------------------

TEST(Upright, TurnsAndMirrors) {
  const Buffer stored = counted({Scalar::U8, 1}, {3, 2});  // 0 1 2 / 3 4 5
  const U8s expected[] = {{0, 1, 2, 3, 4, 5}, {2, 1, 0, 5, 4, 3}, {5, 4, 3, 2, 1, 0}, {3, 4, 5, 0, 1, 2},
                          {0, 3, 1, 4, 2, 5}, {3, 0, 4, 1, 5, 2}, {5, 2, 4, 1, 3, 0}, {2, 5, 1, 4, 0, 3}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Buffer turned = upright(stored, orientation);
    EXPECT_EQ(values_of<std::uint8_t>(turned), expected[orientation - 1]) << orientation;
    EXPECT_EQ(turned.extents(), (orientation < 5 ? Extents{3, 2} : Extents{2, 3})) << orientation;
  }
}

TEST(Upright, PixelsOfEveryTypeStayWhole) {
  for (int s = 0; s <= static_cast<int>(Scalar::F64); ++s) {
    for (int lanes = 1; lanes <= 4; ++lanes) {
      const Buffer picture = random_picture({static_cast<Scalar>(s), lanes}, {37, 41, 2});
      expect_same(picture, upright(upright(picture, 6), 8));
    }
  }
}

TEST(Upright, ExifOfEitherByteOrder) {
  const auto orientation = [](const std::string& text) {
    return orientation_of_exif({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  const std::string little =
      "II*\0\x08\0\0\0\x02\0"s + "\x0f\x01\x02\0\0\0\0\0\0\0\0\0"s + "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"s;
  const std::string big = "Exif\0\0MM\0*\0\0\0\x08\0\x01"s + "\x01\x12\0\x03\0\0\0\x01\0\x08\0\0"s;
  EXPECT_EQ(orientation(little), 6);
  EXPECT_EQ(orientation(big), 8);
  for (std::size_t n = 0; n < little.size() - 4; ++n) EXPECT_EQ(orientation(little.substr(0, n)), 1) << n;
  EXPECT_EQ(orientation("II*\0\xff\xff\xff\xff\x02\0"s), 1);
}

// ---- ICC profiles ---------------------------------------------------------------------------------------

/// A header that libraries take for a profile, and no tables of colours, but bytes of any kind.
U8s profile(const std::string& colours) {
  std::string bytes(1024, '\0');
  std::mt19937 random(3);
  for (std::size_t i = 132; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random());
  bytes.replace(0, 4, "\0\0\x04\0"s);  // its length
  bytes.replace(8, 4, "\x02\x10\0\0"s);
  bytes.replace(12, 12, "mntr" + colours + "XYZ ");
  bytes.replace(36, 4, "acsp");
  bytes.replace(68, 12, "\0\0\xf6\xd6\0\x01\0\0\0\0\xd3\x2d"s);  // D50
  return {bytes.begin(), bytes.end()};
}

TEST_F(PictureTest, ProfilesAreKeptByFormatsThatHoldOne) {
  for (const int lanes : {1, 3, 4}) {
    const WriteOptions options{profile(lanes == 1 ? "GRAY" : "RGB ")};
    for (const char* name : {"a.png", "a.jpg", "a.tif", "a.webp", "a.bmp", "a.npy"}) {
      if (!can_write(at(name), {Scalar::U8, lanes}, 2)) continue;
      const bool holds = name != "a.bmp"s && name != "a.npy"s && !(name == "a.webp"s && lanes == 1);
      write_picture(at(name), random_picture({Scalar::U8, lanes}, {5, 4}), options);
      EXPECT_EQ(read_picture(at(name)).icc, holds ? options.icc : U8s{}) << name << " " << lanes;
      write_picture(at(name), random_picture({Scalar::U8, lanes}, {5, 4}));
      EXPECT_EQ(read_picture(at(name)).icc, U8s{}) << name << " " << lanes;
    }
  }
  EXPECT_EQ(error_of([&] {
              write_picture(at("b.png"), random_picture({Scalar::U8, 1}, {5, 4}), {profile("RGB ")});
            }),
            "cannot write 'b.png': the ICC profile is not one for pixels of 1 lane");
}

// ---- JPEG -----------------------------------------------------------------------------------------------

/// One colour in 8x8 pixels, which no compression changes much.
void write_inks(const fs::path& file, std::array<std::uint8_t, 4> inks, bool adobe) {
  std::FILE* out = std::fopen(file.c_str(), "wb");
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, out);
  jpeg.image_width = jpeg.image_height = 8;
  jpeg.input_components = 4;
  jpeg.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg.write_Adobe_marker = adobe ? TRUE : FALSE;
  jpeg_start_compress(&jpeg, TRUE);
  U8s row;
  for (int x = 0; x < 8; ++x) row.insert(row.end(), inks.begin(), inks.end());
  JSAMPROW rows = row.data();
  for (int y = 0; y < 8; ++y) jpeg_write_scanlines(&jpeg, &rows, 1);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(out);
}

TEST_F(PictureTest, JpegsOfInksAreWhatTheInksLeaveOver) {
  const auto first_pixel = [&](bool adobe) {
    write_inks(at("a.jpg"), {200, 100, 0, 51}, adobe);
    const Buffer picture = read_picture(at("a.jpg")).buffer;
    EXPECT_EQ(picture.type(), (Type{Scalar::U8, 3}));
    U8s pixel = values_of<std::uint8_t>(picture);
    pixel.resize(3);
    return pixel;
  };
  EXPECT_EQ(first_pixel(true), (U8s{40, 20, 0}));      // light: 200 * 51 / 255 …
  EXPECT_EQ(first_pixel(false), (U8s{44, 124, 204}));  // ink: 55 * 204 / 255 …
}

// ---- WebP -----------------------------------------------------------------------------------------------

TEST_F(PictureTest, WebpHasGreyAsColours) {
  write_picture(at("a.webp"), counted({Scalar::U8, 1}, {3, 1}));
  EXPECT_EQ(values_of<std::uint8_t>(read_picture(at("a.webp")).buffer), (U8s{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  write_picture(at("a.webp"), counted({Scalar::U8, 2}, {2, 1}));
  EXPECT_EQ(values_of<std::uint8_t>(read_picture(at("a.webp")).buffer), (U8s{0, 0, 0, 1, 2, 2, 2, 3}));
  EXPECT_EQ(write_error("b.webp", Buffer::allocate({Scalar::U8, 1}, {16384, 1})),
            "cannot write 'b.webp': a WebP has at most 16383 rows and columns\n  help: write .png or .tif");
}

// ---- BMP ------------------------------------------------------------------------------------------------

std::string words(std::initializer_list<std::uint32_t> values) {
  std::string text;
  for (const std::uint32_t v : values) {
    for (int b = 0; b < 4; ++b) text += static_cast<char>(v >> 8 * b);
  }
  return text;
}

/// A BMP of 2x2 pixels, height as given, without a palette.
std::string bmp(std::int32_t height, std::uint32_t bits, std::uint32_t compression, const std::string& rest,
                std::uint32_t raster = 54) {
  return "BM" +
         words({0, 0, raster, 40, 2, static_cast<std::uint32_t>(height), 1 | bits << 16, compression, 0, 0, 0,
                0, 0}) +
         rest;
}

TEST_F(PictureTest, BmpsOfOtherLayouts) {
  const auto pixels = [&](const std::string& bytes) {
    return values_of<std::uint8_t>(read_picture(put("a.bmp", bytes)).buffer);
  };
  const std::string rows = "\x01\x02\x03\x04\x05\x06\0\0"s + "\x07\x08\x09\x0a\x0b\x0c\0\0"s;  // blue first
  EXPECT_EQ(pixels(bmp(2, 24, 0, rows)), (U8s{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(pixels(bmp(-2, 24, 0, rows)), (U8s{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10}));  // top first
  EXPECT_EQ(pixels(bmp(-1, 16, 0, words({0x7fff001f}))), (U8s{0, 0, 255, 255, 255, 255}));
  EXPECT_EQ(pixels(bmp(-1, 16, 3, words({0xf800, 0x07e0, 0x001f, 0x07e0f800}), 66)),
            (U8s{255, 0, 0, 0, 255, 0}));
  EXPECT_EQ(pixels(bmp(-1, 32, 0, words({0xaa010203, 0xbb040506}))), (U8s{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(pixels(bmp(-1, 32, 6, words({0xff, 0xff00, 0xff0000, 0xff000000, 0xaa010203, 0xbb040506}), 70)),
            (U8s{3, 2, 1, 0xaa, 6, 5, 4, 0xbb}));
  // Windows' first format: a short header, a palette of three bytes a colour.
  EXPECT_EQ(
      pixels("BM" + words({0, 0, 32, 12, 0x00010002, 0x00010001}) + "\x01\x02\x03\x04\x05\x06\x40\0\0\0"s),
      (U8s{3, 2, 1, 6, 5, 4}));
}

TEST_F(PictureTest, BmpsThatAreRefused) {
  const auto error = [&](const std::string& bytes) {
    put("a.bmp", bytes);
    return read_error("a.bmp");
  };
  EXPECT_EQ(error(bmp(2, 8, 1, "")),
            "cannot read 'a.bmp': the BMP is compressed\n"
            "  help: save it without compression, or as PNG");
  EXPECT_EQ(error(bmp(2, 7, 0, "")), "cannot read 'a.bmp': the BMP is damaged: its pixels have 7 bits");
  EXPECT_EQ(error(bmp(0x7fffffff, 24, 0, "")), "cannot read 'a.bmp': the BMP is truncated");
  EXPECT_EQ(error("BM" + words({0, 0, 54, 13, 2, 2})),
            "cannot read 'a.bmp': the BMP is damaged: its header has 13 bytes");
}

// ---- NPY ------------------------------------------------------------------------------------------------

TEST_F(PictureTest, NpyIsWhatNumpyWrites) {
  write_picture(at("a.npy"), counted({Scalar::U8, 1}, {2, 3}));
  std::string header = "\x93NUMPY\x01\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }"s;
  header.resize(127, ' ');
  EXPECT_EQ(get("a.npy"), header + "\n\0\1\2\3\4\5"s);
}

TEST_F(PictureTest, OfThreeAxesTheLastIsLanesIfItHasFourElementsOrLess) {
  const auto shape = [&](Type type, const Extents& extents) {
    const Buffer picture = random_picture(type, extents);
    write_picture(at("a.npy"), picture);
    expect_same(picture, read_picture(at("a.npy")).buffer);
    const std::string bytes = get("a.npy");
    const auto open = bytes.find('(');
    return bytes.substr(open, bytes.find(')') + 1 - open);
  };
  EXPECT_EQ(shape({Scalar::F32, 1}, {7, 5}), "(5, 7)");
  EXPECT_EQ(shape({Scalar::F32, 3}, {7, 5}), "(5, 7, 3)");
  EXPECT_EQ(shape({Scalar::F32, 1}, {7, 5, 9}), "(9, 5, 7)");
  EXPECT_EQ(shape({Scalar::F32, 1}, {4, 5, 9}), "(9, 5, 4, 1)");  // else its x would be taken for lanes
  EXPECT_EQ(shape({Scalar::F32, 2}, {7, 5, 9}), "(9, 5, 7, 2)");
}

TEST_F(PictureTest, NpysThatAreRefused) {
  const auto error = [&](const std::string& dictionary) {
    std::string bytes = "\x93NUMPY\x01\0"s;
    bytes += {static_cast<char>(dictionary.size()), 0};
    put("a.npy", bytes + dictionary);
    return read_error("a.npy");
  };
  const std::string damaged = "cannot read 'a.npy': the NPY is damaged: its header is not one of NumPy's";
  EXPECT_EQ(error("{}"), damaged);
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1)}"), damaged);
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}"), damaged);
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}"),
            "cannot read 'a.npy': it has no pixels: its size is 3x0");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000)}"),
            "cannot read 'a.npy': it is too large to address: 4000000000x4000000000");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}"),
            "cannot read 'a.npy': the NPY is truncated");
}

TEST_F(PictureTest, NpyOfOneAxisIsARow) {
  put("a.npy", "\x93NUMPY\x01\0\x39\0{'descr': '|b1', 'fortran_order': True, 'shape': (3,), }\n\0\1\2"s);
  const Buffer row = read_picture(at("a.npy")).buffer;
  EXPECT_EQ(row.extents(), (Extents{3, 1}));
  EXPECT_EQ(row.type(), (Type{Scalar::Bool, 1}));
  EXPECT_EQ(values_of<std::uint8_t>(row), (U8s{0, 1, 1}));
}

// ---- Limits ---------------------------------------------------------------------------------------------

TEST_F(PictureTest, PicturesOfMorePixelsThanAllowedAreRefused) {
  for (const char* name : {"a.png", "a.jpg", "a.tif", "a.webp", "a.bmp", "a.pgm", "a.npy"}) {
    write_picture(at(name), random_picture({Scalar::U8, 1}, {30, 20}));
    EXPECT_EQ(error_of([&] { read_picture(at(name), {.max_pixels = 599}); }),
              "cannot read '"s + name +
                  "': it has 30x20 pixels, and no more than 599 are to be read\n"
                  "  help: --max-pixels 600 reads it; in C++, ReadOptions::max_pixels");
    EXPECT_EQ(read_picture(at(name), {.max_pixels = 600}).buffer.pixels(), 600);
  }
}

/// 65000x65000 in a few hundred bytes: deflate makes 1032 bytes of one at best.
TEST_F(PictureTest, ClaimsBeyondWhatDeflateCanHold) {
  write_picture(at("a.png"), random_picture({Scalar::U8, 1}, {20, 20}));
  std::string bytes = get("a.png");
  bytes.replace(16, 8, "\0\0\xfd\xe8\0\0\xfd\xe8"s);
  bytes.replace(29, 4, "\x87\x3c\x86\xd6");  // the checksum of the header
  put("a.png", bytes + std::string(242'000, ' '));
  const std::string size = std::to_string(bytes.size() + 242'000);
  EXPECT_EQ(read_error("a.png"),
            "cannot read 'a.png': it claims 65000x65000 pixels, more than its " + size + " bytes can hold");
}

/// A JPEG of a colour, whose header says more.
TEST_F(PictureTest, ClaimsBeyondWhatAJpegCanHold) {
  write_picture(at("a.jpg"), Buffer::allocate({Scalar::U8, 3}, {64, 64}));
  std::string bytes = get("a.jpg");
  const auto frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  bytes.replace(frame + 5, 4, "\xff\0\xff\0"s);
  put("a.jpg", bytes);
  EXPECT_EQ(read_error("a.jpg"), "cannot read 'a.jpg': it claims 65280x65280 pixels, more than its " +
                                     std::to_string(bytes.size()) + " bytes can hold");
}

// ---- TIFF -----------------------------------------------------------------------------------------------

TEST_F(PictureTest, TiffPagesTurnedDifferentlyAreRefused) {
  TIFF* tiff = TIFFOpen(at("a.tif").c_str(), "w");
  for (const int orientation : {1, 6}) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 2);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, orientation);
    std::uint8_t row[2] = {};
    TIFFWriteEncodedStrip(tiff, 0, row, 2);
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
  EXPECT_EQ(read_error("a.tif"),
            "cannot read 'a.tif': its pages differ: page 1 is u8 2x1, page 2 is u8 2x1, turned\n"
            "  help: split it into one file per page");
}

}  // namespace
}  // namespace weft::io
