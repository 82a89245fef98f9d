// Reductions and scattering, compiled, against the interpreter.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Extents2 = std::vector<std::int64_t>;

/// One row, one column, several parts per row, several rows per part.
const std::vector<Extents2> global_sizes = {{1, 1}, {1, 9}, {7, 3}, {65, 33}, {4097, 3}, {9000, 2}};

template <class T>
class Reductions : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::int16_t, std::int32_t, std::uint64_t, float, double, half>;
TYPED_TEST_SUITE(Reductions, Types);

TYPED_TEST(Reductions, MinMaxAndPlaces) {
  Image<TypeParam> in("in");
  const Outputs outputs = {reduce("least", in, Reduce::min()), reduce("greatest", in, Reduce::max()),
                           reduce("where_least", in, Reduce::arg_min()),
                           reduce("where_greatest", in, Reduce::arg_max())};
  for (const Extents2& size : global_sizes) expect_agreement(outputs, noise(type_of<TypeParam>(), size, 11));
}

// Found by: weft verify --random 1 --seed 3032381
TEST(Reduction, PassesOverNaN) {
  Image<std::uint8_t> in("in");
  const Expr number = select(in < 100, std::numeric_limits<float>::quiet_NaN(), cast<float>(in));
  const Outputs outputs = {reduce("least", number, Reduce::min()), reduce("greatest", number, Reduce::max()),
                           reduce("where_least", number, Reduce::arg_min()),
                           reduce("where_greatest", number, Reduce::arg_max())};
  for (const Extents2& size : global_sizes) {
    expect_agreement(outputs, noise(in.type(), size, 31));
    expect_agreement(outputs, Buffer::allocate(in.type(), size));  // only NaN
  }
  std::vector<std::uint8_t> pixels = {0, 120, 0, 110, 0, 0, 130, 0};
  const auto found =
      Pipeline("p", outputs).compile(compile_options()).run({{{"in", Buffer::view(pixels, {8, 1})}}});
  EXPECT_EQ(found.at("least").at<float>(), 110.f);
  EXPECT_EQ(found.at("greatest").at<float>(), 130.f);
  EXPECT_EQ(found.at("where_least").lane(0).at<std::int32_t>(), 3);
}

TYPED_TEST(Reductions, SumsAndProducts) {
  Image<TypeParam> in("in");
  // Products of floats would overflow; of integers they wrap.
  const bool real = is_float(type_of<TypeParam>().scalar);
  const Stage sum = reduce("sum", in, Reduce::sum());
  const Pipeline pipeline("p", real ? Outputs(sum) : Outputs{sum, reduce("product", in, Reduce::product())});
  const Program program = pipeline.compile(compile_options());
  for (const Extents2& size : global_sizes) {
    const Buffer image = noise(type_of<TypeParam>(), size, 12);
    expect_agreement(program, pipeline, {{{"in", image}}, {}, {}}, real ? Bound{2.0} : exactly);
  }
}

TEST(Reduction, OfPixels) {
  Image<Vec<std::uint8_t, 3>> in("in");
  const Outputs outputs = {reduce("sum", in, Reduce::sum()), reduce("least", in, Reduce::min())};
  for (const Extents2& size : global_sizes) expect_agreement(outputs, noise(in.type(), size, 13));
}

TEST(Reduction, OfACropAndOfAnyBox) {
  Image<std::int32_t> in("in", {80, 50});
  const Outputs outputs = {
      reduce("crop", in.crop({3, 5}, {70, 40}), Reduce::sum()),
      reduce(
          "border", BoxAt{{-3, -2}, {90, 60}},
          [&](Var x, Var y) { return in.border(Border::mirror())(x, y) * x; }, Reduce::sum()),
      reduce(
          "every_other", Extents{40, 25}, [&](Var x, Var y) { return in(2 * x, 2 * y + 1) - y; },
          Reduce::max()),
      reduce(
          "nothing", Extents{0, 25}, [&](Var x, Var y) { return in(x, y); }, Reduce::min())};
  expect_agreement(outputs, noise(in.type(), {80, 50}, 14));
}

