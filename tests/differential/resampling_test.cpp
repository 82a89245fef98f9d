// Resampling and pyramids: the interpreter against the definitions, evaluated here in double pixel by pixel,
// and compiled code against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ir/stage_ir.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Sizes = std::vector<std::int64_t>;
using Row = std::function<double(std::int64_t)>;  // the value at any index, the border behind it

constexpr double outside = 37;

// ---- the definitions ----

/// Walks back into [0, n) one step at a time, as the borders are drawn.
std::int64_t bordered(std::int64_t i, std::int64_t n, const std::string& border) {
  while (i < 0 || i >= n) {
    if (border == "clamp") i = i < 0 ? 0 : n - 1;
    if (border == "repeat") i += i < 0 ? n : -n;
    if (border == "mirror") i = i < 0 ? -1 - i : 2 * n - 1 - i;
    if (border == "mirror101") i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
    if (border == "constant") return -1;
  }
  return i;
}

Row with_border(const std::vector<double>& row, const std::string& border) {
  return [=](std::int64_t i) {
    const std::int64_t at = bordered(i, static_cast<std::int64_t>(row.size()), border);
    return at < 0 ? outside : row[at];
  };
}

double sinc(double t) { return t == 0 ? 1 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t); }

double kernel(Interpolation how, double t) {
  t = std::abs(t);
  switch (how) {
    case Interpolation::Nearest: break;
    case Interpolation::Bilinear: return std::max(0., 1 - t);
    case Interpolation::Bicubic:
      return t < 1   ? 1.5 * t * t * t - 2.5 * t * t + 1
             : t < 2 ? -.5 * t * t * t + 2.5 * t * t - 4 * t + 2
                     : 0;
    case Interpolation::Lanczos3: return t < 3 ? sinc(t) * sinc(t / 3) : 0;
  }
  return 0;
}

double interpolated(const Row& row, Interpolation how, double u) {
  if (how == Interpolation::Nearest) return row(static_cast<std::int64_t>(std::floor(u + .5)));
  const auto first = static_cast<std::int64_t>(std::floor(u)) - 3;
  double weights = 0, total = 0;
  for (std::int64_t i = first; i < first + 8; ++i) {
    const double w = kernel(how, u - static_cast<double>(i));
    weights += w;
    total += w * row(i);
  }
  return total / weights;
}

/// The image with every row along `dim` replaced by a row of `extent` pixels.
Buffer along(const Buffer& image, int dim, std::int64_t extent, const std::string& border,
             const std::function<double(const Row&, std::int64_t x, std::int64_t n)>& pixel) {
  Sizes extents = image.extents();
  const std::int64_t n = extents[dim];
  extents[dim] = extent;
  const Buffer result = Buffer::allocate(type_of<double>(), extents);
  std::int64_t inner = 1, outer = 1;
  for (int d = 0; d < dim; ++d) inner *= extents[d];
  for (int d = dim + 1; d < image.rank(); ++d) outer *= extents[d];
  const auto* from = static_cast<const double*>(image.data());
  auto* to = static_cast<double*>(result.data());
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<double> row(n);
      for (std::int64_t x = 0; x < n; ++x) row[x] = from[(o * n + x) * inner + i];
      const Row read = with_border(row, border);
      for (std::int64_t x = 0; x < extent; ++x) to[(o * extent + x) * inner + i] = pixel(read, x, n);
    }
  }
  return result;
}

Buffer resized(Buffer image, const Sizes& extents, Interpolation how, const std::string& border) {
  for (int d = 0; d < image.rank(); ++d) {
    const std::int64_t to = extents[d];
    image = along(image, d, to, border, [&](const Row& row, std::int64_t x, std::int64_t n) {
      if (how == Interpolation::Nearest) return row((2 * x + 1) * n / (2 * to));
      return interpolated(
          row, how, (static_cast<double>(x) + .5) * static_cast<double>(n) / static_cast<double>(to) - .5);
    });
  }
  return image;
}

