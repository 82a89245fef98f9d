// The recipes of docs/cookbook.md, compiled, and compared with plain loops. Those that come from OpenCV are
// in opencv_snippets.cpp.
#include <gtest/gtest.h>
#include <weft/picture.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tests/docs/page.h"
#include "tests/support/differential.h"
#include "tests/support/environment.h"
#include "tests/support/images.h"

using namespace weft;
using namespace weft::testing_support;

// ---- guided filter ----

WEFT_PIPELINE(guided_filter, {.summary = "smooths where the guide is smooth", .range = 1}) {
  AnyImage in("in", {Scalar::F32}, {1, 3});
  Image<float> guide("guide", in.size());
  const Option<int> radius("radius", 4, between(1, 64));
  const Param<float> eps("eps", 0.01f, at_least(0));  // the variance that counts as an edge

  const Domain window(2 * radius + 1, 2 * radius + 1);
  const auto mean = [&](const std::string& name, const Expr& value) {
    Stage values = point(name, value);
    return local("mean_" + name, values.border(Border::mirror()), window, Local::Mean);
  };
  Stage mean_g = mean("g", guide), mean_p = mean("p", in);
  Stage mean_gg = mean("gg", guide * guide), mean_gp = mean("gp", guide * in);

  // in each window, the line a * guide + b that is nearest to the picture
  Stage slope = point("slope", (mean_gp - mean_g * mean_p) / (mean_gg - mean_g * mean_g + eps));
  Stage offset = point("offset", mean_p - slope * mean_g);
  return point("filtered", mean("a", slope) * guide + mean("b", offset));
}

// ---- CLAHE ----

WEFT_PIPELINE(clahe, {.summary = "local contrast: histograms of tiles, equalized up to a limit"}) {
  Image<std::uint8_t> in("in");
  const Option<int> tiles("tiles", 8, between(1, 64));  // in each direction
  const Param<float> limit("limit", 2.f, at_least(0));  // of a bin, in mean bins
  const int n = tiles;
  const Index tile_w = (in.width() + (n - 1)) / n, tile_h = (in.height() + (n - 1)) / n;
  const Expr area = Expr(tile_w) * tile_h;

  const Accessor pixel = in.border(Border::mirror101());  // the last tiles may reach outside
  Stage count = scatter("count", {256, n, n}, 0, Extents{tile_w * n, tile_h * n}, [&](Var x, Var y) {
    return add({pixel(x, y), Expr(x) / tile_w, Expr(y) / tile_h}, 1);
  });

  // what is above the limit is shared out among all bins
  const Expr most = max(cast<int>(limit * area / 256), 1);
  Stage excess = stage("excess", {n, n}, [&](Var i, Var j) {
    return sum(Domain(256, 1), [&](Tap t) { return max(count(t.x + 128, i, j) - most, 0); });
  });
  Stage shared = stage("shared", {256, n, n}, [&](Var v, Var i, Var j) {
    const Expr rest = excess(i, j) % 256, every = max(256 / rest, 1);
    const Expr one_more = select(v % every == 0 && v / every < rest, 1, 0);
    return min(count(v, i, j), most) + excess(i, j) / 256 + one_more;
  });

  Stage below = shared;  // after the loop: how many pixels of a tile are at most v
  for (int step = 1; step < 256; step *= 2) {
    const Accessor before = below.border(Border::constant(0));
    below = stage("below" + std::to_string(step), {256, n, n},
                  [&](Var v, Var i, Var j) { return before(v, i, j) + before(v - step, i, j); });
  }
  Stage table = point("table", saturate<std::uint8_t>(below * (255.f / cast<float>(area))));

  // each pixel between the tables of the four tiles around it
  const Accessor looked_up = table.border(Border::clamp());
  return stage("out", in.size(), [&](Var x, Var y) {
    const Expr u = x / cast<float>(tile_w) - .5f, v = y / cast<float>(tile_h) - .5f;
    const Expr i = cast<int>(floor(u)), j = cast<int>(floor(v));
    const auto of = [&](const Expr& i, const Expr& j) { return cast<float>(looked_up(in(x, y), i, j)); };
    const auto across = [&](const Expr& j) { return lerp(of(i, j), of(i + 1, j), u - i); };
    return saturate<std::uint8_t>(lerp(across(j), across(j + 1), v - j));
  });
}

