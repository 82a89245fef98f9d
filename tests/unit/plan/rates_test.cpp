// Strips of warps whose stages have several rates, and threads with several pixels above a coarser image.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "lower/lower.h"
#include "plan/block_strip.h"
#include "plan/plan.h"
#include "plan/thread_pixels.h"
#include "plan/warp_strip.h"
#include "schedule/groups.h"

namespace weft::plan::rates_test {
namespace {

const Memory of_warps{most_shared_bytes, true};

/// Half as large: three rows, then three columns.
ir::Pipeline halved(Border border) {
  const Image<float> in("in");
  const Accessor f = in.border(border);
  Stage a = stage("a", {in.width(), in.height() / 2},
                  [&](Var x, Var y) { return f(x, 2 * y - 1) + 2.f * f(x, 2 * y) + f(x, 2 * y + 1); });
  const Accessor g = a.border(border);
  return Pipeline(
             "test",
             {stage("b", in.size() / 2,
                    [&](Var x, Var y) { return g(2 * x - 1, y) + 2.f * g(2 * x, y) + g(2 * x + 1, y); })})
      .ir();
}

/// Twice as large, from the column `begin` on.
ir::Pipeline doubled(int begin) {
  const Image<float> fine("fine"), in("in", fine.size() / 2);
  const Accessor f = in.border(Border::clamp()), own = fine.border(Border::clamp());
  Stage a = stage("a", {in.width() + 1, fine.height()},
                  [&](Var x, Var y) { return f(x, y / 2) + f(x, (y + 1) / 2); });
  const Accessor g = a.border(Border::clamp());
  return Pipeline("test",
                  {stage("b", {{begin, 0}, fine.size()},
                         [&](Var x, Var y) { return g(x / 2, y) + g((x + 1) / 2, y) + own(x - begin, y); })})
      .ir();
}

std::string text_of(const ir::Pipeline& pipeline, const std::string& kernel) {
  const auto found = schedule::schedule_of_groups(
      pipeline, schedule::grouping_from_json(R"({"groups": [["a", "b"]], "kernels": {"b": )" + kernel + "}}"),
      schedule::Tiling::March, of_warps);
  return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
}

/// The sources whose lanes a core keeps apart: "in up".
std::string lanes_apart(const Stage& result) {
  const ir::Pipeline pipeline = Pipeline("test", {result}).ir();
  std::string groups;
  for (const ir::StagePtr& stage : pipeline.stages)
    groups += (groups.empty() ? "\"" : ", \"") + stage->name + "\"";
  const auto found = schedule::schedule_of_groups(
      pipeline, schedule::grouping_from_json(R"({"groups": [[)" + groups + "]]}"), schedule::Tiling::March,
      {});
  if (!found.schedule) return found.why;
  std::string text;
  for (const Kept& kept : found.schedule->kernels.at(0).kept) {
    if (kept.lane_pitch != 1) text += (text.empty() ? "" : " ") + kept.stage;
  }
  return text;
}

/// Tables are named after the array of a stage, and a stage by steps of a row has none of its own.
TEST(Rates, WindowsThatAreLoopsHaveTablesInSteps) {
  const Image<int> fine("fine"), in("in", fine.size() / 2);
  const Accessor f = in.border(Border::clamp());
  const Mask mask = Mask::from(13, 8, [](int dx, int dy) { return dx * dx + 3 * dy; });
  Stage a = stage("a", fine.size(), [&](Var x, Var y) { return f(x / 2, y / 2) + fine(x, y); });
  const ir::Pipeline pipeline =
      Pipeline("test", Outputs(convolve("b", a.border(Border::clamp()), mask)).strict()).ir();
  const auto found = schedule::schedule_of_groups(
      pipeline,
      schedule::grouping_from_json(
          R"({"groups": [["a", "b"]], "kernels": {"b": {"levels": [{"kind": "warp"}], "code": {"window": 20}}}})"),
      schedule::Tiling::March, of_warps);
  ASSERT_TRUE(found.schedule) << found.why;
  EXPECT_NE(to_text(found.schedule->kernels.at(0)).find("step    2 x 2"), std::string::npos);
  EXPECT_NO_THROW(lower::lower(pipeline, found.schedule->kernels, target::Processor::Gpu));
}

TEST(Rates, RowsAreTakenApartWhereThatIsLeast) {
  using Rgb = Vec<float, 3>;
  const Image<Rgb> in("in");
  const auto f = in.border(Border::clamp());
  // Down the columns first: of two rows of the image one is left.
  const Stage down = stage("down", {in.width(), in.height() / 2},
                           [&](Var x, Var y) { return f(x, 2 * y) + f(x, 2 * y + 1); });
  const auto d = down.border(Border::constant(0));
  EXPECT_EQ(
      lanes_apart(stage("half", in.size() / 2, [&](Var x, Var y) { return d(2 * x, y) + d(2 * x + 1, y); })),
      "down");
  // Twice as many rows: taken apart before.
  const Stage up = stage("up", {in.width(), in.height() * 2},
                         [&](Var x, Var y) { return f(x, y / 2) + f(x, (y + 1) / 2); });
  const auto u = up.border(Border::constant(0));
  EXPECT_EQ(lanes_apart(
                stage("twice", in.size() * 2, [&](Var x, Var y) { return u(x / 2, y) + u((x + 1) / 2, y); })),
            "in up");
}

TEST(Rates, LanesHaveThePixelsOfSomeSteps) {
  EXPECT_EQ(text_of(halved(Border::constant(0)), "{}"),
            "kernel b; with it a\n"
            "  grid    62 x 3 + 2n for 24 at most parallel\n"
            "  warp    64 parallel\n"
            "  batch   all x 2 march\n"
            "  lane    2 unrolled\n"
            "  begins  1 rows above a tile\n"
            "  loads   images 2 steps before they are needed; about 77 registers\n"
            "  in      ring of 4 rows, 4 scalars each, in each lane's registers; [-1, 0] x [-1, 0], 0 ahead, "
            "rate 2x2; constant\n"
            "  a       ring of 1 rows, 5 scalars each, in each lane's registers; [-1, 0] x [0, 0], 0 ahead, "
            "rate 2x1; constant\n"
            "  passes  a | b\n");
}

TEST(Rates, LanesBeginWhereMemoryIsAligned) {
  // b and fine are stored and loaded from their first columns on, 7 and 0: 2 * 3 + 1, and 2 * 3 - 6.
  EXPECT_EQ(
      text_of(doubled(7), "{}"),
      "kernel b; with it a\n"
      "  grid    120 x 2 + 4n for 20 at most parallel\n"
      "  warp    128 parallel\n"
      "  batch   all x 4 march\n"
      "  lane    4 unrolled, from 1 on\n"
      "  step    2 x 2\n"
      "  begins  2 rows above a tile\n"
      "  loads   images 2 steps before they are needed; about 82 registers\n"
      "  in      ring of 2 rows, 2 scalars each, in each lane's registers; [-3, 1] x [0, 1], 1 ahead, lanes "
      "from 1 on; clamp\n"
      "  fine    ring of 2 rows, 4 scalars each, in each lane's registers; [-6, -6] x [0, 0], 0 ahead, rate "
      "2x2, lanes from -6 on; clamp\n"
      "  a       ring of 2 rows, 3 scalars each, in each lane's registers; [-3, 1] x [0, 0], 0 ahead, rate "
      "1x2, lanes from 1 on; clamp\n"
      "  passes  a | b\n");
}

TEST(Rates, LanesAreAskedFor) {
  const ir::Pipeline pipeline = doubled(0);
  const auto lanes = [](int pixels) {
    return R"({"levels": [{"kind": "warp"}, {"kind": "lane", "extent": [)" + std::to_string(pixels) + "]}]}";
  };
  EXPECT_EQ(text_of(pipeline, lanes(4)), text_of(pipeline, "{}"));
  EXPECT_NE(text_of(pipeline, lanes(2)).find("lane    2 unrolled"), std::string::npos);
  EXPECT_EQ(text_of(pipeline, lanes(3)), "lanes of 3 pixels have no whole steps of 2");
}

TEST(Rates, ThatLanesCannotHaveAreRefused) {
  EXPECT_EQ(text_of(doubled(0),
                    R"({"levels": [{"kind": "warp", "share": 50}, {"kind": "batch", "order": "static"}]})"),
            "stages of several rates are not computed one after the other in registers");
}

/// Pixels of a thread that computes a stage by itself.
template <class F>
int pixels_of(F f) {
  const Image<float> in("in"), coarse("coarse");
  const Stage out = stage("out", in.size(), [&](Var x, Var y) { return f(in, coarse, x, y); });
  const auto several = thread_pixels(loop_of(*out.node()), CodeLimits{});
  return several ? several->pixels : 1;
}

TEST(Rates, ThreadsHaveSeveralPixelsAboveACoarserOne) {
  using In = const Image<float>&;
  const Border clamp = Border::clamp();
  const auto above = [&](In in, In coarse, Var x, Var y) {
    return in(x, y) + coarse.border(clamp)(x / 8, y / 8);
  };
  EXPECT_EQ(pixels_of(above), 4);
  // Beyond the end of a row there may be none without a border; finer and computed places are not shared.
  EXPECT_EQ(pixels_of([&](In in, In, Var x, Var y) { return in(x, y) + in(x / 2, y); }), 1);
  EXPECT_EQ(
      pixels_of([&](In in, In coarse, Var x, Var y) { return in(x, y) + coarse.border(clamp)(2 * x, y); }),
      1);
  EXPECT_EQ(pixels_of([&](In in, In coarse, Var x, Var y) {
              return in(x, y) + coarse.border(clamp)(cast<int>(in(x, y)), y);
            }),
            1);
  // Where much is computed a thread has fewer.
  EXPECT_EQ(pixels_of([&](In in, In coarse, Var x, Var y) {
              Expr sum = above(in, coarse, x, y);
              for (int i = 1; i < 80; ++i) sum = sum * in(x, y) + static_cast<float>(i);
              return sum;
            }),
            2);
}

}  // namespace
}  // namespace weft::plan::rates_test