Buffer reduced(Buffer image, const std::string& border) {
  for (int d = 0; d < image.rank(); ++d) {
    image = along(image, d, image.extent(d) / 2, border, [](const Row& f, std::int64_t x, std::int64_t) {
      return (f(2 * x - 2) + 4 * f(2 * x - 1) + 6 * f(2 * x) + 4 * f(2 * x + 1) + f(2 * x + 2)) / 16;
    });
  }
  return image;
}

Buffer expanded(Buffer image, const Sizes& extents, const std::string& border) {
  for (int d = 0; d < image.rank(); ++d) {
    image = along(image, d, extents[d], border, [](const Row& f, std::int64_t x, std::int64_t) {
      const std::int64_t i = x / 2;
      return x % 2 == 0 ? (f(i - 1) + 6 * f(i) + f(i + 1)) / 8 : (f(i) + f(i + 1)) / 2;
    });
  }
  return image;
}

// ---- running ----

const std::vector<const char*> borders = {"clamp", "mirror", "mirror101", "repeat", "constant"};

Border border_named(const std::string& name) { return Border::named(name, outside); }

/// What runs agrees with the definition, up to a few roundings of doubles; and compiled code with the
/// interpreter.
class Case {
 public:
  /// Loops become vectors whatever their borders: one of them stands for all.
  explicit Case(const Stage& result, const std::string& border = "mirror101")
      : pipeline_("test", result),
        program_(pipeline_.compile(border == "mirror101" ? compile_options() : quick_compile_options())) {}

  void expect(const Buffer& in, const Buffer& expected) const {
    const Arguments arguments{{{"in", in}}, {}, {}};
    EXPECT_EQ(difference(expected, interpreted(pipeline_, arguments).begin()->second, {1e-9}), "");
    expect_agreement(program_, pipeline_, arguments, {1e-9});
  }

 private:
  Pipeline pipeline_;
  Program program_;
};

Buffer image(const Sizes& extents) { return picture(type_of<double>(), extents, 11); }

Buffer cut(const Buffer& all, const Sizes& min, const Sizes& extents) {
  const Buffer part = Buffer::allocate(type_of<double>(), extents);
  for (std::int64_t y = 0; y < extents[1]; ++y) {
    for (std::int64_t x = 0; x < extents[0]; ++x)
      part.at<double>(x, y) = all.at<double>(x + min[0], y + min[1]);
  }
  return part;
}

std::string text(const Sizes& extents) {
  std::string result;
  for (const std::int64_t e : extents) result += (result.empty() ? "" : "x") + std::to_string(e);
  return result;
}

const std::vector<Interpolation> kernels = {Interpolation::Nearest, Interpolation::Bilinear,
                                            Interpolation::Bicubic, Interpolation::Lanczos3};
const std::vector<Sizes> small_sizes = {{1, 1}, {1, 6}, {5, 1}, {2, 3}, {4, 4}, {13, 9}};

class Resampling : public testing::TestWithParam<std::tuple<Interpolation, const char*>> {};

TEST_P(Resampling, ToASizeOfItsOwn) {
  const Interpolation how = std::get<0>(GetParam());
  const std::string border = std::get<1>(GetParam());
  const Image<double> in("in");
  const Case fixed(resize("out", in.border(border_named(border)), {7, 10}, how), border);
  const Case third(
      resize("out", in.border(border_named(border)), {(in.width() + 2) / 3, 2 * in.height()}, how), border);
  for (const Sizes& size : small_sizes) {
    SCOPED_TRACE(text(size));
    fixed.expect(image(size), resized(image(size), {7, 10}, how, border));
    third.expect(image(size), resized(image(size), {(size[0] + 2) / 3, 2 * size[1]}, how, border));
  }
}