// ---- a kernel given as an image ----

WEFT_PIPELINE(filter_by_image, {.summary = "correlates a picture with a 7x7 image"}) {
  Image<float> in("in"), kernel("kernel", {7, 7});
  const Accessor src = in.border(Border::mirror101());
  return stage("filtered", in.size(), [&](Var x, Var y) {
    return sum(Domain(7, 7), [&](Tap t) { return src(x + t.x, y + t.y) * kernel(t.x + 3, t.y + 3); });
  });
}

WEFT_PIPELINE(filter_by_any_image, {.summary = "correlates with an image of any size up to `most`"}) {
  Image<float> in("in"), kernel("kernel");
  const Option<int> most("most", 15, between(1, 63));
  const Accessor src = in.border(Border::mirror101()), weight = kernel.border(Border::constant(0));
  return stage("filtered", in.size(), [&](Var x, Var y) {
    return sum(Domain(most, most), [&](Tap t) {
      return src(x + t.x, y + t.y) * weight(t.x + kernel.width() / 2, t.y + kernel.height() / 2);
    });
  });
}

// ---- a region of interest that is known at run time ----

/// A part of an image, without a copy.
Buffer part_of(const Buffer& image, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  const std::int64_t scalars = x * image.stride(0) + y * image.stride(1);
  auto* first = static_cast<std::byte*>(image.data()) + scalars * size_of(image.type().scalar);
  return Buffer(first, image.type(), {width, height}, image.strides(), image.lane_stride());
}

WEFT_PIPELINE(blur_part, {.summary = "blurs the part of a picture at x0, y0 that is as large as `part`"}) {
  Image<float> in("in"), part("part");
  const Param<int> x0("x0", 0, at_least(0)), y0("y0", 0, at_least(0));
  const Accessor src = in.border(Border::mirror101());
  return stage("blurred", part.size(), [&](Var x, Var y) {
    return sum(Domain(3, 3), [&](Tap t) { return src(x0 + x + t.x, y0 + y + t.y); }) / 9.f;
  });
}

// ---- more than four channels ----

WEFT_PIPELINE(bands_to_rgb, {.summary = "a colour picture from many bands", .range = 1}) {
  const Option<int> bands("bands", 31, between(1, 256));
  Image<float> cube("cube", 3);                            // x, y, band
  Image<Vec<float, 3>> colour("colour", {bands.value()});  // what a band gives to red, green and blue
  const Accessor value = cube.border(Border::constant(0));
  return stage("rgb", {cube.width(), cube.height()}, [&](Var x, Var y) {
    return sum(Domain(bands, 1), [&](Tap t) {
      const Index band = t.x + bands / 2;
      return value(x, y, band) * colour(band);
    });
  });
}

// ---- cumulative histogram ----

WEFT_PIPELINE(cumulative_histogram, {.summary = "how many pixels have at most each value"}) {
  Image<std::uint8_t> in("in");
  Stage total = scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
  for (int step = 1; step < 256; step *= 2) {
    const Accessor before = total.border(Border::constant(0u));
    total = stage("total" + std::to_string(step), {256}, [&](Var v) { return before(v) + before(v - step); });
  }
  return total;
}

// ---- picture files ----

Program blur_of(Type pixels) {
  AnyImage in("in", {pixels.scalar}, {pixels.lanes});
  const Mask b5 = Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1}) / 256.f;
  return Pipeline("blur", convolve("blurred", in.border(Border::mirror()), b5,
                                   [&](Expr e) { return saturate(in.type().lane(), e); }))
      .compile();
}

