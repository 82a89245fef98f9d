// Stages whose pixels read neighbours in other rows alone: a thread of a GPU loads those of its pixels at once, in each row.
#include <gtest/gtest.h>

#include "tests/differential/tiles.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

void expect_the_same(const Outputs& outputs, Type type, const std::vector<std::vector<std::int64_t>>& sizes) {
  const Pipeline pipeline("p", Outputs(outputs).strict());
  const Program program = compiled_in_stages(pipeline);
  for (const auto& size : sizes)
    expect_agreement(program, pipeline, {{{"in", noise(type, size, 51)}}, {}, {}}, exactly);
}

TEST(RowsOfThreads, OfVolumesByEveryBorder) {
  const Image<float> in("in", 3);
  const Index d = in.size()[2];
  std::vector<Stage> outputs;
  for (const auto& [name, border] :
       std::vector<std::pair<const char*, Border>>{{"clamp", Border::clamp()},
                                                   {"mirror", Border::mirror()},
                                                   {"repeat", Border::repeat()},
                                                   {"constant", Border::constant(3)}}) {
    const Accessor at = in.border(border);
    outputs.push_back(stage(name, in.size(), [&](Var x, Var y, Var z) {
      return at(x, y, z - 2) + 2 * at(x, y, z) - at(x, y, z + 1) * at(x, y - 1, d - 1 - z);
    }));
  }
  expect_the_same(outputs, in.type(), {{1, 1, 1}, {7, 5, 3}, {33, 3, 6}});
}

TEST(RowsOfThreads, OfOtherBoxesAndOtherColumnsOfTheSameRow) {
  const Image<std::uint16_t> in("in");
  const Index w = in.width(), h = in.height();
  const Accessor at = in.border(Border::constant(9)), clamped = in.border(Border::clamp());
  expect_the_same(
      {// Columns that are the row's own, but not its first ones.
       stage("inner", BoxAt{{1, -2}, {w - 1, h + 4}},
             [&](Var x, Var y) { return at(x, y) - 3 * at(x, y + 1) + clamped(x, y / 2); }),
       // One row by two coordinates along it.
       stage("halved", in.size(),
             [&](Var x, Var y) { return clamped(x, y - 1) + clamped(x / 2, y - 1) * 5; })},
      in.type(), {{1, 1}, {2, 3}, {9, 7}, {130, 5}});
}

TEST(RowsOfThreads, OfPixelsOfSeveralLanes) {
  const Image<Vec<float, 2>> in("in");
  const Accessor at = in.border(Border::constant(Vec<float, 2>{1.f, -2.f}));
  const Stage sums =
      stage("sums", in.size(), [&](Var x, Var y) { return at(x, y - 1) + at(x, y) * at(x, y + 2); });
  // Whole pixels of what Weft has allocated, at computed places.
  const Accessor of_sums = sums.border(Border::clamp());
  expect_the_same({stage("found", in.size(),
                         [&](Var x, Var y) {
                           const Expr far = cast<int>(in(x, y).lane(0) * 10.f);
                           return of_sums(x + far, y) - of_sums(x, y - far) * of_sums(y, x).lane(1);
                         })},
                  in.type(), {{1, 1}, {7, 3}, {65, 9}});
}

}  // namespace
}  // namespace weft::testing_support