TEST_P(Resampling, AtAnyCoordinate) {
  const Interpolation how = std::get<0>(GetParam());
  const std::string border = std::get<1>(GetParam());
  const Image<double> in("in");
  const auto src = in.border(border_named(border)).interpolate(how);
  // u in steps that hit samples, halves and places far outside
  const Case turned(
      stage("out", {40, 30},
            [&](Var x, Var y) { return src(cast<double>(x) * .375 - 4., cast<double>(y) * .75 - 7.); }),
      border);
  for (const Sizes& size : small_sizes) {
    SCOPED_TRACE(text(size));
    Buffer expected = image(size);
    const std::vector<double> step = {.375, .75}, start = {-4, -7};
    for (int d = 0; d < 2; ++d) {
      expected =
          along(expected, d, d == 0 ? 40 : 30, border, [&](const Row& row, std::int64_t x, std::int64_t) {
            return interpolated(row, how, static_cast<double>(x) * step[d] + start[d]);
          });
    }
    turned.expect(image(size), expected);
  }
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<Interpolation, const char*>>& info) {
  const std::vector<std::string> names = {"nearest", "bilinear", "bicubic", "lanczos3"};
  return names[static_cast<int>(std::get<0>(info.param))] + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, Resampling,
                         testing::Combine(testing::ValuesIn(kernels), testing::ValuesIn(borders)),
                         name_of_case);

TEST(ResamplingOnce, OfOneAndThreeDimensions) {
  for (const Interpolation how : kernels) {
    const Image<double> row("in", 1), volume("in", 3);
    const Case one(resize("out", row.border(Border::mirror()), {11}, how));
    one.expect(image({4}), resized(image({4}), {11}, how, "mirror"));
    const Case three(resize("out", volume.border(Border::mirror()), {3, 8, 5}, how));
    three.expect(image({5, 4, 3}), resized(image({5, 4, 3}), {3, 8, 5}, how, "mirror"));
    const auto src = volume.border(Border::mirror()).interpolate(how);
    const Case whole(stage("out", volume.size(), [&](Var x, Var y, Var z) { return src(x, y, z); }));
    whole.expect(image({5, 4, 3}), image({5, 4, 3}));
  }
}

TEST(ResamplingOnce, OfACrop) {
  for (const Interpolation how : kernels) {
    const Image<double> in("in", {9, 8});
    const Accessor middle = in.crop({2, 3}, {4, 3}).border(Border::mirror());
    const Buffer all = image({9, 8}), part = cut(all, {2, 3}, {4, 3});
    Case(resize("out", middle, {7, 7}, how)).expect(all, resized(part, {7, 7}, how, "mirror"));
  }
}

/// The inner pixels of a 9 x 8 image as a stage that does not begin at 0.
Stage inner_pixels(const Image<double>& in) {
  return stage("inner", BoxAt{{2, 3}, {4, 3}}, [&](Var x, Var y) { return in(x, y); });
}

TEST(ResamplingOnce, OfABoxThatBeginsElsewhere) {
  const Image<double> in("in", {9, 8});
  const Buffer all = image({9, 8}), part = cut(all, {2, 3}, {4, 3});
  const Accessor inner = inner_pixels(in).border(Border::mirror());
  for (const Interpolation how : kernels)
    Case(resize("out", inner, {7, 7}, how)).expect(all, resized(part, {7, 7}, how, "mirror"));
  Case(reduce_level("out", inner)).expect(all, reduced(part, "mirror"));
  Case(expand_level("out", inner, {8, 6})).expect(all, expanded(part, {8, 6}, "mirror"));
}

TEST(ResamplingOnce, ToItsOwnSizeChangesNothing) {
  for (const Interpolation how : kernels) {
    const Image<float> in("in");
    const Stage same = resize("same", in.border(Border::constant(1e6f)), in.size(), how);
    const Buffer pixels = picture(type_of<float>(), {13, 9}, 3);
    EXPECT_EQ(difference(pixels, interpreted(Pipeline("p", same), {{{"in", pixels}}, {}, {}}).at("same")),
              "");
  }
}

TEST(ResamplingOnce, Types) {
  const auto resampled = [](const Source& in, Interpolation how) {
    return resize("out", in.border(Border::clamp()), {4, 4}, how).type();
  };
  const Image<Vec<std::uint8_t, 3>> rgb("rgb");
  const Image<std::int64_t> wide("wide");
  EXPECT_EQ(resampled(rgb, Interpolation::Nearest), (Type{Scalar::U8, 3}));
  EXPECT_EQ(resampled(rgb, Interpolation::Bilinear), (Type{Scalar::F32, 3}));
  EXPECT_EQ(resampled(wide, Interpolation::Nearest), (Type{Scalar::I64, 1}));
  EXPECT_EQ(resampled(wide, Interpolation::Lanczos3), (Type{Scalar::F64, 1}));
  const auto at = [](const Source& in, Interpolation how, const Expr& u) {
    return in.border(Border::clamp()).interpolate(how)(u, 0).type();
  };
  EXPECT_EQ(at(rgb, Interpolation::Nearest, 1.5f), (Type{Scalar::U8, 3}));
  EXPECT_EQ(at(rgb, Interpolation::Bicubic, 1.5), (Type{Scalar::F32, 3}));
  EXPECT_EQ(at(wide, Interpolation::Bilinear, 1), (Type{Scalar::F64, 1}));
}