TEST(Reduction, ByAnOperatorOfTheUsersKeepsTheOrder) {
  Image<std::uint32_t> in("in");
  // (a, b) stands for v -> a * v + b; composition is associative and not commutative.
  const auto compose = [](const Expr& f, const Expr& g) {
    return pack(g.lane(0) * f.lane(0), g.lane(0) * f.lane(1) + g.lane(1));
  };
  const Expr element = pack(in * 2u + 1u, in + 3u);
  const Stage all = reduce("all", element, Reduce(compose).identity(Vec<std::uint32_t, 2>{1, 0}));
  const Stage bits = reduce(
      "bits", in, Reduce([](const Expr& a, const Expr& b) { return a ^ b; }).identity(0u).commutative());
  for (const Extents2& size : global_sizes) expect_agreement({all, bits}, noise(in.type(), size, 15));
}

TEST(Reduction, ResultsAreReadByStagesAndReductions) {
  Image<std::int32_t> in("in");
  Stage least = reduce("least", in, Reduce::min());
  Stage greatest = reduce("greatest", in, Reduce::max());
  Stage range = point("range", cast<std::int64_t>(greatest) - least);
  Stage relative = point("relative", cast<std::int64_t>(in) - least);
  Stage far = reduce("far", select(relative > range / 2, 1, 0), Reduce::sum());
  for (const Extents2& size : global_sizes)
    expect_agreement({relative, far, range}, noise(in.type(), size, 16));
}

/// The grouping of floats follows from the sizes alone.
TEST(Reduction, AnyNumberOfThreadsGivesTheSameBits) {
  Image<float> in("in");
  const Stage sum = reduce("sum", in * 0.1f, Reduce::sum());
  const Stage bins =
      scatter("bins", {7}, 0.f, in, [&](Var x, Var y) { return add({(x + y) % 7}, in(x, y) * 0.1f); });
  const Mask soft{{.1f, .2f, .1f}, {.2f, .4f, .2f}, {.1f, .2f, .1f}};
  Stage once = convolve("once", in.border(Border::clamp()), soft);
  const Stage rows = reduce("rows", convolve("twice", once.border(Border::mirror()), soft), Reduce::sum());
  const Pipeline pipeline("p", Outputs{sum, bins, rows}.strict());
  const Arguments arguments{{{"in", noise(in.type(), {1023, 517}, 23)}}, {}, {}};
  CompileOptions options = compile_options();
  options.threads = 1, options.tile = Tile::None;
  const auto expected = pipeline.compile(options).run(arguments);
  options.tile = Tile::March;
  for (int threads : {1, 2, 3, 7}) {
    options.threads = threads;
    for (const auto& [name, got] : pipeline.compile(options).run(arguments))
      EXPECT_EQ(difference(expected.at(name), got), "") << name << " with " << threads << " threads";
  }
}

// ---- scattering

TEST(Scatter, Histogram) {
  Image<std::uint8_t> in("in");
  const Stage histogram =
      scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
  for (const Extents2& size : global_sizes) expect_agreement(histogram, noise(in.type(), size, 17));
}

TEST(Scatter, SeveralUpdatesDropWhatLeavesTheBox) {
  Image<std::int16_t> in("in");
  const Stage bins = scatter("bins", {40, 7}, 5, in, [&](Var x, Var y) {
    const Expr v = in(x, y);
    return ScatterUpdates{add({v % 50, v % 9}, v), add({x, y}, 1), add({v >> 9, 3}, -7)};
  });
  for (const Extents2& size : global_sizes) expect_agreement(bins, noise(in.type(), size, 18));
}

TEST(Scatter, PixelsOfSeveralLanesIntoAVolume) {
  Image<std::uint8_t> in("in");
  const Stage grid = scatter("grid", {in.width() / 8 + 1, in.height() / 8 + 1, 4},
                             Vec<std::int32_t, 2>{0, 100}, in, [&](Var x, Var y) {
                               return add({x / 8, y / 8, in(x, y) / 64}, pack(cast<int>(in(x, y)), 1));
                             });
  for (const Extents2& size : global_sizes) expect_agreement(grid, noise(in.type(), size, 19));
}

