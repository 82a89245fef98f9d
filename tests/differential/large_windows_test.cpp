// Windows too large to be unrolled, which become stages of their own: every pixel, every border, images
// smaller than the window among them.
#include "tests/support/large_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

const std::vector<std::vector<std::int64_t>> window_sizes = {{1, 1}, {5, 3}, {26, 15}, {67, 41}};

TEST(LargeWindows, OfIntegersAreExact) {
  const auto check = [](const Pipeline& pipeline, Type type, const std::vector<Tile>& tiles) {
    std::vector<Program> programs;
    for (const Tile tile : tiles) {
      CompileOptions options = compile_options();
      options.tile = tile;
      programs.push_back(pipeline.compile(options));
    }
    for (const auto& size : window_sizes)
      expect_agreement(programs, pipeline, {{{"in", noise(type, size, 7)}}, {}, {}});
  };
  check(large_windows<std::uint8_t, std::int32_t>("u8", false), type_of<std::uint8_t>(),
        {Tile::Auto, Tile::March});
  check(large_windows<std::uint16_t, std::uint32_t>("u16", false), type_of<std::uint16_t>(), {Tile::Auto});
  check(large_windows<std::int32_t, std::int64_t>("i32", false), type_of<std::int32_t>(), {Tile::None});
}

TEST(LargeWindows, OfFloatsAreNear) {
  const auto check = [](const Pipeline& pipeline, Type type, double largest) {
    const Program program = pipeline.compile(compile_options());
    for (const auto& size : window_sizes)
      expect_agreement(program, pipeline, {{{"in", picture(type, size, 7)}}, {}, {}}, {largest});
  };
  check(large_windows<float, float>("f32", false), type_of<float>(), 0.5);
  check(large_windows<double, double>("f64", false), type_of<double>(), 1e-8);
}

/// 61 taps of a line are 7 pieces of 8, and 5: chains of 20 roundings, each of half a unit in the last place.
TEST(LargeWindows, ErrorsOfFloatsAreThoseOfTheirPieces) {
  constexpr int radius = 30, side = 2 * radius + 1, roundings = 2 * (8 + 7 + 5) + 2;
  const Image<float> in("in");
  const Pipeline pipeline("mean", local("mean", in.border(Border::clamp()), Domain(side, side), Local::Mean));
  const std::int64_t width = 75, height = 64;
  const Buffer image = picture(type_of<float>(), {width, height}, 3);
  const Buffer got = pipeline.compile(compile_options()).run({{{"in", image}}, {}, {}}).at("mean");
  const auto at = [&](const Buffer& pixels, std::int64_t x, std::int64_t y) {
    return double{
        static_cast<const float*>(pixels.data())[std::clamp<std::int64_t>(y, 0, height - 1) * width +
                                                 std::clamp<std::int64_t>(x, 0, width - 1)]};
  };
  double worst = 0;
  for (std::int64_t y = 0; y < height; y += 7) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0, magnitude = 0;
      for (int i = 0; i < side * side; ++i) {
        const double value = at(image, x + i % side - radius, y + i / side - radius);
        sum += value, magnitude += std::abs(value);
      }
      const double allowed = roundings * std::ldexp(1., -24) * magnitude / (side * side);
      worst = std::max(worst, std::abs(at(got, x, y) - sum / (side * side)) / allowed);
    }
  }
  EXPECT_LE(worst, 1);
}

TEST(LargeWindows, OfInfinitiesBeyondTheImage) {
  const Image<float> in("in");
  const Mask ridge = Mask::outer({-1, 2, 3, 4, 5, 4, 3, 2, -1}, {1, 2, 3, 4, 5, 4, 3, 2, 1});
  const Accessor infinite = in.border(Border::constant(std::numeric_limits<float>::infinity()));
  const Pipeline pipeline("infinite", {convolve("ridge", infinite, ridge / 525.f),
                                       local("mean", infinite, Domain(15, 9), Local::Mean)});
  const Program program = pipeline.compile(compile_options());
  expect_agreement(program, pipeline, {{{"in", noise(type_of<float>(), {41, 22}, 7)}}, {}, {}}, {1e-3});
}

TEST(LargeWindows, ThatReachFurtherThanTheLeastEdges) {
  const Image<std::int32_t> in("in");
  const Accessor src = in.border(Border::mirror());
  const Stage far = stage("far", in.size(), [&](Var x, Var y) {
    Expr sum = src(x, y);
    for (const int away : {7, 15, 31, 63, 100}) sum = sum + src(x - away, y) * src(x + away, y) % away;
    return sum;
  });
  const Pipeline pipeline("far", Outputs{far}.strict());
  const Program program = pipeline.compile(compile_options());
  for (const std::int64_t width : {1, 90, 170, 450})
    expect_agreement(program, pipeline, {{{"in", noise(type_of<std::int32_t>(), {width, 20}, 7)}}, {}, {}});
}

TEST(LargeWindows, OfWhatIsInsideAndOfStages) {
  const Pipeline pipeline = large_windows_inside<std::uint8_t, float>("inside");
  const Program program = pipeline.compile(compile_options());
  for (const std::vector<std::int64_t>& size : {std::vector<std::int64_t>{25, 14}, {24, 40}, {90, 31}})
    expect_agreement(program, pipeline, {{{"in", noise(type_of<std::uint8_t>(), size, 7)}}, {}, {}}, {1e-1});
}

}  // namespace
}  // namespace weft::testing_support