int blur_files(const std::vector<std::string>& files) {
  std::map<std::string, Program> programs;  // one for each type of pixels: 8 or 16 bits, grey or colour
  for (const std::string& file : files) {
    try {
      const Buffer picture = io::read_picture(file).buffer;
      const std::string type = name_of(picture.type());
      if (!programs.contains(type)) programs.emplace(type, blur_of(picture.type()));
      io::write_picture(file + ".blurred.png", programs.at(type)(picture));
    } catch (const Error& error) {
      std::cerr << error.what() << "\n";  // no such file, not a picture, a full disk: says which and why
      return 2;
    }
  }
  return 0;
}

// ---- cv::Mat ----

namespace cv {  // as much of OpenCV's matrix as the recipe needs

class Mat {
 public:
  Mat(int rows, int cols, int type)
      : rows(rows),
        cols(cols),
        step(static_cast<std::size_t>(cols) * 3 + 5),
        bytes_(step * static_cast<std::size_t>(rows)),
        data(bytes_.data()),
        type_(type) {}
  int rows, cols;
  std::size_t step;

 private:
  std::vector<unsigned char> bytes_;

 public:
  unsigned char* data;
  int type() const { return type_; }
  int channels() const { return 3; }
  int depth() const { return 0; }

 private:
  int type_;
};

}  // namespace cv

Program median_of_colours() {
  Image<Vec<std::uint8_t, 3>> in("in");  // blue, green, red, as cv::imread gives them
  return Pipeline("median", local("out", in.border(Border::clamp()), Domain(3, 3), Local::Median)).compile();
}

cv::Mat median_of(const Program& median, const cv::Mat& picture) {
  cv::Mat result(picture.rows, picture.cols, picture.type());
  Arguments arguments;
  arguments.images["in"] = Buffer::view_of_mat(picture);
  arguments.outputs["out"] = Buffer::view_of_mat(result);  // written in place
  median.run(arguments);
  return result;
}

namespace {

using Images = std::map<std::string, Buffer>;
using Params = std::map<std::string, double>;
using Colour = Vec<float, 3>;

/// What images that accept several types are given.
std::map<std::string, Type> lanes_of(const Images& images) {
  std::map<std::string, Type> types;
  if (images.contains("in")) types["in"] = images.at("in").type();
  return types;
}

Buffer output_of(const char* name, const Images& images, const Params& params = {},
                 const std::map<std::string, std::string>& options = {}) {
  const Built built = build(applications().at(name), {.options = options, .image_types = lanes_of(images)});
  return interpreted(built.pipeline, {images, params, {}}).begin()->second;
}

/// The index that a border mode reads, of an image large enough to need one reflection at most.
std::int64_t mirror(std::int64_t i, std::int64_t n) { return i < 0 ? -1 - i : i < n ? i : 2 * n - 1 - i; }
std::int64_t mirror101(std::int64_t i, std::int64_t n) { return i < 0 ? -i : i < n ? i : 2 * n - 2 - i; }

/// A picture of doubles, for formulas.
struct Plane {
  std::int64_t w, h;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(w * h));
  double& at(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * w + x)]; }
  double at(std::int64_t x, std::int64_t y) const { return values[static_cast<std::size_t>(y * w + x)]; }
};
Plane plane_of(const Buffer& image, int lane = 0) {
  Plane plane{image.extent(0), image.extent(1)};
  for (std::int64_t y = 0; y < plane.h; ++y) {
    for (std::int64_t x = 0; x < plane.w; ++x)
      plane.at(x, y) = image.type().lanes == 1 ? image.at<float>(x, y) : image.at<Colour>(x, y)[lane];
  }
  return plane;
}
Plane combined(const Plane& a, const Plane& b, const std::function<double(double, double)>& f) {
  Plane result{a.w, a.h};
  for (std::size_t i = 0; i < a.values.size(); ++i) result.values[i] = f(a.values[i], b.values[i]);
  return result;
}
Plane mean_of(const Plane& in, int radius) {
  Plane result{in.w, in.h};
  for (std::int64_t y = 0; y < in.h; ++y) {
    for (std::int64_t x = 0; x < in.w; ++x) {
      double total = 0;
      for (int dy = -radius; dy <= radius; ++dy) {
        for (int dx = -radius; dx <= radius; ++dx) total += in.at(mirror(x + dx, in.w), mirror(y + dy, in.h));
      }
      result.at(x, y) = total / ((2 * radius + 1) * (2 * radius + 1));
    }
  }
  return result;
}

