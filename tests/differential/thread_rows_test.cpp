// Stages whose pixels read neighbours in rows: a thread of a GPU loads those of its pixels at once, in each row, and the columns
// beside them.
#include <gtest/gtest.h>

#include "tests/differential/tiles.h"
#include "tests/support/differential.h"

namespace weft::testing_support::thread_rows_test {
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

TEST(RowsOfThreads, AreLookedUpInTables) {
  const Image<std::uint8_t> in("in");
  const Stage table = stage("table", {256}, [](Var i) { return cast<std::uint16_t>(i * i); });
  const Stage low = stage("low", {20}, [](Var i) { return cast<std::uint8_t>(7 * i); });
  const Accessor squares = table.border(Border::clamp()), of_low = low.border(Border::mirror());
  expect_the_same(
      {stage("squares", in.size(), [&](Var x, Var y) { return squares(in(x, y)); }),
       stage("both", in.size(),
             [&](Var x, Var y) { return squares(in(x, y)) - of_low(cast<int>(in(x, y)) - cast<int>(x)); })},
      in.type(), {{1, 1}, {5, 3}, {16, 2}, {33, 7}});
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

// Less than the pixels of a thread, all of them, and some more; rows that are aligned and such that are not.
const std::vector<std::vector<std::int64_t>> lines = {{1}, {3}, {4}, {5}, {64}, {1023}};
const std::vector<std::vector<std::int64_t>> volumes = {
    {1, 1, 1}, {3, 4, 5}, {8, 3, 4}, {132, 5, 3}, {129, 6, 7}};

std::vector<std::pair<std::string, Border>> borders(Type type) {
  return {{"clamp", Border::clamp()},
          {"mirror", Border::mirror()},
          {"mirror101", Border::mirror101()},
          {"repeat", Border::repeat()},
          {"constant", Border::named("constant", type.lanes == 1 ? 3 : 0)}};
}

TEST(RowsOfThreads, WithColumnsBesideOfLinesByEveryBorder) {
  const Image<float> in("in", 1);
  std::vector<Stage> outputs;
  for (const auto& [name, border] : borders(in.type())) {
    const Accessor at = in.border(border);
    outputs.push_back(stage(name, in.size(), [&](Var x) { return at(x - 2) + 2 * at(x) - at(x + 3); }));
    // Taps of a window that is straight-line code, and one that is a loop.
    outputs.push_back(stage(name + "_sum", in.size(), [&](Var x) {
      return sum(Domain(3, 1), [&](Tap t) { return at(x + t.x) * (t.x + 2); });
    }));
    outputs.push_back(stage(name + "_long", in.size(), [&](Var x) {
      return sum(Domain(5, 251), [&](Tap t) { return at(x + t.x) * t.y; });
    }));
  }
  expect_the_same(outputs, in.type(), lines);
}

TEST(RowsOfThreads, WithColumnsBesideOfVolumesByEveryBorder) {
  const Image<std::int32_t> in("in", 3);
  std::vector<Stage> outputs;
  for (const auto& [name, border] : borders(in.type())) {
    const Accessor at = in.border(border);
    outputs.push_back(stage(name, in.size(), [&](Var x, Var y, Var z) {
      return at(x - 1, y, z) + 2 * at(x + 1, y, z) - at(x, y - 1, z) * at(x, y + 2, z) + at(x, y, z - 2) -
             5 * at(x, y, z + 1);
    }));
  }
  expect_the_same(outputs, in.type(), volumes);
}

TEST(RowsOfThreads, WithColumnsBesideOfOtherSources) {
  const Image<std::int16_t> in("in", 3);
  const Index w = in.size()[0], h = in.size()[1], d = in.size()[2];
  const Stage flat = stage("flat", {w, h}, [&](Var x, Var y) { return in(x, y, 0) * 3; });
  const Stage inner = stage("inner", BoxAt{{0, 1, 0}, {w - 2, h - 2, d}},
                            [&](Var x, Var y, Var z) { return in(x, y, z) - 4 * z; });
  const Accessor at = in.border(Border::mirror()), beneath = flat.border(Border::clamp()),
                 among = inner.border(Border::constant(7));
  expect_the_same(
      {flat, inner,
       // One of fewer dimensions, one of a box of its own, and a row that no coordinate alone says.
       stage("sums", in.size(),
             [&](Var x, Var y, Var z) {
               return at(x + 1, y, z) + beneath(x - 1, y + 1) - among(x - 1, y - 1, z + 1) + among(x, y, z) +
                      at(x + 2, y, d - 1 - z);
             }),
       // Columns that are the stage's own, but not its source's first ones.
       stage("shifted", BoxAt{{3, -2, 1}, {w + 2, h + 4, d}},
             [&](Var x, Var y, Var z) { return at(x - 2, y, z) + at(x + 1, y - 1, z); })},
      in.type(), {{3, 4, 5}, {8, 3, 4}, {132, 5, 3}, {129, 6, 7}});
}

TEST(RowsOfThreads, WithColumnsBesideInPixelsOfSeveralLanes) {
  const Image<Vec<float, 3>> colours("in", 1);
  const Accessor at = colours.border(Border::mirror());
  expect_the_same({stage("edges", colours.size(), [&](Var x) { return at(x + 1) - at(x - 1) * 2.f; })},
                  colours.type(), lines);
  const Image<Vec<std::uint8_t, 4>> bytes("in", 1);
  const Accessor of_bytes = bytes.border(Border::repeat());
  expect_the_same({stage("bytes", bytes.size(),
                         [&](Var x) { return cast<std::uint8_t>(of_bytes(x + 2) - of_bytes(x - 1)); })},
                  bytes.type(), lines);
}

TEST(RowsOfThreads, OfStepsThatLeaveTheEndsAsTheyAre) {
  const Image<float> in("in", 1);
  Field<float> u("u", in);
  u.freeze(1);
  expect_the_same(
      {evolve("line", u, Expr(3),
              [&](Var x) { return 0.25f * (u.back(1)(x - 1) + u.back(1)(x + 1)) + 0.5f * u.back(1)(x); })},
      in.type(), lines);
  const Image<float> volume("in", 3);
  Field<float> v("v", volume);
  v.freeze(2);
  expect_the_same({evolve("star", v, Expr(2),
                          [&](Var x, Var y, Var z) {
                            const Accessor at = v.back(1);
                            return at(x - 2, y, z) + at(x + 1, y, z) - at(x, y - 1, z) - at(x, y + 1, z) +
                                   at(x, y, z - 1) * at(x, y, z + 1);
                          })},
                  volume.type(), volumes);
}

TEST(RowsOfThreads, OfAStepThatTakesThePlaceOfWhatItReads) {
  const Image<float> in("in", 3);
  const Stage begun = stage("begun", in.size(), [&](Var x, Var y, Var z) { return in(x, y, z) * 2.f; });
  Field<float> u("u", in), v("v", begun);
  const std::vector<Stage> stages =
      evolve(Expr(2), {update("u1", u,
                              [&](Var x, Var y, Var z) {
                                return u.back(1)(x, y, z) + v.back(1).border(Border::clamp())(x - 1, y, z);
                              }),
                       update("v1", v, [&](Var x, Var y, Var z) { return v.back(1)(x, y, z) + 1.f; })});
  expect_the_same({stages[0], stages[1]}, in.type(), volumes);
}

TEST(RowsOfThreads, OfSmallerSourcesThatACaseReads) {
  const Image<float> in("in");
  const Index w = in.width(), h = in.height();
  const Stage narrow = stage("narrow", {w / 2, h}, [&](Var x, Var y) { return in(x, y) * 3.f; });
  const Stage low = stage("low", {w, h / 2}, [&](Var x, Var y) { return in(x, y) + 1.f; });
  expect_the_same({narrow, low,
                   stage("sums", in.size(),
                         [&](Var x, Var y) {
                           return cases().when(x < w / 2, narrow(x, y) * in(x, y)).otherwise(in(x, y));
                         }),
                   stage("others", in.size(),
                         [&](Var x, Var y) {
                           return cases().when(y < h / 2, low(x, y) - in(x, y)).otherwise(in(x, y));
                         })},
                  in.type(), {{2, 2}, {9, 7}, {64, 3}, {131, 6}});
}

}  // namespace
}  // namespace weft::testing_support::thread_rows_test
