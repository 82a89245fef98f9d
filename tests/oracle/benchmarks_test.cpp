// The applications of the warp-tiling paper and local_laplacian against plain loops: the interpreter and compiled code, on every
// pixel.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "ir/stage_ir.h"
#include "tests/oracle/reference/benchmarks.h"
#include "tests/support/compare.h"
#include "tests/support/compile.h"

namespace weft::oracle {
namespace {

using reference::Grid;
using reference::Image;
using testing_support::Bound;
using testing_support::difference;
using Extents = std::vector<std::int64_t>;
using Images = std::map<std::string, Buffer>;
using Options = std::map<std::string, std::string>;

// ---- images -----------------------------------------------------------------------------------------------

/// 0 to `white`, both ends often; an integer type has its whole numbers.
template <class T>
Buffer random_image(int lanes, const Extents& extents, double white, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Buffer image = Buffer::allocate(type_of<T>().with_lanes(lanes), extents);
  T* at = static_cast<T*>(image.data());
  for (std::int64_t i = 0; i < image.pixels() * lanes; ++i) {
    const std::uint64_t kind = random() % 16;
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    at[i] = static_cast<T>(kind == 0 ? 0 : kind == 1 ? white : white * unit);
  }
  return image;
}

/// Weft's x is the references' column.
template <class To, class From>
Grid<To> grid_of(const Buffer& image) {
  return Grid<To>::of(image.type().lanes, {0, static_cast<int>(image.extent(1)) - 1},
                      {0, static_cast<int>(image.extent(0)) - 1}, [&](int c, int row, int column) {
                        return image.lane(c).template at<From>(column, row);
                      });
}

template <class To, class From>
Buffer buffer_of(const Grid<From>& grid) {
  Buffer image = Buffer::allocate(type_of<To>().with_lanes(grid.channels()), {grid.columns(), grid.rows()});
  for (int row = 0; row < grid.rows(); ++row) {
    for (int column = 0; column < grid.columns(); ++column) {
      for (int c = 0; c < grid.channels(); ++c)
        image.lane(c).template at<To>(column, row) =
            static_cast<To>(grid(c, grid.x().first + row, grid.y().first + column));
    }
  }
  return image;
}

Image from_floats(const Buffer& image) { return grid_of<double, float>(image); }

// ---- the benchmarks ---------------------------------------------------------------------------------------

constexpr double eps = 0x1p-24;  // the relative error of rounding one float

/// One way to build an application, and what it has to compute.
struct Case {
  std::string application;
  Options options;
  std::map<std::string, double> params;
  std::vector<Extents> sizes;
  std::function<Images(const Extents&, std::uint64_t seed)> inputs;
  std::function<Buffer(const Images&)> expected;
  Bound bound;

