#include "ir/probe.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "tests/errors/expect_error.h"

namespace weft {
namespace {

/// Pixel (x, y) is x + 10 y.
Buffer image(std::int64_t width, std::int64_t height) {
  Buffer buffer = Buffer::allocate(type_of<int>(), {width, height});
  for (std::int64_t i = 0; i < width * height; ++i)
    static_cast<int*>(buffer.data())[i] = static_cast<int>(i % width + 10 * (i / width));
  return buffer;
}

/// "out(4, 2) = 9; in(3, 2) = 4 …"
std::string text_of(const std::vector<ir::ProbedStage>& probed) {
  std::string text;
  for (const ir::ProbedStage& stage : probed) {
    for (const ir::ProbedPixel& pixel : stage.pixels) {
      text += (text.empty() ? "" : "; ") + stage.stage->name + (stage.is_whole ? " whole" : "");
      for (std::size_t d = 0; d < pixel.at.size(); ++d)
        text += (d == 0 ? "(" : ", ") + std::to_string(pixel.at[d]) + (d + 1 == pixel.at.size() ? ")" : "");
      text += " = " + pixel.value.to_string();
    }
  }
  return text;
}

std::string probed(const Stage& out, std::vector<std::int64_t> at, std::int64_t most = 1 << 20,
                   std::map<std::string, double> params = {}) {
  const Pipeline pipeline("p", out);
  return text_of(
      ir::probe(pipeline.ir(), ir::bound({{"in", image(8, 6)}}, params), pipeline.ir().outputs[0], at, most));
}

}  // namespace

TEST(Probe, ReadsWhatThePixelNeedsAlone) {
  Image<int> in("in");
  Stage twice = stage("twice", in.size(), [&](Var x, Var y) { return in(x, y) * 2; });
  auto src = twice.border(Border::clamp());
  const Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return src(x - 1, y) + src(x + 1, y) - in(x, y); });
  EXPECT_EQ(
      probed(out, {4, 2}),
      "out(4, 2) = 72; twice(3, 2) = 46; twice(5, 2) = 50; in(3, 2) = 23; in(4, 2) = 24; in(5, 2) = 25");
  // Outside, the border's pixels are read instead; each counts once.
  EXPECT_EQ(probed(out, {0, 0}),
            "out(0, 0) = 2; twice(0, 0) = 0; twice(1, 0) = 2; in(0, 0) = 0; in(1, 0) = 1");
}

TEST(Probe, OnlyTheCaseThatHolds) {
  Image<int> in("in");
  Stage left = stage("left", in.size(), [&](Var x, Var y) { return in(x, y) + 100; });
  const Stage out = stage("out", in.size(),
                          [&](Var x, Var y) { return cases().when(x < 4, left(x, y)).otherwise(in(x, y)); });
  EXPECT_EQ(probed(out, {1, 1}), "out(1, 1) = 111; left(1, 1) = 111; in(1, 1) = 11");
  EXPECT_EQ(probed(out, {5, 1}), "out(5, 1) = 15; in(5, 1) = 15");
}

TEST(Probe, FollowsComputedIndices) {
  Image<int> in("in");
  auto src = in.border(Border::clamp());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) { return src(in(x, y) - 20, y); });
  EXPECT_EQ(probed(out, {3, 2}), "out(3, 2) = 23; in(3, 2) = 23");
  EXPECT_EQ(probed(out, {3, 1}), "out(3, 1) = 10; in(0, 1) = 10; in(3, 1) = 13");
}

TEST(Probe, WholeStagesAreComputedAsWholes) {
  Image<int> in("in");
  Stage largest = reduce("largest", in, Reduce::max());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) { return largest - in(x, y); });
  EXPECT_EQ(probed(out, {1, 0}), "out(1, 0) = 56; largest whole = 57; in(1, 0) = 1");

  Param<int> steps("steps", 2);
  Field<int> u("u", in);
  const Stage after = evolve("after", u, steps, [&](Var x, Var y) { return u(x, y) + 1000; });
  EXPECT_EQ(probed(after, {1, 0}), "after whole(1, 0) = 2001");
  EXPECT_EQ(probed(after, {1, 0}, 1 << 20, {{"steps", 5}}), "after whole(1, 0) = 5001");
}

TEST(Probe, HasALimit) {
  Image<int> in("in");
  Stage largest = reduce("largest", in, Reduce::max());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) { return largest - in(x, y); });
  EXPECT_EQ(probed(out, {1, 0}, 3), "out(1, 0) = 56; largest whole = 57; in(1, 0) = 1");
  EXPECT_ERROR(probed(out, {1, 0}, 2),
               "the pixel depends on more than 2 others\n  help: probe a smaller image");
  EXPECT_ERROR(probed(out, {1, 0}, 1),  // 48 points, of 32
               "the pixel needs the whole of 'largest', which takes too long to interpret\n"
               "  help: probe a smaller image, or a stage before it");
  EXPECT_ERROR(probed(out, {8, 0}), "stage 'out' has no pixel (8, 0)\n  pixels (0, 0) to (7, 5)");
}

}  // namespace weft
