// However the pixels lie in memory, the result is the same as for packed images.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

constexpr std::int64_t width = 21, height = 13;
using Rgb = Vec<std::uint8_t, 3>;

/// Memory for one image, with room on all sides that must stay as it is.
class Memory {
 public:
  Memory(Type type, std::vector<std::int64_t> strides, std::int64_t lane_stride, std::int64_t origin,
         std::int64_t scalars)
      : bytes_(static_cast<std::size_t>(scalars), untouched),
        image_(bytes_.data() + origin, type, {width, height}, std::move(strides), lane_stride) {}

  const Buffer& image() const { return image_; }
  std::int64_t touched() const {
    return static_cast<std::int64_t>(bytes_.size()) - std::count(bytes_.begin(), bytes_.end(), untouched);
  }

 private:
  static constexpr std::uint8_t untouched = 0xee;
  std::vector<std::uint8_t> bytes_;
  Buffer image_;
};

struct Layout {
  const char* name;
  std::vector<std::int64_t> strides;
  std::int64_t lane_stride, origin, scalars;
};

const std::vector<Layout> layouts = {
    {"packed", {3, 3 * width}, 1, 0, 3 * width* height},
    {"padded", {3, 80}, 1, 5, 80 * height + 9},
    {"planar", {1, width}, width* height, 0, 3 * width* height},
    {"bottom_up", {3, -3 * width}, 1, 3 * width*(height - 1), 3 * width* height},
    {"right_to_left", {-3, 3 * width}, 1, 3 * (width - 1), 3 * width* height},
    {"bgr", {3, 3 * width}, -1, 2, 3 * width* height},
    {"columns_first", {3 * height, 3}, 1, 0, 3 * width* height},
    {"every_other", {6, 12 * width}, 2, 1, 12 * width* height},
};

Pipeline sharpen(const std::string& name) {
  const Image<Rgb> in("in");
  const Accessor src = in.border(Border::mirror());
  return {name, stage("out", in.size(), [&](Var x, Var y) {
            return saturate<std::uint8_t>(src(x, y) * 5 - src(x - 1, y) - src(x + 1, y) - src(x, y - 1) -
                                          src(x, y + 1));
          })};
}

class Buffers : public testing::TestWithParam<Layout> {
 protected:
  Memory memory() const {
    const Layout& l = GetParam();
    return {type_of<Rgb>(), l.strides, l.lane_stride, l.origin, l.scalars};
  }
};

TEST_P(Buffers, AsInput) {
  const Buffer packed = picture(type_of<Rgb>(), {width, height}, 81);
  const Memory input = memory();
  input.image().copy_from(packed);
  const Pipeline pipeline = sharpen("sharpen");
  const Buffer expected = interpreted(pipeline, {{{"in", packed}}, {}, {}}).at("out");
  const Arguments arguments{{{"in", input.image()}}, {}, {}};
  EXPECT_EQ(difference(expected, interpreted(pipeline, arguments).at("out")), "");
  EXPECT_EQ(difference(expected, pipeline.compile(compile_options()).run(arguments).at("out")), "");
}

TEST_P(Buffers, AsOutput) {
  const Buffer in = picture(type_of<Rgb>(), {width, height}, 82);
  const Pipeline pipeline = sharpen("sharpen");
  const Buffer expected = interpreted(pipeline, {{{"in", in}}, {}, {}}).at("out");
  CompileOptions reference = compile_options();
  reference.target = Target::Reference;
  for (const CompileOptions& options : {compile_options(), reference}) {
    const Memory output = memory();
    const auto results = pipeline.compile(options).run({{{"in", in}}, {}, {{"out", output.image()}}});
    EXPECT_EQ(results.at("out").data(), output.image().data());
    EXPECT_EQ(difference(expected, output.image()), "");
    EXPECT_LE(output.touched(), 3 * width * height);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Buffers, testing::ValuesIn(layouts),
                         [](const auto& info) { return info.param.name; });

TEST(Buffers, OverAVector) {
  std::vector<float> pixels(width * height), result(width * height);
  std::iota(pixels.begin(), pixels.end(), 0.f);
  const Image<float> in("in");
  const Program program = Pipeline("double", point("out", in * 2.f)).compile(compile_options());
  program.run({{{"in", Buffer::view(pixels, {width, height})}},
               {},
               {{"out", Buffer::view(result, {width, height})}}});
  for (std::size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(result[i], 2 * pixels[i]) << i;
}

/// As much of OpenCV's matrix as Buffer looks at.
struct Mat {
  unsigned char* data;
  int rows, cols;
  std::size_t step;
  int channels() const { return 3; }
  int depth() const { return 0; }  // CV_8U
};

TEST(Buffers, OverAMatrix) {
  const Buffer packed = picture(type_of<Rgb>(), {width, height}, 83);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(80 * height));
  const Mat mat{bytes.data(), height, width, 80};
  const Buffer view = Buffer::view_of_mat(mat);
  view.copy_from(packed);
  expect_agreement(sharpen("sharpen"), {{{"in", view}}, {}, {}});
}

}  // namespace
}  // namespace weft::testing_support
