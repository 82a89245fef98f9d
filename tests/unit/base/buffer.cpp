#include <weft/buffer.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft {
namespace {

TEST(Buffer, OwnedMemoryIsAlignedForVectorsAndForHugePages) {
  const auto address = [](const Buffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); };
  EXPECT_EQ(address(Buffer::allocate({Scalar::U8}, {65})) % 64, 0u);
  EXPECT_EQ(address(Buffer::allocate({Scalar::U8}, {4 << 20})) % (2 << 20), 0u);
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Buffer, PixelsAreReadByTheirTypeAndInsideOfTheirBox) {
  std::vector<std::uint8_t> grey = {1, 2, 3, 4, 5, 6};
  const Buffer image = Buffer::view(grey, {3, 2});
  EXPECT_EQ(image.at<std::uint8_t>(2, 1), 6);
  EXPECT_EQ(image.at<const std::uint8_t>(0u, std::size_t{1}), 4);
  EXPECT_EQ(image.unchecked<std::uint8_t>(1, 1), 5);
  EXPECT_EQ(refusal([&] { image.at<float>(0, 0); }),
            "at<float>() of a buffer of 3x2 u8 pixels\n  needs at<std::uint8_t>()");
  EXPECT_EQ(refusal([&] { image.at<std::uint8_t>(0); }),
            "1 index for a buffer of 3x2 u8 pixels\n  needs 2, one per dimension");
  EXPECT_EQ(refusal([&] { image.at<std::uint8_t>(0, 0, 0); }),
            "3 indices for a buffer of 3x2 u8 pixels\n  needs 2, one per dimension");
  EXPECT_EQ(refusal([&] { image.at<std::uint8_t>(3, 1); }),
            "pixel (3, 1) is outside of a buffer of 3x2 u8 pixels");
  EXPECT_EQ(refusal([&] { image.at<std::uint8_t>(0, -1); }),
            "pixel (0, -1) is outside of a buffer of 3x2 u8 pixels");
  EXPECT_EQ(refusal([&] { Buffer().at<std::uint8_t>(); }), "a pixel of a buffer without memory");
  EXPECT_EQ(refusal([&] { image.in(Memory::gpu(1)).at<std::uint8_t>(0, 0); }),
            "the CPU cannot reach pixels in the memory of GPU 1");
  EXPECT_EQ(Buffer::allocate({Scalar::F64}, {}).at<double>(), 0);
}

TEST(Buffer, LanesAreViewsOfTheirOwn) {
  using Rgb = Vec<std::uint8_t, 3>;
  std::vector<Rgb> pixels = {{1, 2, 3}, {4, 5, 6}};
  const Buffer rgb = Buffer::view(pixels, {2, 1});
  EXPECT_EQ(rgb.at<Rgb>(1, 0)[2], 6);
  EXPECT_EQ(rgb.lane(1).at<std::uint8_t>(1, 0), 5);
  EXPECT_EQ(refusal([&] { rgb.at<std::uint8_t>(0, 0); }),
            "at<std::uint8_t>() of a buffer of 2x1 u8x3 pixels\n"
            "  needs at<Vec<std::uint8_t, 3>>(), or lane(i).at<std::uint8_t>()");
  EXPECT_EQ(refusal([&] { rgb.lane(3); }), "lane 3 of a buffer of u8x3 pixels\n  needs 0 to 2");

  std::vector<std::uint8_t> planes = {1, 4, 2, 5, 3, 6};
  const Buffer planar(planes.data(), rgb.type(), {2, 1}, {1, 2}, 2);
  EXPECT_EQ(planar.lane(2).at<std::uint8_t>(1, 0), 6);
  EXPECT_EQ(planar.packed().at<Rgb>(1, 0), pixels[1]);
  EXPECT_EQ(refusal([&] { planar.at<Rgb>(0, 0); }),
            "at<Vec<std::uint8_t, 3>>() of a buffer of 2x1 u8x3 pixels whose lanes are not side by side\n"
            "  help: take one lane, lane(i).at<std::uint8_t>(), or packed(), a copy");
}

/// What view_of_mat needs of a cv::Mat; `dims` is 3 for a volume, whose rows and cols are -1.
struct Mat {
  int dims, rows, cols, lanes;
  std::size_t step;
  float* data;
  int channels() const { return lanes; }
  static int depth() { return 5; }
};

TEST(Buffer, MatsOfTwoDimensionsAreViewed) {
  std::vector<float> pixels(12);
  EXPECT_EQ(Buffer::view_of_mat(Mat{2, 2, 3, 2, 24, pixels.data()}).extents(),
            (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(refusal([&] {
              Buffer::view_of_mat(Mat{3, -1, -1, 1, 16, pixels.data()});
            }),
            "view_of_mat is given a cv::Mat of 3 dimensions\n  needs 2\n"
            "  help: view others as Buffer(mat.data, type, extents, strides), x first, strides counted in "
            "scalars");
  EXPECT_EQ(refusal([&] {
              Buffer::view_of_mat(Mat{2, 1, 2, 6, 48, pixels.data()});
            }),
            "a pixel has 1 to 4 lanes, not 6\n"
            "  help: make the lanes a dimension of an image of scalars, with the stride 1");
}

}  // namespace
}  // namespace weft
