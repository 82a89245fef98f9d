// Scatters whose coordinates all say where they go, against the interpreter: no two threads, and no two bands, change the
// same pixel, so that even sums of floats are its own to the bit.
#include <gtest/gtest.h>

#include "tests/differential/tiles.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

using Extents2 = std::vector<std::int64_t>;

void expect_the_same_bits(const Outputs& outputs, Type type, const std::vector<Extents2>& sizes) {
  const Pipeline pipeline("p", Outputs(outputs).strict());
  const Program program = compiled_in_stages(pipeline);
  for (const Extents2& size : sizes)
    expect_agreement(program, pipeline, {{{"in", noise(type, size, 44)}}, {}, {}}, exactly);
}

TEST(ScatterColumns, OfCellsWithBins) {
  const Image<float> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor far = in.border(Border::clamp()), zero = in.border(Border::constant(0));
  const BoxAt around{{-3, -5}, {w + 7, h + 9}};
  const auto bin = [](const Expr& v) { return cast<int>(abs(v) * 4.f) % 7 - 1; };
  const auto value = [](const Expr& v) { return v * 0.1f; };
  expect_the_same_bits(
      {// Shrunk, with points beyond the image and cells that no point leads to.
       scatter("cells", {w / 8 + 3, h / 8 + 2, 5}, Vec<float, 2>{.25f, 0.f}, around,
               [&](Var x, Var y) {
                 return add({(x + 3) / 8 + 1, (y + 5) / 8, bin(far(x, y))}, pack(value(far(x, y)), 1.f));
               }),
       // Bins before places, two of them; turned round and mirrored, some of it outside.
       scatter(
           "turned", {3, h + 2, w / 3, 2}, .5f, in,
           [&](Var x, Var y) {
             return add({bin(in(x, y)), h - 1 - y, (2 * x - 5) / 3, bin(zero(x - 1, y))}, value(in(x, y)));
           }),
       scatter("greatest", {w, h / 3 + 1}, 0.f, in,
               [&](Var x, Var y) {
                 return maximum({x, y / 3}, in(x, y));
               })},
      in.type(), {{1, 1}, {1, 9}, {7, 3}, {65, 33}, {270, 11}});
}

TEST(ScatterColumns, OfSeveralUpdatesOfAPoint) {
  const Image<float> in("in");
  const Index w = in.width(), h = in.height();
  expect_the_same_bits({scatter("both", {w / 2, h / 4 + 1, 3}, 1.f, in,
                                [&](Var x, Var y) {
                                  const Expr v = in(x, y);
                                  return ScatterUpdates{add({x / 2, y / 4, 0}, v),
                                                        add({x / 2, y / 4, cast<int>(v * 2.f)}, v * 0.3f)};
                                })},
                       in.type(), {{1, 1}, {7, 3}, {65, 33}});
}

TEST(ScatterColumns, OfOtherRanksAndTypes) {
  const Image<std::int16_t> row("in", 1);
  expect_the_same_bits(
      {scatter("halves", {row.width() / 2 + 1}, half(0.f), row,
               [&](Var x) { return add({x / 2}, cast<half>(row(x) % 50)); }),
       scatter("any", {row.width() / 4 + 1}, false, row, [&](Var x) { return add({x / 4}, row(x) > 9); })},
      row.type(), {{1}, {100}, {5000}});
  const Image<std::uint8_t> volume("in", 3);
  const Extents size = volume.size();
  expect_the_same_bits(
      {scatter("planes", {size[0], 16, size[2] / 2 + 1, size[1] / 3 + 1}, std::uint8_t{3}, volume,
               [&](Var x, Var y, Var z) {
                 return add({x, volume(x, y, z) / 16, z / 2, y / 3}, std::uint8_t{1});
               }),
       // No coordinate of the result is that of the planes, and all planes go to it.
       scatter("through", {size[1], size[0], 16}, 0u, Extents{size[0], size[1], 6},
               [&](Var x, Var y, Var z) {
                 return add({y, x, volume.border(Border::clamp())(x, y, z) / 16}, 1u);
               })},
      volume.type(), {{1, 1, 1}, {9, 20, 5}, {70, 3, 11}});
}

// ---- columns that end in what reads them

void expect_ended(const Outputs& outputs, const std::string& scattered, const Type& type,
                  const std::vector<Extents2>& sizes, bool is_ended = true) {
  const Pipeline pipeline("p", Outputs(outputs).strict());
  const auto chosen = compile::scheduled(pipeline.ir(), processor_of_tiles, {.tile = Tile::March}).schedule;
  EXPECT_EQ(chosen.of(scattered).in_columns, is_ended && processor_of_tiles == target::Processor::Gpu);
  expect_agreement_on_noise(compiled_in_tiles(pipeline), pipeline, sizes, 45);
}

/// Counts and sums of the values of 4x2 points in each of 5 ranges.
Stage cells_of(const Image<float>& in) {
  return scatter(
      "cells", {in.width() / 4 + 1, in.height() / 2 + 1, 5}, Vec<float, 2>{0.f, .5f}, in, [&](Var x, Var y) {
        return add({x / 4, y / 2, cast<int>(abs(in(x, y)) * 4.f) % 7 - 1}, pack(in(x, y) * 0.1f, 1.f));
      });
}