/// A picture with values of 0 to 1.
Buffer unit_picture(int lanes, const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  Buffer image = picture(type_of<float>().with_lanes(lanes), extents, seed);
  auto* values = static_cast<float*>(image.data());
  for (std::int64_t i = 0; i < image.pixels() * lanes; ++i) values[i] /= 255;
  return image;
}

void expect_near(const Plane& expected, const Plane& got, double bound) {
  ASSERT_EQ(expected.values.size(), got.values.size());
  for (std::size_t i = 0; i < expected.values.size(); ++i)
    ASSERT_NEAR(expected.values[i], got.values[i], bound) << i;
}

TEST(Cookbook, GuidedFilter) {
  const int radius = 3;
  const double eps = 0.02;
  const Buffer in = unit_picture(3, {23, 17}, 1), guide = unit_picture(1, {23, 17}, 2);
  const Buffer got =
      output_of("guided_filter", {{"in", in}, {"guide", guide}}, {{"eps", eps}}, {{"radius", "3"}});
  EXPECT_EQ(got.type(), in.type());

  const auto times = [](double a, double b) { return a * b; };
  const auto minus = [](double a, double b) { return a - b; };
  const Plane g = plane_of(guide), mean_g = mean_of(g, radius);
  const Plane variance =
      combined(mean_of(combined(g, g, times), radius), combined(mean_g, mean_g, times), minus);
  for (int lane = 0; lane < 3; ++lane) {
    const Plane p = plane_of(in, lane), mean_p = mean_of(p, radius);
    const Plane covariance =
        combined(mean_of(combined(g, p, times), radius), combined(mean_g, mean_p, times), minus);
    const Plane a = combined(covariance, variance, [&](double c, double v) { return c / (v + eps); });
    const Plane b = combined(mean_p, combined(a, mean_g, times), minus);
    const Plane expected = combined(combined(mean_of(a, radius), g, times), mean_of(b, radius),
                                    [](double x, double y) { return x + y; });
    expect_near(expected, plane_of(got, lane), 1e-5);
  }
}

TEST(Cookbook, Clahe) {  // opencv_snippets.cpp compares it with OpenCV's
  Buffer flat = Buffer::allocate(type_of<std::uint8_t>(), {19, 18});
  for (std::int64_t i = 0; i < flat.pixels(); ++i) static_cast<std::uint8_t*>(flat.data())[i] = 7;
  const Buffer got = output_of("clahe", {{"in", flat}}, {{"limit", 1000}}, {{"tiles", "2"}});
  EXPECT_EQ(got.at<std::uint8_t>(9, 9), 255);  // without a limit, the only value there is becomes white
}

Plane correlated(const Buffer& in, const Buffer& kernel) {
  Plane expected{in.extent(0), in.extent(1)};
  for (std::int64_t y = 0; y < expected.h; ++y) {
    for (std::int64_t x = 0; x < expected.w; ++x) {
      for (std::int64_t j = 0; j < kernel.extent(1); ++j) {
        for (std::int64_t i = 0; i < kernel.extent(0); ++i) {
          const std::int64_t u = mirror101(x + i - kernel.extent(0) / 2, expected.w);
          const std::int64_t v = mirror101(y + j - kernel.extent(1) / 2, expected.h);
          expected.at(x, y) += static_cast<double>(in.at<float>(u, v)) * kernel.at<float>(i, j);
        }
      }
    }
  }
  return expected;
}