  std::string name() const {
    std::string text = application;
    for (const auto& [option, value] : options) text += "_" + option + "_" + value;
    for (char& c : text) c = c == '.' || c == '-' ? '_' : c;
    return text;
  }
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name(); }

const std::vector<Extents> sizes = {{1, 1}, {1, 6},   {5, 1},   {2, 2},   {3, 4},   {5, 5},
                                    {8, 7}, {16, 16}, {33, 17}, {64, 48}, {101, 67}};
const std::vector<Extents> raw_sizes = {{65, 49}, {66, 50}, {67, 51}, {68, 49}, {80, 96}, {131, 77}};

std::function<Images(const Extents&, std::uint64_t)> unit_images(const std::map<std::string, int>& lanes) {
  return [lanes](const Extents& extents, std::uint64_t seed) {
    Images images;
    for (const auto& [name, n] : lanes) images[name] = random_image<float>(n, extents, 1, seed += 100);
    return images;
  };
}

std::function<Buffer(const Images&)> of_floats(const std::function<Image(const Image&)>& reference) {
  return [reference](const Images& in) { return buffer_of<float>(reference(from_floats(in.at("in")))); };
}

std::vector<Case> unsharp_mask() {
  return {{"unsharp_mask",
           {{"border", "constant"}},
           {{"threshold", .1}},
           sizes,
           unit_images({{"in", 3}}),
           of_floats([](const Image& in) { return reference::unsharp_mask(in, .1f, 4); }),
           {9 * 20 * eps}},
          // a ratio of luminances; the least is 1e-3 or so
          {"unsharp_mask",
           {{"variant", "halide"}},
           {},
           sizes,
           [](const Extents& extents, std::uint64_t seed) {
             Images images{{"in", random_image<float>(3, extents, .75, seed)}};
             float* at = static_cast<float*>(images["in"].data());
             for (std::int64_t i = 0; i < images["in"].pixels() * 3; ++i) at[i] += .25f;
             return images;
           },
           of_floats(reference::unsharp_mask_halide),
           {8 * 30 * eps}}};
}

std::vector<Case> harris_corner() {
  const auto of_rgb = [](const Image& in) { return reference::harris_corner(reference::luminance(in)); };
  const Bound bound{.1 * 30 * eps};  // the sums of squares of slopes of such images are below .3
  return {
      {"harris_corner", {}, {}, sizes, unit_images({{"in", 1}}), of_floats(reference::harris_corner), bound},
      {"harris_corner",
       {{"variant", "halide"}},
       {},
       sizes,
       unit_images({{"in", 3}}),
       of_floats(of_rgb),
       bound}};
}

std::vector<Case> bilateral_grid() {
  const std::map<std::string, Image (*)(const Image&)> references = {{"H", reference::bilateral_grid_h},
                                                                     {"A", reference::bilateral_grid_a},
                                                                     {"D", reference::bilateral_grid_d}};
  std::vector<Case> all;
  for (const auto& [variant, reference] : references)  // sums of 64 pixels, three blurs, and a weighted mean
    all.push_back({"bilateral_grid",
                   {{"variant", variant}},
                   {},
                   sizes,
                   unit_images({{"in", 1}}),
                   of_floats(reference),
                   {2 * 120 * eps}});
  Case clamping = all.back();  // "H", which takes values beyond 0 and 1
  clamping.options.clear();
  clamping.inputs = [](const Extents& extents, std::uint64_t seed) {
    Images images{{"in", random_image<float>(1, extents, 2, seed)}};
    float* at = static_cast<float*>(images["in"].data());
    for (std::int64_t i = 0; i < images["in"].pixels(); ++i) at[i] -= .5f;
    return images;
  };
  all.push_back(clamping);
  return all;
}

std::vector<Case> multiscale_interp() {
  std::vector<Case> all;
  for (const int levels : {1, 2, 4, 10}) {
    for (const bool squared : {true, false}) {
      Options options{{"levels", std::to_string(levels)}, {"alpha", squared ? "squared" : "plain"}};
      all.push_back({"multiscale_interp",
                     options,
                     {},
                     sizes,
                     [](const Extents& extents, std::uint64_t seed) {
                       Images images{{"in", random_image<float>(4, extents, 1, seed)}};
                       float* at = static_cast<float*>(images["in"].data()) + 3;
                       // transparent, opaque or in between, but not so little that the colours become large
                       for (std::int64_t i = 0; i < images["in"].pixels(); ++i, at += 4)
                         *at = *at < .3f ? 0 : *at;
                       return images;
                     },
                     of_floats([levels, squared](const Image& in) {
                       return reference::multiscale_interp(in, levels, squared);
                     }),
                     {4 * 8. * levels * 4 * eps}});
    }
  }
  return all;
}

std::vector<Case> pyramid_blend() {
  return {{"pyramid_blend",
           {},
           {},
           sizes,
           unit_images({{"A", 3}, {"B", 3}, {"M", 1}}),
           [](const Images& in) {
             return buffer_of<float>(reference::pyramid_blend(
                 from_floats(in.at("A")), from_floats(in.at("B")), from_floats(in.at("M"))));
           },
           {4 * 60 * eps}}};
}

std::vector<Case> local_laplacian() {
  std::vector<Case> all;
  for (const reference::LocalLaplacianSettings& s : {reference::LocalLaplacianSettings{},
                                                     {.levels = 3, .curves = 5, .alpha = 2.5, .beta = .5},
                                                     {.levels = 1, .curves = 2, .alpha = .5}})
    all.push_back({"local_laplacian",
                   {{"levels", std::to_string(s.levels)}, {"curves", std::to_string(s.curves)}},
                   {{"alpha", s.alpha}, {"beta", s.beta}},
                   sizes,
                   unit_images({{"in", 3}}),
                   of_floats([s](const Image& in) { return reference::local_laplacian(in, s); }),
                   {100 * 100 * eps}});  // the darkest pixels are divided by .01
  return all;
}

std::vector<Case> camera_pipe() {
  const auto at = [](const Options& options, const reference::CameraSettings& settings, double white) {
    return Case{"camera_pipe",
                options,
                {},
                raw_sizes,
                [white](const Extents& extents, std::uint64_t seed) {
                  return Images{{"raw", random_image<std::int16_t>(1, extents, white, seed)}};
                },
                [settings](const Images& in) {
                  return buffer_of<std::uint8_t>(
                      reference::camera_pipe(grid_of<std::int16_t, std::int16_t>(in.at("raw")), settings));
                },
                {}};
  };
  return {at({}, {}, 1023), at({{"gamma", "2.2"}}, {.gamma = 2.2}, 32767),
          at({{"sharpen", "1"}}, {.sharpen = 1}, 1023),
          at({{"sharpen", "0.3"}, {"temperature", "5200"}, {"contrast", "-20"}},
             {.temperature = 5200, .contrast = -20, .sharpen = 0.3}, 600)};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& of_one : {unsharp_mask(), harris_corner(), bilateral_grid(), multiscale_interp(),
                             pyramid_blend(), local_laplacian(), camera_pipe()})
    all.insert(all.end(), of_one.begin(), of_one.end());
  return all;
}

// ---- the tests --------------------------------------------------------------------------------------------

Pipeline pipeline_of(const std::string& application, const Options& options) {
  return build(applications().at(application), {options, {}}).pipeline;
}

class Benchmarks : public testing::TestWithParam<std::tuple<Target, Case>> {};

TEST_P(Benchmarks, AgreeWithPlainLoops) {
  const auto& [target, c] = GetParam();
  const Pipeline pipeline = pipeline_of(c.application, c.options);
  CompileOptions compile = testing_support::compile_options();
  compile.target = target;
  const Program program = pipeline.compile(compile);
  std::uint64_t seed = 1;
  for (const Extents& extents : c.sizes) {
    SCOPED_TRACE(testing::Message() << extents[0] << "x" << extents[1] << ", seed " << seed);
    const Images images = c.inputs(extents, seed++);
    const Images results = program.run({images, c.params, {}});
    EXPECT_EQ(difference(c.expected(images), results.begin()->second, c.bound), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Benchmarks,
                         testing::Combine(testing::Values(Target::Reference, Target::Cpu),
                                          testing::ValuesIn(cases())),
                         [](const auto& info) {
                           const bool interpreter = std::get<0>(info.param) == Target::Reference;
                           return (interpreter ? "interpreter_" : "cpu_") + std::get<1>(info.param).name();
                         });

/// Without a curve that bends, the bands of a pyramid add up to the brightness, by which the colours are scaled.
TEST(LocalLaplacian, LeavesTheBrightnessWithoutMoreDetailsAsItIs) {
  const Program program = pipeline_of("local_laplacian", {}).compile(testing_support::compile_options());
  const Buffer image = random_image<float>(3, {131, 70}, 1, 5);
  const Buffer found = program.run({{{"in", image}}, {{"alpha", 0}}, {}}).at("result");
  const Image in = from_floats(image), gray = reference::luminance(in);
  const Image expected = Image::of(3, in.x(), in.y(), [&](int c, int x, int y) {
    return gray(0, x, y) * (in(c, x, y) + .01) / (gray(0, x, y) + .01);
  });
  EXPECT_EQ(difference(buffer_of<float>(expected), found, {100 * 100 * eps}), "");
}

TEST(LocalLaplacian, TableOfDetails) {
  const Pipeline whole = pipeline_of("local_laplacian", {{"curves", "3"}});
  for (const ir::StagePtr& stage : whole.ir().stages) {
    if (stage->name != "detail") continue;
    const Program table =
        Pipeline("detail", Outputs(Stage(stage)).strict()).compile(testing_support::compile_options());
    const Buffer found = table.run({{}, {{"alpha", 3}}, {}}).at("detail");
    ASSERT_EQ(found.extents(), Extents{2 * 512 + 1});
    for (int x = -512; x <= 512; ++x) {
      const double distance = x / 256.;
      EXPECT_NEAR(found.at<float>(x + 512), 1.5 * distance * std::exp(-distance * distance / 2), 4 * eps)
          << x;
    }
  }
}

TEST(CameraPipe, EveryEntryOfTheCurve) {
  for (const auto& [gamma, contrast] : {std::pair{2., 50.}, {2.2, 50.}, {1., 0.}, {1.8, 100.}, {3., -50.}}) {
    SCOPED_TRACE(testing::Message() << "gamma " << gamma << ", contrast " << contrast);
    const Options options{{"gamma", std::to_string(gamma)}, {"contrast", std::to_string(contrast)}};
    const Pipeline camera = pipeline_of("camera_pipe", options);
    for (const ir::StagePtr& stage : camera.ir().stages) {
      if (stage->name != "curve") continue;
      const Pipeline curve("curve", Outputs(Stage(stage)).strict());
      const Buffer table = curve.compile(testing_support::compile_options()).run({}).at("curve");
      ASSERT_EQ(table.extents(), Extents{1025});
      for (int v = 0; v <= 1024; ++v)
        EXPECT_EQ(table.at<std::uint8_t>(v), reference::tone_curve(v, gamma, contrast)) << v;
    }
  }
  for (const int v : {-32768, -1, 1025, 32767})  // beyond its ends it is constant
    EXPECT_EQ(reference::tone_curve(v, 2, 50), reference::tone_curve(v < 0 ? 0 : 1024, 2, 50));
}

TEST(CameraPipe, SmallImagesAreRefused) {
  const Program program = pipeline_of("camera_pipe", {}).compile(testing_support::compile_options());
  for (const Extents& extents : {Extents{1, 1}, Extents{63, 100}, Extents{100, 47}})
    EXPECT_THROW(program(random_image<std::int16_t>(1, extents, 1023, 1)), Error);
}

TEST(CameraPipe, UnusableOptionsAreRefused) {
  for (const Options& options : {Options{{"gamma", "0"}}, {{"temperature", "-20"}}, {{"temperature", "nan"}}})
    EXPECT_THROW(pipeline_of("camera_pipe", options), Error);
}

/// An even colour comes out of the mosaic and the camera as it went in, but for rounding; blue is first.
TEST(CameraPipe, DevelopsTheMosaic) {
  const Program mosaic = pipeline_of("bayer_mosaic", {}).compile(testing_support::compile_options());
  const Program camera =
      build(applications().at("camera_pipe"), {{{"contrast", "0"}}, {{"raw", type_of<std::uint16_t>()}}})
          .pipeline.compile(testing_support::compile_options());
  using Rgb = Vec<std::uint8_t, 3>;
  for (const Rgb& colour :
       {Rgb{128, 128, 128}, {200, 120, 90}, {80, 110, 180}, {255, 255, 255}, {110, 160, 90}}) {
    std::vector<Rgb> pixels(80 * 60, colour);
    const Buffer picture = camera(mosaic(Buffer::view(pixels, {80, 60})));
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 16; ++x) {
        const Rgb& bgr = picture.at<Rgb>(x, y);
        for (int c = 0; c < 3; ++c) EXPECT_NEAR(bgr[2 - c], colour[c], 3) << x << ", " << y << " lane " << c;
      }
    }
  }
}

TEST(UnsharpMask, LeavesAnEvenPictureAsItIs) {
  std::vector<Vec<float, 3>> even(9 * 7, {.25f, .5f, .75f});
  const Program sharpen = pipeline_of("unsharp_mask", {}).compile(testing_support::compile_options());
  const Buffer picture = sharpen(Buffer::view(even, {9, 7}));
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 9; ++x) EXPECT_EQ((picture.at<Vec<float, 3>>(x, y)), even[0]) << x << ", " << y;
  }
}

