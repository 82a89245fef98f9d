// The rows that the pixels of a thread read at once, and which volumes are left to the caches.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "follow.h"
#include "plan/block_strip.h"
#include "plan/pixel_rows.h"
#include "plan/plan.h"
#include "plan/planner.h"
#include "plan/thread_pixels.h"

namespace weft::plan::pixel_rows_test {
namespace {

const Memory of_warps{most_shared_bytes, true};

template <class F>
Stage of_volume(F f) {
  const Image<float> in("in", 3);
  const Accessor at = in.border(Border::clamp());
  return stage("out", in.size(), [&](Var x, Var y, Var z) { return f(at, x, y, z); });
}
template <class T = float, class F>
Stage of_line(F f) {
  const Image<T> in("in", 1);
  const Accessor at = in.border(Border::clamp());
  return stage("out", in.size(), [&](Var x) { return f(at, x); });
}
Stage star(int radius) {
  return of_volume([&](const Accessor& at, Var x, Var y, Var z) {
    return at(x - radius, y, z) + at(x + radius, y, z) + at(x, y - radius, z) + at(x, y + radius, z) +
           at(x, y, z - radius) + at(x, y, z + radius) + at(x, y, z);
  });
}
Stage box() {
  return of_volume([](const Accessor& at, Var x, Var y, Var z) {
    return sum(Domain(3, 3), [&](Tap t) {
      return at(x + t.x, y + t.y, z - 1) + at(x + t.x, y + t.y, z) + at(x + t.x, y + t.y, z + 1);
    });
  });
}
int pixels_of(const Stage& stage) {
  const auto several = thread_pixels(loop_of(*stage.node()), CodeLimits{});
  return several ? several->pixels : 1;
}

TEST(PixelRows, AreReadOnceWithAllTheirColumns) {
  const PixelRows rows = pixel_rows(*star(2).node());
  ASSERT_EQ(rows.rows.size(), 5U);
  EXPECT_TRUE(rows.others.empty());
  EXPECT_EQ(rows.rows.front().columns, (Reach{-2, 2}));
  EXPECT_EQ(rows.columns_beside(), 4);
  EXPECT_TRUE(rows.may_leave());
}

TEST(PixelRows, OfWindowsAreThoseOfTheirTaps) {
  const PixelRows rows = pixel_rows(*box().node());
  EXPECT_EQ(rows.rows.size(), 9U);
  EXPECT_EQ(rows.columns_beside(), 18);
}

TEST(PixelRows, DoNotLeaveWhereOnlyOwnColumnsAreRead) {
  const Image<float> in("in");
  const Accessor at = in.border(Border::clamp());
  const Stage above = stage("out", in.size(), [&](Var x, Var y) { return at(x, y - 1) + at(x, y + 1); });
  EXPECT_FALSE(pixel_rows(*above.node()).may_leave());
  EXPECT_EQ(pixel_rows(*above.node()).columns_beside(), 0);
}

TEST(PixelRows, AreNoneOfOtherReads) {
  const PixelRows rows =
      pixel_rows(*of_line([](const Accessor& at, Var x) { return at(2 * x) + at(x + 1); }).node());
  EXPECT_EQ(rows.rows.size(), 0U);  // the same row is read another way, too
  EXPECT_EQ(rows.others.size(), 1U);
}

TEST(ThreadPixels, AreThoseOfAnAccessUnlessMuchIsComputed) {
  EXPECT_EQ(pixels_of(of_line([](const Accessor& at, Var x) { return at(x - 1) + at(x + 1); })), 4);
  EXPECT_EQ(pixels_of(of_line<std::uint8_t>(
                [](const Accessor& at, Var x) { return cast<std::uint8_t>(at(x - 1) + at(x + 1)); })),
            16);
  EXPECT_EQ(pixels_of(of_line<std::uint8_t>([](const Accessor& at, Var x) {
              Expr e = at(x - 1);
              for (int i = 0; i < 60; ++i) e = e * 3 + at(x + 1);
              return cast<std::uint8_t>(e);
            })),
            2);
  EXPECT_EQ(pixels_of(of_line([](const Accessor& at, Var x) { return at(x - 9) + at(x); })), 1);  // far
  EXPECT_EQ(pixels_of(of_line([](const Accessor& at, Var x) {
              return sum(Domain(5, 251), [&](Tap t) { return at(x + t.x) * t.y; });
            })),
            1);  // a loop over taps
}

/// A pixel of a thread reads no pack in a loop over taps, even if the window is a value of the stage. Found by: weft verify
/// --random 1 --seed 1097
TEST(ThreadPixels, AreOneWhereAValueLoopsOverTaps) {
  const Image<float> in("in");
  const Stage window = convolve("window", in, Mask(1, 1, {2.f}));
  const Stage out = point("out", window + 1.f);
  const ir::Pipeline pipeline = Pipeline("test", Outputs(out)).ir();
  const auto has_several = [&](const std::string& code) {
    const auto found = follow(
        pipeline, R"({"groups": [["window", "out"]], "kernels": {"out": {"code": )" + code + "}}}", of_warps);
    return found.schedule.value().kernels.at(0).level(LevelKind::Lane) != nullptr;
  };
  EXPECT_TRUE(has_several("{}"));
  EXPECT_FALSE(has_several(R"({"window": 1})"));
}

TEST(Plan, LeavesThePlanesOfStarsToTheCaches) {
  EXPECT_EQ(to_text(plan_of(*star(2).node(), of_warps)),
            "kernel out\n  grid  4 x 1 x 1 parallel\n  lane  4 unrolled\n");
}

TEST(Plan, GoesDownBoxesInStripsThatLeaveRoomForWarps) {
  const KernelPlan plan = plan_of(*box().node(), of_warps);
  ASSERT_TRUE(plan.is_of_lanes());
  const Level& lane = *plan.level(LevelKind::Lane);
  EXPECT_EQ(lane.extent[0].fixed(), 2);
  EXPECT_EQ(lane.extent[1].fixed(), 2);
  EXPECT_LE(plan.registers, 112);
}

/// Pixels of a thread that looks them up at such a place of a table.
template <class F>
int pixels_looked_up(F place) {
  const Image<std::uint8_t> in("in");
  const Stage table = stage("table", {1000}, [](Var i) { return cast<std::uint8_t>(3 * i); });
  const Stage out = stage("out", in.size(),
                          [&](Var x, Var y) { return place(table.border(Border::clamp()), in(x, y), x); });
  const KernelPlan plan = plan_of(*out.node(), of_warps);
  const Level* lane = plan.level(LevelKind::Lane);
  return lane ? lane->extent[0].fixed() : 1;
}

TEST(ThreadPixels, AreLookedUpSeveralAtATime) {
  EXPECT_EQ(pixels_looked_up([](const Accessor& table, const Expr& v, Var) { return table(v); }), 16);
  EXPECT_EQ(pixels_looked_up([](const Accessor& table, const Expr&, Var x) { return table(2 * x); }), 1);
}

/// Points that a thread counts at a time.
template <class T, class F>
int points_counted(F bin) {
  const Image<T> in("in");
  const Stage counts =
      scatter("counts", {256}, 0u, in, [&](Var x, Var y) { return add({bin(in, x, y)}, 1u); });
  return std::get<ScatterAtomics>(*plan_of(*counts.node(), of_warps).scatter).points_of_thread;
}

TEST(ThreadPixels, AreCountedSeveralAtATime) {
  const auto own = [](const auto& in, Var x, Var y) { return in(x, y); };
  EXPECT_EQ(points_counted<std::uint8_t>(own), 8);
  EXPECT_EQ(points_counted<std::uint32_t>(own), 4);
  EXPECT_EQ(points_counted<std::uint8_t>(
                [](const auto& in, Var x, Var y) { return in.border(Border::clamp())(x + 1, y); }),
            1);
}

}  // namespace
}  // namespace weft::plan::pixel_rows_test