TEST(Cookbook, KernelAsAnImage) {
  const Buffer in = picture(type_of<float>(), {23, 17}, 3), seven = unit_picture(1, {7, 7}, 4);
  expect_near(correlated(in, seven), plane_of(output_of("filter_by_image", {{"in", in}, {"kernel", seven}})),
              0.02);
  EXPECT_THROW(output_of("filter_by_image", {{"in", in}, {"kernel", in}}), Error);
  for (const std::vector<std::int64_t>& size : {std::vector<std::int64_t>{5, 3}, {4, 9}, {1, 1}}) {
    const Buffer kernel = unit_picture(1, size, 5);
    expect_near(
        correlated(in, kernel),
        plane_of(output_of("filter_by_any_image", {{"in", in}, {"kernel", kernel}}, {}, {{"most", "9"}})),
        0.02);
  }
}

TEST(Cookbook, PartOfABuffer) {
  const Buffer image = picture(type_of<Vec<float, 3>>(), {23, 17}, 6);
  const Buffer part = part_of(image, 5, 4, 9, 8);
  for (std::int64_t y = 0; y < 8; ++y) {
    for (std::int64_t x = 0; x < 9; ++x) ASSERT_EQ(&part.at<Colour>(x, y), &image.at<Colour>(x + 5, y + 4));
  }

  Image<Vec<float, 3>> in("in");
  const Pipeline pipeline("p", local("widest", in.border(Border::clamp()), Domain(3, 3), Local::Max));
  const Program program = pipeline.compile({.target = Target::Reference, .compiler_flags = {}});
  Buffer canvas = Buffer::allocate(image.type(), {23, 17});
  Arguments arguments;
  arguments.images["in"] = part_of(image, 5, 4, 9, 8);
  arguments.outputs["widest"] = part_of(canvas, 5, 4, 9, 8);  // the rest of the canvas stays as it is
  program.run(arguments);
  EXPECT_EQ(canvas.at<Colour>(4, 4)[0], 0);
  EXPECT_EQ(difference(program(part.packed()), part_of(canvas, 5, 4, 9, 8)), "");
}

TEST(Cookbook, PartByParameters) {
  const Buffer in = picture(type_of<float>(), {23, 17}, 7), size = Buffer::allocate(type_of<float>(), {6, 5});
  const Plane got = plane_of(output_of("blur_part", {{"in", in}, {"part", size}}, {{"x0", 17}, {"y0", 3}}));
  Plane expected{6, 5};
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 6; ++x) {
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i)
          expected.at(x, y) += in.at<float>(mirror101(17 + x + i, 23), 3 + y + j) / 9.;
      }
    }
  }
  expect_near(expected, got, 1e-3);
}

TEST(Cookbook, ManyChannels) {
  const std::int64_t w = 5, h = 4, bands = 6;
  std::vector<float> pixels(static_cast<std::size_t>(w * h * bands));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 17);
  const Buffer planes = Buffer::view(pixels, {w, h, bands});
  const Buffer interleaved(pixels.data(), type_of<float>(), {w, h, bands}, {bands, w * bands, 1});
  const Buffer colour = unit_picture(3, {bands}, 8);
  for (const Buffer& cube : {planes, interleaved}) {
    const Buffer got = output_of("bands_to_rgb", {{"cube", cube}, {"colour", colour}}, {}, {{"bands", "6"}});
    for (std::int64_t y = 0; y < h; ++y) {
      for (std::int64_t x = 0; x < w; ++x) {
        for (int lane = 0; lane < 3; ++lane) {
          double expected = 0;
          for (std::int64_t band = 0; band < bands; ++band)
            expected += static_cast<double>(cube.at<float>(x, y, band)) * colour.at<Colour>(band)[lane];
          ASSERT_NEAR(got.at<Colour>(x, y)[lane], expected, 1e-4);
        }
      }
    }
  }
}