/// The share of pixels whose offset optical_flow finds, where a texture moved by (3, 2) as a whole.
double found_by_optical_flow(const Options& options) {
  const int width = 80, height = 60, margin = 12;
  const Buffer noise = random_image<std::uint8_t>(1, {width + 16, height + 16}, 255, 9);
  const auto texture = [&](int x, int y) {  // neighbours resemble each other, as in photographs
    int sum = 0;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) sum += noise.at<std::uint8_t>(x + i, y + j);
    }
    return static_cast<std::uint8_t>(sum / 9);
  };
  std::vector<std::uint8_t> first, second;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      first.push_back(texture(x + 3, y + 2));
      second.push_back(texture(x, y));
    }
  }
  const Program flow = pipeline_of("optical_flow", options).compile(testing_support::compile_options());
  const Images images{{"first", Buffer::view(first, {width, height})},
                      {"second", Buffer::view(second, {width, height})}};
  const Buffer offsets = flow.run({images, {}, {}}).at("flow");
  int hits = 0, all = 0;
  for (int y = margin; y < height - margin; ++y) {
    for (int x = margin; x < width - margin; ++x, ++all) {
      hits += offsets.at<Vec<std::int8_t, 2>>(x, y) == Vec<std::int8_t, 2>{3, 2} ? 1 : 0;
    }
  }
  return static_cast<double>(hits) / all;
}