TEST(Scatter, MinMaxAndProduct) {
  Image<std::uint8_t> in("in");
  const auto key = [&](Var x, Var y) { return (cast<int>(in(x, y)) * 7 + x) % 31; };
  const Outputs outputs = {
      scatter("low", {31}, 1000, in, [&](Var x, Var y) { return minimum({key(x, y)}, in(x, y)); }),
      scatter("high", {31}, -5, in, [&](Var x, Var y) { return maximum({key(x, y)}, in(x, y)); }),
      scatter("product", {31}, 3u, in, [&](Var x, Var y) { return multiply({key(x, y)}, in(x, y) | 1u); })};
  for (const Extents2& size : global_sizes) expect_agreement(outputs, noise(in.type(), size, 20));
}

/// In memory, too: 1, however often it was added.
TEST(Scatter, SumsOfBoolsAreBools) {
  Image<std::uint8_t> in("in");
  const Stage any = scatter("any", {5}, false, in, [&](Var x, Var y) { return add({in(x, y) / 64}, true); });
  const Buffer image = noise(in.type(), {64, 3}, 23);
  expect_agreement(any, image);
  const Buffer found = Pipeline("any", any).compile(compile_options())(image);
  std::array<std::uint8_t, 5> bytes{};
  std::memcpy(bytes.data(), found.data(), bytes.size());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 5>{1, 1, 1, 1, 0}));
}

TEST(Scatter, OverOtherRanks) {
  Image<std::uint8_t> row("in", 1);
  const Stage counts = scatter("counts", {16}, 0, row, [&](Var x) { return add({row(x) / 16}, 1); });
  for (std::int64_t n : {1, 100, 5000}) expect_agreement(counts, noise(row.type(), {n}, 21));
  Image<std::uint8_t> volume("in", 3);
  const Stage depth = scatter("depth", {16, volume.size()[2]}, 0, volume, [&](Var x, Var y, Var z) {
    return add({volume(x, y, z) / 16, z}, 1);
  });
  expect_agreement(depth, noise(volume.type(), {9, 7, 5}, 22));
}

/// As in C++: sums and products of bools are integers, and what is not 0 is true.
TEST(Scatter, SumsAndProductsOfBools) {
  const Image<std::uint8_t> in("in");
  const auto bin = [&](Var x, Var y) { return std::vector<Expr>{(in(x, y) / 2) % 64}; };
  const Outputs outputs = {
      scatter("any", {64}, false, in, [&](Var x, Var y) { return add(bin(x, y), in(x, y) > 99); }),
      scatter("all", {64}, true, in, [&](Var x, Var y) { return multiply(bin(x, y), in(x, y) > 99); })};
  expect_agreement(outputs, noise(in.type(), {9, 7}, 31));
  const Buffer all =
      interpreted(Pipeline("all", outputs), {{{"in", noise(in.type(), {9, 7}, 31)}}, {}, {}}).at("all");
  EXPECT_FALSE(all.at<bool>(0)) << "the noise has a 0";
}