TEST(Cookbook, BandByBand) {
  Image<float> cube("cube", 3);
  const Mask b3 = Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f;
  Stage smooth = convolve("smooth", cube.border(Border::clamp()), b3);  // each band on its own
  const Buffer in = picture(type_of<float>(), {5, 4, 3}, 9);
  const Buffer got = interpreted(Pipeline("p", smooth), {{{"cube", in}}, {}, {}}).at("smooth");
  double expected = 0;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i)
      expected += in.at<float>(2 + i, 2 + j, 1) * (2 - std::abs(i)) * (2 - std::abs(j)) / 16.;
  }
  EXPECT_NEAR(got.at<float>(2, 2, 1), expected, 1e-3);
}

TEST(Cookbook, PictureFiles) {
  const testing_support::TemporaryFolder folder;
  Buffer grey = picture(type_of<std::uint8_t>(), {23, 17}, 12);
  const std::string first = folder / "grey.png", second = folder / "colour.png";
  io::write_picture(first, grey);
  io::write_picture(second, picture(type_of<Vec<std::uint16_t, 3>>(), {9, 8}, 13));
  EXPECT_EQ(blur_files({first, second}), 0);
  EXPECT_EQ(io::read_picture(second + ".blurred.png").buffer.type(), (type_of<Vec<std::uint16_t, 3>>()));
  int total = 0;
  const int row[] = {1, 4, 6, 4, 1};
  for (int j = -2; j <= 2; ++j) {
    for (int i = -2; i <= 2; ++i) total += row[i + 2] * row[j + 2] * grey.at<std::uint8_t>(11 + i, 8 + j);
  }
  EXPECT_NEAR(io::read_picture(first + ".blurred.png").buffer.at<std::uint8_t>(11, 8), total / 256., 0.5);
  EXPECT_EQ(blur_files({folder / "none.png"}), 2);
}

TEST(Cookbook, Matrix) {
  const Buffer in = picture(type_of<Vec<std::uint8_t, 3>>(), {23, 17}, 11);
  cv::Mat mat(17, 23, 16);
  Buffer::view_of_mat(mat).copy_from(in);
  const cv::Mat got = median_of(median_of_colours(), mat);
  std::vector<std::uint8_t> green;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) green.push_back(in.at<Vec<std::uint8_t, 3>>(8 + i, 6 + j)[1]);
  }
  std::sort(green.begin(), green.end());
  EXPECT_EQ(got.data[6 * got.step + 8 * 3 + 1], green[4]);
}

TEST(Cookbook, CumulativeHistogram) {
  const Buffer in = picture(type_of<std::uint8_t>(), {23, 17}, 10);
  const Buffer got = output_of("cumulative_histogram", {{"in", in}});
  for (int v = 0; v < 256; ++v) {
    unsigned expected = 0;
    for (std::int64_t y = 0; y < 17; ++y) {
      for (std::int64_t x = 0; x < 23; ++x) expected += in.at<std::uint8_t>(x, y) <= v;
    }
    ASSERT_EQ(got.at<unsigned>(v), expected) << v;
  }
}

TEST(Cookbook, PageShowsWhatIsTested) {
  const std::string page = WEFT_SOURCE_DIR "/docs/cookbook.md", here = WEFT_SOURCE_DIR "/tests/docs/";
  EXPECT_FALSE(snippets_of(text_of(page)).empty());
  EXPECT_EQ(snippets_without_test(page, {here + "cookbook_snippets.cpp", here + "opencv_snippets.cpp",
                                         here + "cuda_snippets.cpp"}),
            std::vector<std::string>{});
}

}  // namespace