TEST(OpticalFlow, FindsHowATextureMoved) {
  const Options thesis{{"window", "3"}, {"ties", "first"}};
  const double found = found_by_optical_flow({}), of_the_thesis = found_by_optical_flow(thesis);
  EXPECT_GT(found, .8);
  EXPECT_LT(of_the_thesis, .5) << "so the default is better";
}

TEST(OpticalFlow, RestsWhereNothingMoved) {
  std::vector<std::uint8_t> pixels;  // a gradient beside a flat region
  for (int i = 0; i < 40 * 30; ++i)
    pixels.push_back(static_cast<std::uint8_t>(i % 40 < 20 ? 5 * (i % 40) : 200));
  const Program flow = pipeline_of("optical_flow", {}).compile(testing_support::compile_options());
  const Buffer picture = Buffer::view(pixels, {40, 30});
  const Buffer offsets = flow.run({{{"first", picture}, {"second", picture}}, {}, {}}).at("flow");
  for (int y = 0; y < 30; ++y) {
    for (int x = 0; x < 40; ++x) {
      EXPECT_EQ((offsets.at<Vec<std::int8_t, 2>>(x, y)), (Vec<std::int8_t, 2>{0, 0})) << x << ", " << y;
    }
  }
}

/// The paper's programs have as many functions, with the differences given.
TEST(Benchmarks, HaveThePapersFunctions) {
  const auto stages = [](const std::string& application, const Options& options = {}) {
    return pipeline_of(application, options).ir().stages.size();
  };
  EXPECT_EQ(stages("unsharp_mask"), 4);
  EXPECT_EQ(stages("harris_corner"), 11);
  EXPECT_EQ(stages("bilateral_grid"), 6);  // the clamped image, a seventh, is an access
  EXPECT_EQ(stages("multiscale_interp"), 1 + 9 * 2 + 9 * 2 + 1);  // D0, Dx and D, Ux and T, out
  EXPECT_EQ(stages("pyramid_blend"), 18 + 12 + 4 + 6);            // Gaussian, Laplacian, Res, collapse
  EXPECT_EQ(stages("camera_pipe"), 27 - 1);  // the matrix is known when the pipeline is built
  EXPECT_EQ(stages("camera_pipe", {{"sharpen", "1"}}), 27 - 1 + 4);
}

}  // namespace
}  // namespace weft::oracle
