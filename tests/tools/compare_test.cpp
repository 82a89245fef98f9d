#include "tools/compare.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cmath>

#include "ir/interpret.h"

namespace weft::tools {
namespace {

template <class T>
Comparison compared(std::vector<T> expected, std::vector<T> found, bool rounded = false) {
  const auto n = static_cast<std::int64_t>(expected.size());
  return compare("out", Buffer::view(expected, {n, 1}), Buffer::view(found, {n, 1}), {}, rounded);
}

TEST(Compare, IntegersAreEqualOrNot) {
  EXPECT_TRUE(compared<int>({1, 2, 3}, {1, 2, 3}).equal);
  const Comparison c = compared<int>({1, 2, 3}, {1, 2, 4});
  EXPECT_FALSE(c.equal);
  EXPECT_EQ(c.text(), "'out' differs in 1 of 3 pixels, first at (2, 0): expected 3, found 4");
}

TEST(Compare, FewRoundingsMayGoTheOtherWay) {
  std::vector<std::uint8_t> expected(4000, 7), found = expected;
  for (int i = 0; i < 4; ++i) found[i] = 8;
  EXPECT_TRUE(compared(expected, found, true).equal);
  EXPECT_EQ(compared(expected, found, true).off_by_one, 4);
  EXPECT_FALSE(compared(expected, found, false).equal);
  for (int i = 4; i < 12; ++i) found[i] = 6;
  EXPECT_TRUE(compared(expected, found, true).equal) << "4 are expected, with a standard deviation of 2";
  found[12] = 6;
  EXPECT_FALSE(compared(expected, found, true).equal);
  found = expected, found[0] = 9;
  EXPECT_FALSE(compared(expected, found, true).equal);
}

TEST(Compare, FloatsWithinTheBound) {
  EXPECT_TRUE(compared<float>({0, 1000}, {5e-5f, 1000.05f}).equal);
  EXPECT_FALSE(compared<float>({0, 1}, {1e-3f, 1}).equal);
  EXPECT_FALSE(compared<float>({1}, {NAN}).equal);
  EXPECT_FALSE(compared<float>({INFINITY}, {1}).equal);
  EXPECT_TRUE(compared<float>({NAN, INFINITY, 0.f}, {NAN, INFINITY, -0.f}).equal);
}

TEST(Compare, ShapesHaveToAgree) {
  std::vector<float> data(6);
  const Comparison c =
      compare("out", Buffer::view(data, {3, 2}), Buffer::view(data, {2, 3}), Tolerance{}, false);
  EXPECT_FALSE(c.equal);
  EXPECT_EQ(c.text(), "'out': expected 3x2 f32, found 2x3 f32");
}

TEST(Compare, RunsBoth) {
  Image<std::uint8_t> in("in");
  const Pipeline pipeline("twice", point("out", cast<std::uint8_t>(in * 2)));
  const Program program = pipeline.compile({Target::Reference, 0, {}});
  Arguments arguments;
  arguments.images["in"] = Buffer::allocate({Scalar::U8, 1}, {4, 3});
  const auto all = verify(pipeline.ir(), program, arguments);
  ASSERT_EQ(all.size(), 1);
  EXPECT_TRUE(all[0].equal);
  EXPECT_FALSE(rounds_floats(pipeline.ir()));
  EXPECT_TRUE(verify(pipeline.ir(), program, {}).empty()) << "both refuse to run without an image";
}

/// Beyond the tolerance a float may be a few times as far off as the interpreter with shaken roundings.
TEST(Compare, ForgivesWhatRoundingsExplain) {
  const std::vector<float> expected = {100, 100, 100};
  const auto judged = [&](const std::vector<float>& found, const std::vector<float>& shaken) {
    const auto view = [](std::vector<float> pixels) { return Buffer::view(pixels, {3, 1}).packed(); };
    return compare("out", view(expected), view(found), {}, false, {view(shaken), view(expected)});
  };
  const Comparison alike = judged({100, 99, 100}, {100, 100.5f, 100});
  EXPECT_TRUE(alike.equal);
  EXPECT_EQ(alike.text(), "'out' is equal, in 1 of 3 pixels but for roundings that count much there");
  EXPECT_FALSE(judged({100, 99, 100}, {100, 100.1f, 100}).equal);     // ten times as far
  EXPECT_FALSE(judged({100, 99, 100}, {100.5f, 100, 100.5f}).equal);  // of another pixel
  EXPECT_FALSE(judged({100, NAN, 100}, {100, 100.5f, 100}).equal);
}

/// Reading between the pixels of a picture of 640 columns: the pixel's place counts more than 1e-4 at edges.
/// A pixel that is truly wrong is found among them.
TEST(Verify, BoundsFollowFromTheArithmetic) {
  Image<float> in("in");
  auto src = in.border(Border::clamp()).interpolate(Interpolation::Bilinear);
  const Pipeline moved("moved", stage("moved", in.size(),
                                      [&](Var x, Var y) { return src((x - 319.5f) * 1.01f + 319.5f, y); }));
  Arguments arguments;
  arguments.images["in"] = Buffer::allocate(type_of<float>(), {640, 40});
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 640; ++x) arguments.images["in"].at<float>(x, y) = x * 7919 % 251 + y;
  }
  const Program program = moved.compile({.target = Target::Cpu});
  const Tolerance narrow{.relative = 1e-7};  // no vector of one processor rounds so that it would do
  EXPECT_TRUE(verify(moved.ir(), program, arguments, narrow).at(0).equal);
  const ir::Bindings bindings{arguments.images, {}};
  const Buffer expected = ir::interpret(moved.ir(), bindings).at("moved");
  const std::vector<Buffer> shaken = {ir::interpret_shaken(moved.ir(), bindings, 1).at("moved")};
  Buffer found = expected.packed();
  found.at<float>(400, 20) += 1;
  EXPECT_EQ(compare("moved", expected, found, narrow, false, shaken).wrong, 1);
}

}  // namespace
}  // namespace weft::tools