// ---- pyramids ----

class Pyramids : public testing::TestWithParam<const char*> {};

TEST_P(Pyramids, ReduceAndExpand) {
  const std::string border = GetParam();
  const Image<double> in("in");
  const Case half(reduce_level("out", in.border(border_named(border))), border);
  const Case even(expand_level("out", in.border(border_named(border)), in.size() * 2), border);
  const Case odd(
      expand_level("out", in.border(border_named(border)), {2 * in.width() + 1, 2 * in.height() - 1}),
      border);
  for (const Sizes& size : small_sizes) {
    SCOPED_TRACE(text(size));
    half.expect(image(size), reduced(image(size), border));
    even.expect(image(size), expanded(image(size), {2 * size[0], 2 * size[1]}, border));
    odd.expect(image(size), expanded(image(size), {2 * size[0] + 1, 2 * size[1] - 1}, border));
  }
}

TEST_P(Pyramids, DownToOnePixelAndBack) {
  const std::string border = GetParam();
  const Image<double> in("in");
  const Pyramid g("g", in, 5, binomial_reduce(border_named(border)));
  const Case pyramid(g.collapse("out", expand_and_add(border_named(border))), border);
  for (const Sizes& size : std::vector<Sizes>{{16, 16}, {31, 17}, {53, 70}}) {
    SCOPED_TRACE(text(size));
    std::vector<Buffer> levels = {image(size)};
    for (int l = 1; l < 5; ++l) levels.push_back(reduced(levels.back(), border));
    Buffer expected = levels.back();
    for (int l = 3; l >= 0; --l) {
      expected = expanded(expected, levels[l].extents(), border);
      auto* sum = static_cast<double*>(expected.data());
      const auto* level = static_cast<const double*>(levels[l].data());
      for (std::int64_t i = 0; i < expected.pixels(); ++i) sum[i] += level[i];
    }
    pyramid.expect(image(size), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pyramids, testing::ValuesIn(borders),
                         [](const auto& info) { return info.param; });

TEST(PyramidsOnce, OfOneAndThreeDimensions) {
  const Image<double> row("in", 1), volume("in", 3);
  const auto check = [](const Source& in, const Sizes& size, const Sizes& larger) {
    Case(reduce_level("out", in.border(Border::mirror101())))
        .expect(image(size), reduced(image(size), "mirror101"));
    const Extents extents(std::vector<Index>(larger.begin(), larger.end()));
    Case(expand_level("out", in.border(Border::mirror101()), extents))
        .expect(image(size), expanded(image(size), larger, "mirror101"));
  };
  check(row, {9}, {18});
  check(volume, {7, 4, 5}, {13, 8, 9});
}

TEST(PyramidsOnce, OneLevelIsTheImage) {
  const Image<double> in("in");
  const Case same(traverse(in, 1,
                           {.reduce = binomial_reduce(Border::mirror()),
                            .filter = {},
                            .expand = expand_and_add(Border::mirror())}));
  same.expect(image({1, 1}), image({1, 1}));
  same.expect(image({5, 3}), image({5, 3}));
}

TEST(PyramidsOnce, NamesOfLevels) {
  const Image<float> in("in");
  const Pipeline pipeline(
      "p", traverse(in, 3,
                    {.reduce = binomial_reduce(Border::mirror()),
                     .filter = [](const std::string& name, const Pyramid& g, int level) -> Source {
                       return point(name, 2.f * g[level]);
                     },
                     .expand = expand_and_add(Border::mirror())}));
  std::set<std::string> names;
  for (const auto& stage : pipeline.ir().stages) names.insert(stage->name);
  EXPECT_EQ(names, (std::set<std::string>{"g1", "g1_y", "g2", "g2_y", "f0", "f1", "f2", "out0", "out0_up",
                                          "out0_up_x", "out1", "out1_up", "out1_up_x"}));
}

/// Burt and Adelson's point: without quantisation nothing is lost.
TEST(PyramidsOnce, LaplacianReconstructs) {
  const Pipeline laplacian =
      build(applications().at("laplacian"), {{{"q", "0"}, {"levels", "5"}}, {}}).pipeline;
  const Program program = laplacian.compile(compile_options());
  for (const Sizes& size : std::vector<Sizes>{{16, 16}, {45, 31}, {640, 427}}) {
    const Buffer in = picture(type_of<float>(), size, 5);
    EXPECT_EQ(difference(in, program(in), {255 * 10 * 0x1p-24}), "") << text(size);
  }
}

/// Slices of a volume whose columns neighbours share: of all planes that pixels may have there is a table for each row.
TEST(Slices, OfCoarseVolumes) {
  const Image<float> in("in");
  const Image<Vec<float, 2>> grid("grid", 3);
  const Extents size = grid.size();
  const auto bent = [&](const std::string& name, int planes) {
    return stage(name, {size[0], size[1], planes}, [&](Var x, Var y, Var z) {
      return grid.border(Border::mirror())(x, y, z) * cast<float>(z + 1);
    });
  };
  const Accessor nine = bent("nine", 9).border(Border::clamp()),
                 four = bent("four", 4).border(Border::clamp());
  const auto slice = [](const Accessor& cells, Var x, Var y, const Index& column, int shift,
                        const Expr& depth) {
    const Expr bin = cast<int>(floor(depth)), down = cast<float>(y % 8) / 8.f;
    const auto at = [&](const Index& gx, const Expr& z) {
      return lerp(cells(gx, y / 8 + shift, z), cells(gx, y / 8 + shift + 1, z), down);
    };
    const auto plane = [&](const Expr& z) {
      return lerp(at(column, z), at(column + 1, z), cast<float>(x % 8) / 8.f);
    };
    return lerp(plane(bin), plane(bin + 1), depth - floor(depth));
  };
  const Outputs outputs = {
      stage("inside", in.size(), [&](Var x, Var y) { return slice(nine, x, y, x / 8, 0, 9.f * in(x, y)); }),
      // Columns, rows and planes that are not there; pixels that are read in windows; three columns for 16 pixels.
      stage("outside", in.size(),
            [&](Var x, Var y) {
              const Expr around = in.border(Border::constant(2))(x - 1, y + 1) + in(x, y);
              return slice(nine, x, y, (x + 3) / 8 - 2, -1, 12.f * around - 5.f);
            }),
      stage("finer", in.size(),
            [&](Var x, Var y) { return slice(four, x, y, 3 * x / 16, 0, 4.f * in(x, y)); }),
      stage("two", BoxAt{{-5, -3}, {in.width() + 9, in.height() + 5}}, [&](Var x, Var y) {
        const Expr depth = 5.f * in.border(Border::clamp())(x, y);
        return slice(nine, x, y, x / 8, 0, depth) + slice(four, x, y, x / 8 + 1, 1, depth - 1.f);
      })};
  const Pipeline pipeline("p", Outputs(outputs).strict());
  const Program program = pipeline.compile(compile_options());
  for (const Sizes& extents : std::vector<Sizes>{{1, 1}, {7, 3}, {64, 9}, {1030, 3}, {2100, 2}}) {
    Buffer image = picture(type_of<float>(), extents, 51);
    for (std::int64_t i = 0; i < image.pixels(); ++i) static_cast<float*>(image.data())[i] /= 255;
    const Sizes cells = {(extents[0] + 7) / 8 + 1, (extents[1] + 7) / 8 + 1, 3};
    expect_agreement(program, pipeline, {{{"in", image}, {"grid", picture(grid.type(), cells, 52)}}, {}, {}},
                     exactly);
  }
}

}  // namespace
}  // namespace weft::testing_support