/// Bands of the result, each from the points that change it: the order of the points is kept, so that sums of floats are
/// the interpreter's to the bit.
TEST(Scatter, InBandsAddsInTheOrderOfThePoints) {
  const Image<float> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor far = in.border(Border::clamp()), zero = in.border(Border::constant(0));
  const BoxAt around{{-3, -5}, {w + 7, h + 9}};
  const auto bin = [](const Expr& v) { return cast<int>(abs(v) * 4.f) % 5; };
  const auto value = [](const Expr& v) { return v * 0.1f; };
  const Outputs outputs = {
      // Of rows, columns and planes; shrunk, spread, mirrored; with points beyond the image.
      scatter("rows", {w / 8 + 2, h / 8 + 2, 5}, Vec<float, 2>{.25f, 0.f}, around,
              [&](Var x, Var y) {
                return add({(x + 3) / 8, (y + 5) / 8, bin(far(x, y))}, pack(value(far(x, y)), 1.f));
              }),
      scatter("four", {w / 8 + 2, h / 8 + 2}, Vec<float, 4>{.25f, 0.f, 1.f, 2.f}, around,
              [&](Var x, Var y) {
                const Expr v = value(far(x, y));
                return add({(x + 3) / 8, (y + 5) / 8}, pack(v, -v, 2.f, v * v));
              }),
      scatter("columns", {w, 5}, 0.f, in,
              [&](Var x, Var y) {
                return add({x, bin(in(x, y))}, value(in(x, y)));
              }),
      scatter("spread", {7, 3 * h}, 0.f, around,
              [&](Var x, Var y) {
                return add({bin(zero(x, y + 1)), 3 * y + 1}, value(zero(x - 1, y + 1)));
              }),
      scatter("mirrored", {w, h / 2 + 1}, 0.f, in,
              [&](Var x, Var y) {
                return add({w - 1 - x, h / 2 - y / 2}, value(in(x, y)));
              }),
      // Several updates of a point, which overlap, and some that lead nowhere.
      scatter("several", {w + 2, h / 4 + 1}, 1.f, in,
              [&](Var x, Var y) {
                const Expr v = value(in(x, y));
                return ScatterUpdates{add({x, y / 4}, v), add({x + 1, (y + 3) / 4}, v * 0.3f),
                                      add({x + 2, select(y % 4 == 0, Expr(y / 4 - 1), -1)}, v - 1.f)};
              }),
      scatter("nowhere", {w, h / 4 + 1}, 1.f, in,
              [&](Var x, Var y) {
                return ScatterUpdates{add({x, y / 4}, in(x, y)), add({x, Index(-1)}, in(x, y)),
                                      add({x, h / 4 + 1}, in(x, y))};
              }),
      scatter("greatest", {w, h / 3 + 1}, 0.f, in, [&](Var x, Var y) {
        return maximum({x, y / 3}, in(x, y));
      })};
  const Pipeline pipeline("p", Outputs(outputs).strict());
  const Program program = pipeline.compile(compile_options());
  for (const Extents2& size : {Extents2{1, 1}, {1, 9}, {7, 3}, {65, 33}, {1100, 3}, {30, 600}})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), size, 41)}}, {}, {}}, exactly);
}

TEST(Scatter, InBandsOfOtherRanksAndTypes) {
  const Image<std::int16_t> row("in", 1);
  const Outputs of_a_row = {
      scatter("halves", {row.width() / 2 + 1}, half(0.f), row,
              [&](Var x) { return add({x / 2}, cast<half>(row(x) % 50)); }),
      scatter("any", {row.width() / 4 + 1}, false, row, [&](Var x) { return add({x / 4}, row(x) > 9); })};
  for (std::int64_t n : {1, 100, 5000}) expect_agreement(of_a_row, noise(row.type(), {n}, 42));
  const Image<std::uint8_t> volume("in", 3);
  const Extents size = volume.size();
  const Outputs of_a_volume = {
      scatter("planes", {size[0], 64, size[2] / 2 + 1}, 0, volume,
              [&](Var x, Var y, Var z) {
                return add({x, volume(x, y, z) / 4, z / 2}, 1);
              }),
      scatter("middle", {size[1], size[0], 16}, 0u, volume, [&](Var x, Var y, Var z) {
        return add({y, x, volume(x, y, z) / 16}, 1u);
      })};
  for (const auto& extents : {Extents2{1, 1, 1}, {9, 70, 5}, {600, 3, 40}})
    expect_agreement(of_a_volume, noise(volume.type(), extents, 43));
}

/// GCC 12 may store the values of a window by 16 bytes at once where the stack gives them 8. Found by:
/// weft verify --random 1 --seed 43002767
TEST(Scatter, ByMediansOfManyValues) {
  const Image<std::int16_t> in("in");
  const Mask nineteen(4, 5, {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const Stage bins = scatter("bins", {7}, 0, in, [&](Var x, Var y) {
    const Expr constant = median(Domain(nineteen), [](Tap) { return Expr(std::int8_t(-2)); });
    const Expr key = constant * in.border(Border::constant(-1))(3 * x, x % 5) % 7;
    const Expr column = in.border(Border::repeat())(3 * x + 2, y) >= 7;
    return maximum({key}, in.border(Border::clamp())(x, column));
  });
  for (const Extents2& size : global_sizes) expect_agreement(bins, noise(in.type(), size, 32));
}

}  // namespace
}  // namespace weft::testing_support
