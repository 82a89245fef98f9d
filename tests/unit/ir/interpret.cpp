#include "ir/interpret.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cmath>
#include <limits>

namespace weft {
namespace {

template <class T>
Buffer row(const std::vector<T>& values) {
  Buffer buffer = Buffer::allocate(type_of<T>(), {static_cast<std::int64_t>(values.size()), 1});
  std::copy(values.begin(), values.end(), static_cast<T*>(buffer.data()));
  return buffer;
}

template <class T>
std::vector<T> run(const Stage& out, const std::map<std::string, Buffer>& images) {
  const Buffer result = ir::interpret(Pipeline("p", out).ir(), {images, {}}).at(out.name());
  const T* data = static_cast<const T*>(result.data());
  return {data, data + result.pixels()};
}

}  // namespace

TEST(Interpret, Point) {
  Image<int> in("in");
  EXPECT_EQ(run<int>(point("out", in * 2 + 1), {{"in", row<int>({1, 2, 3})}}), (std::vector{3, 5, 7}));
}

TEST(Interpret, CorrelatesWithoutFlipping) {
  Image<int> in("in");
  const Stage out = convolve("out", in.border(Border::constant(0)), Mask{{1, 10, 100}});
  EXPECT_EQ(run<int>(out, {{"in", row<int>({1, 2, 3})}}), (std::vector{210, 321, 32}));
}

TEST(Interpret, TheSameStageThroughDifferentBorders) {
  Image<int> in("in");
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return in.border(Border::clamp())(x - 1, y) * 100 + in.border(Border::repeat())(x - 1, y) * 10 +
           in.border(Border::mirror101())(x - 1, y);
  });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({1, 2, 3})}}), (std::vector{132, 111, 222}));
}

TEST(Interpret, AccumulatorsAdvanceTogether) {
  Image<int> in("in");
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    Accum<int> a = 0, b = 1;  // Fibonacci's numbers
    for_each(Domain(5, 1), [&](Tap) {
      const Expr sum = Expr(a) + Expr(b);
      a = Expr(b);
      b = sum;
    });
    return Expr(a) * 100 + Expr(b) + in(x, y) * 0;
  });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({0})}}), (std::vector{508}));
}

TEST(Interpret, NestedLoops) {
  Image<int> in("in");
  const auto src = in.border(Border::constant(0));
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return sum(Domain(3, 1),
               [&](Tap t) { return maximum(Domain(3, 1), [&](Tap u) { return src(x + t.x + u.x, y); }); });
  });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({1, 2, 3, 4})}}), (std::vector{6, 9, 11, 12}));
}

TEST(Interpret, MedianOfAnEvenNumberIsTheUpper) {
  Image<float> in("in");
  const Stage out = local("out", in.border(Border::clamp()), Domain(2, 1), Local::Median);
  EXPECT_EQ(run<float>(out, {{"in", row<float>({3, 1, 2})}}), (std::vector{3.f, 3.f, 2.f}));
}

TEST(Interpret, MedianPutsNanAboveAllOthers) {
  Image<float> in("in");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Stage out = local("out", in.border(Border::constant(nan)), Domain(3, 1), Local::Median);
  const std::vector<float> result = run<float>(out, {{"in", row<float>({3, 1, 2, nan})}});
  EXPECT_EQ(result[0], 3);
  EXPECT_EQ(result[1], 2);
  EXPECT_EQ(result[2], 2);
  EXPECT_TRUE(std::isnan(result[3]));
}

TEST(Interpret, OnlyTheChosenCaseIsRead) {
  Image<int> in("in");
  const Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return cases().when(x >= 1, in(x - 1, y)).otherwise(-1); });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({5, 6, 7})}}), (std::vector{-1, 5, 6}));
}

TEST(Interpret, BoxThatStartsElsewhere) {
  Image<int> in("in");
  const Stage middle =
      stage("middle",
            BoxAt{{in.width() - in.width() + 1, in.height() - in.height()}, {in.width() - 2, in.height()}},
            [&](Var x, Var y) { return in(x, y) * 10; });
  EXPECT_EQ(run<int>(middle, {{"in", row<int>({1, 2, 3, 4})}}), (std::vector{20, 30}));
}

TEST(Interpret, CropHasItsOwnBorders) {
  Image<int> in("in");
  const auto left =
      in.crop({in.width() * 0, in.height() * 0}, {in.width() / 2, in.height()}).border(Border::clamp());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) { return left(x, y); });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({1, 2, 3, 4})}}), (std::vector{1, 2, 2, 2}));
}

TEST(Interpret, GatherThroughABorder) {
  Image<int> in("in");
  const Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return in.border(Border::clamp())(in(x, y), y); });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({2, -5, 9})}}), (std::vector{9, 2, 9}));
}

TEST(Interpret, EmptyStages) {
  Image<int> in("in");
  const Stage half = stage("half", in.size() / 2, [&](Var x, Var y) { return in(2 * x, 2 * y); });
  const Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return half.border(Border::clamp())(x / 2, y / 2); });
  EXPECT_EQ(run<int>(out, {{"in", row<int>({7})}}), (std::vector{0}));
}

}  // namespace weft