class EndedColumns : public testing::TestWithParam<std::string> {};

TEST_P(EndedColumns, AlongWindowsAndFurtherThanTheyAre) {
  const Image<float> in("in");
  const Stage cells = cells_of(in);
  const Accessor cell = cells.border(Border::named(GetParam(), -7));
  const Index w = in.width() / 4 + 1, h = in.height() / 2 + 1;
  const Stage blurred = stage("blurred", BoxAt{{0, 0, -1}, {w, h, 8}}, [&](Var x, Var y, Var z) {
    return cell(x, y, z - 2) + 3.f * cell(x, y, z) + cell(x, y, z + 1);
  });
  const Accessor far = blurred.border(Border::clamp());
  const Stage out = stage(
      "out", {w, h, 8}, [&](Var x, Var y, Var z) { return far(cast<int>(cast<float>(x) * .9f), y, z - 1); });
  expect_ended({out}, "cells", in.type(), {{1, 1}, {7, 3}, {65, 33}, {1100, 5}});
}
INSTANTIATE_TEST_SUITE_P(All, EndedColumns,
                         testing::Values("constant", "clamp", "mirror", "mirror101", "repeat"));

TEST(ScatterColumns, EndInFewerPixelsOfOtherTypes) {
  const Image<float> in("in");
  const Stage cells = cells_of(in);
  const Index w = in.width() / 4 + 1, h = in.height() / 2 + 1;
  // The mean of all, and the count of one at a place that an image says.
  const Accessor places = in.border(Border::clamp());
  const Stage means = stage("means", {w, h, 1}, [&](Var x, Var y, Var) {
    Expr total = cells(x, y, 0);
    for (int k = 1; k < 5; ++k) total = total + cells(x, y, k);
    const Expr place = clamp(cast<int>(places(x + 1, y) * 3.f), 0, 4);
    const Expr one = cells.border(Border::clamp())(x, y, place);
    return pack(total.lane(0) / total.lane(1), one.lane(1), cast<float>(place));
  });
  expect_ended({means}, "cells", in.type(), {{1, 1}, {7, 3}, {65, 33}});
}

TEST(ScatterColumns, EndWhereNoDimensionIsAlongThem) {
  const Image<float> in("in");
  const Extents all{in.width() / 8 + 1, in.height() / 4 + 1};
  const Stage greatest = scatter("greatest", all, -1.f, in, [&](Var x, Var y) {
    return maximum({x / 8, y / 4}, in(x, y));
  });
  const Stage rounded = stage("rounded", all, [&](Var x, Var y) { return cast<int>(greatest(x, y) * 99.f); });
  expect_ended({rounded}, "greatest", in.type(), {{1, 1}, {65, 33}});
}

TEST(ScatterColumns, EndAlongXAndTwoDimensions) {
  const Image<float> in("in");
  const Index w = in.width(), h = in.height();
  const auto bin = [](const Expr& v, int count) { return cast<int>(abs(v) * 8.f) % count; };
  const Stage bins = scatter("bins", {3, h, w / 4 + 1, 2}, std::uint16_t{1}, in, [&](Var x, Var y) {
    return add({bin(in(x, y), 3), y, x / 4, bin(in(x, y) * 3.f, 4)}, cast<std::uint16_t>(x % 5));
  });
  const Accessor bordered = bins.border(Border::mirror());
  const Stage out = stage("out", {4, h, w / 4 + 1, 3}, [&](Var x, Var y, Var z, Var u) {
    const Expr one = cast<half>(cast<float>(bordered(2 * x - 1, y, z, 1 - u)) * .5f);
    return cases().when(Expr(u) == 1, cast<half>(-1.f)).otherwise(one);
  });
  expect_ended({out}, "bins", in.type(), {{1, 1}, {7, 3}, {70, 9}});
}

TEST(ScatterColumns, DoNotEndInWhatReadsOthers) {
  const Image<float> in("in");
  const Stage cells = cells_of(in);
  const Index w = in.width() / 4 + 1, h = in.height() / 2 + 1;
  const std::vector<Extents2> sizes{{7, 3}, {65, 33}};
  const Accessor cell = cells.border(Border::clamp());
  const auto next = stage("next", {w, h, 5}, [&](Var x, Var y, Var z) { return cell(x + 1, y, z); });
  expect_ended({next}, "cells", in.type(), sizes, false);
  const auto fewer = stage("fewer", {w, h - 1, 5}, [&](Var x, Var y, Var z) { return cell(x, y, z); });
  expect_ended({fewer}, "cells", in.type(), sizes, false);
  const auto own = stage("own", {w, h, 5}, [&](Var x, Var y, Var z) { return cell(x, y, z + 1); });
  expect_ended({own, next}, "cells", in.type(), sizes, false);
  expect_ended({own, cells}, "cells", in.type(), sizes, false);
}

}  // namespace
}  // namespace weft::testing_support
