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

}  // namespace
}  // namespace weft::testing_support
