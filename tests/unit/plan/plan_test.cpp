// Plans of kernels as values: they print, can be asked for again whole and in part, and are refused with a reason.
#include "plan/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <weft/weft.hpp>

#include "compile/scheduling.h"
#include "follow.h"
#include "ir/print.h"
#include "plan/block_strip.h"
#include "plan/json.h"
#include "plan/planner.h"
#include "plan/verify.h"
#include "rewrite/prepare.h"
#include "schedule/groups.h"

namespace weft::plan {
namespace {

using schedule::Grouping;
using schedule::Tiling;

const Mask cross{{0.f, 1.f, 0.f}, {1.f, 1.f, 1.f}, {0.f, 1.f, 0.f}};
const Memory of_cores{}, of_blocks{most_shared_bytes}, of_warps{most_shared_bytes, true};

/// Two windows, one after the other, in one kernel.
ir::Pipeline two_windows() {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  return Pipeline("test", {convolve("b", a.border(Border::clamp()), cross)}).ir();
}

std::string with_kernel(const std::string& kernel) {
  return R"({"groups": [["a", "b"]], "kernels": {"b": )" + kernel + "}}";
}
std::string text_of(const std::string& kernel, const Memory& memory) {
  const ir::Pipeline pipeline = two_windows();
  const auto found = follow(pipeline, with_kernel(kernel), memory);
  return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
}
std::optional<KernelPlan> plan_with(const std::string& kernel, const Memory& memory) {
  const auto found = follow(two_windows(), with_kernel(kernel), memory);
  return found.schedule ? std::optional(found.schedule->kernels.at(0)) : std::nullopt;
}

/// Half of what a pixel reads is the same in each plane, or less.
KernelPlan plan_of_planes(std::int64_t planes, bool reads_more) {
  const Image<float> in("in"), table("table", 1);
  const Accessor src = in.border(Border::clamp()), of_table = table.border(Border::clamp());
  const Stage out = stage("out", {in.width() / 2, in.height(), planes}, [&](Var x, Var y, Var z) {
    const Expr left = src(2 * x - 1, y), right = src(2 * x + 1, y);
    const Expr shade = of_table(cast<int>(left) - z) + of_table(cast<int>(right) - z);
    return reads_more ? shade + of_table(z) : shade;
  });
  const ir::Pipeline pipeline = Pipeline("test", {out}).ir();
  return plan_of(*pipeline.stages.back(), of_warps);
}

TEST(Plan, AThreadHasAllPlanesThatHaveMuchInCommon) {
  EXPECT_TRUE(plan_of_planes(8, false).has_planes_of_threads());
  EXPECT_FALSE(plan_of_planes(8, true).has_planes_of_threads()) << "less than half of what is read";
  EXPECT_FALSE(plan_of_planes(17, false).has_planes_of_threads()) << "too many planes";
  EXPECT_NE(to_text(plan_of_planes(8, false)).find("grid  1 x 1 x all parallel"), std::string::npos)
      << to_text(plan_of_planes(8, false));
}

/// Pixels at several planes of a volume, `beside` columns away in one of them.
KernelPlan plan_across_planes(std::int64_t planes, int beside) {
  const Image<float> in("in");
  const Stage volume = stage("volume", {in.width(), in.height(), planes},
                             [&](Var x, Var y, Var z) { return in(x, y) * cast<float>(z); });
  const Accessor src = volume.border(Border::constant(0));
  const Stage out = stage("out", {in.width(), in.height(), planes}, [&](Var x, Var y, Var z) {
    return src(x, y, z - 1) + src(x + beside, y, z) * 2.0f + src(x, y, z + 2);
  });
  const ir::Pipeline pipeline = Pipeline("test", {out}).ir();
  return plan_of(*pipeline.stages.back(), of_warps);
}

TEST(Plan, AThreadHasAllPlanesThatItReadsAcross) {
  EXPECT_NE(to_text(plan_across_planes(8, 0)).find("grid  4 x 1 x all parallel"), std::string::npos)
      << to_text(plan_across_planes(8, 0));
  EXPECT_FALSE(plan_across_planes(8, 1).has_planes_of_threads())
      << "rows of columns beside are found by caches";
  EXPECT_FALSE(plan_across_planes(17, 0).has_planes_of_threads()) << "too many planes";
}

TEST(Plan, OfACorePrints) {
  EXPECT_EQ(text_of("{}", of_cores),
            "kernel b; with it a\n"
            "  core    1024 x 256..16 for 64 parallel\n"
            "  row     all x 2 march\n"
            "  vector  parallel\n"
            "  begins  4 rows above a tile\n"
            "  in      ring of 4 rows, 1028 scalars each, in caches, but for inner tiles; [-2, 2] x [-2, 2], "
            "2 ahead; clamp\n"
            "  a       ring of 4 rows, 1040 scalars each, in caches; [-1, 1] x [-1, 1], 1 ahead; clamp\n"
            "  fetch   the next rows of in\n"
            "  passes  a | b\n");
}

TEST(Plan, OfAVolumeGoesFromPlaneToPlane) {
  const Image<float> in("in", 3);
  const Accessor src = in.border(Border::clamp());
  const Stage a =
      stage("a", in.size(), [&](Var x, Var y, Var z) { return src(x, y, z - 1) + src(x, y + 1, z); });
  const ir::Pipeline pipeline = Pipeline("test", {stage("b", in.size(),
                                                        [&](Var x, Var y, Var z) {
                                                          const Accessor of_a = a.border(Border::clamp());
                                                          return of_a(x - 1, y, z) + of_a(x, y, z + 1);
                                                        })})
                                    .ir();
  const auto text = [&](const std::string& kernel, const Memory& memory) {
    const auto found = follow(pipeline, with_kernel(kernel), memory);
    return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
  };
  EXPECT_EQ(
      text(R"({"levels": [{"kind": "core", "extent": [128, 16, 32]}]})", of_cores),
      "kernel b; with it a\n"
      "  core    128 x 16 x 32 parallel\n"
      "  row     all x all x 1 march\n"
      "  vector  parallel\n"
      "  begins  2 planes above a tile\n"
      "  in      ring of 2 planes of 17 rows, 129 scalars each, in caches, but for inner tiles; [-1, 0] x "
      "[0, 1] x [-1, 1], 1 ahead; clamp\n"
      "  a       ring of 2 planes of 16 rows, 144 scalars each, in caches; [-1, 0] x [0, 0] x [0, 1], 1 "
      "ahead; clamp\n"
      "  fetch   the next rows of in\n"
      "  passes  a | b\n");
  EXPECT_EQ(
      text(R"({"levels": [{"kind": "grid", "extent": [64, 6, 32]}]})", of_blocks),
      "kernel b; with it a\n"
      "  grid    64 x 6 x 32 parallel\n"
      "  block   96 parallel\n"
      "  batch   all x all x 1 march\n"
      "  begins  2 planes above a tile\n"
      "  in      ring of 2 planes of 7 rows, 72 scalars each, in shared memory; [-1, 0] x [0, 1] x [-1, 1], "
      "1 ahead; clamp\n"
      "  a       ring of 2 planes of 6 rows, 65 scalars each, in shared memory; [-1, 0] x [0, 0] x [0, 1], 1 "
      "ahead; clamp\n"
      "  passes  a | b\n");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "core", "extent": [64, 4, 32]}]})", of_cores),
            "a tile of an image has no extent between its columns and its rows");
  EXPECT_EQ(
      text(R"({"levels": [{"kind": "grid", "extent": ["all", 3, "all"]}, {"kind": "warp"}]})", of_warps),
      "kernel b; with it a\n"
      "  grid    124 x 3 x 64|32|16|8 for 48 parallel\n"
      "  warp    128 parallel\n"
      "  batch   all x all x 2 march\n"
      "  lane    4 x 3 unrolled\n"
      "  begins  2 planes above a tile\n"
      "  loads   images a plane before they are needed; about 128 registers\n"
      "  in      ring of 2 planes of 4 rows, 4 scalars each, in each lane's registers; [-1, 0] x [0, 1] x "
      "[-1, 1], 1 ahead; clamp\n"
      "  a       ring of 2 planes of 3 rows, 5 scalars each, in each lane's registers; [-1, 0] x [0, 0] x "
      "[0, 1], 1 ahead; clamp\n"
      "  passes  a | b\n");
  EXPECT_EQ(text(R"({"levels": [{"kind": "grid", "extent": ["all", 3, 33]}, {"kind": "warp"}]})", of_warps),
            "33 rows and the 2 above them are no batches of 2");
  EXPECT_EQ(
      text(R"({"levels": [{"kind": "grid", "extent": ["all", 64, "all"]}, {"kind": "warp"}]})", of_warps),
      "its planes do not fit the registers of a warp");
  EXPECT_EQ(
      text(R"({"levels": [{"kind": "warp", "share": 50}, {"kind": "batch", "order": "static"}]})", of_warps),
      "'b' is a volume, and no lane has all planes of a tile");
}

TEST(Plan, OfABlockPrints) {
  EXPECT_EQ(
      text_of("{}", of_blocks),
      "kernel b; with it a\n"
      "  grid    248 x 64|32|8 for 128 parallel\n"
      "  block   256 parallel\n"
      "  batch   all x 8 march\n"
      "  begins  4 rows above a tile\n"
      "  in      ring of 16 rows, 264 scalars each, in shared memory; [-2, 2] x [-2, 2], 2 ahead; clamp\n"
      "  a       ring of 16 rows, 250 scalars each, in shared memory; [-1, 1] x [-1, 1], 1 ahead; clamp\n"
      "  passes  a | b\n");
}

TEST(Plan, OfAWarpPrints) {
  EXPECT_EQ(text_of("{}", of_warps),
            "kernel b; with it a\n"
            "  grid    120 x 2 + 3n for 20 at most parallel\n"
            "  warp    128 parallel\n"
            "  batch   all x 3 march\n"
            "  lane    4 unrolled\n"
            "  begins  4 rows above a tile\n"
            "  loads   images 3 rows before they are needed; about 92 registers\n"
            "  in      ring of 3 rows, 6 scalars each, in each lane's registers; [-2, 2] x [-2, 2], 2 ahead; "
            "clamp\n"
            "  a       ring of 3 rows, 6 scalars each, in each lane's registers; [-1, 1] x [-1, 1], 1 ahead; "
            "clamp\n"
            "  passes  a | b\n");
}

TEST(Plan, OfAWarpWhoseRowsMoveUp) {
  EXPECT_EQ(
      text_of(R"({"levels": [{"kind": "warp"}, {"kind": "batch", "extent": ["all", 1]}]})", of_warps),
      "kernel b; with it a\n"
      "  grid    120 x 2 + 1n for 20 at most parallel\n"
      "  warp    128 parallel\n"
      "  batch   all x 1 march\n"
      "  lane    4 unrolled\n"
      "  begins  4 rows above a tile\n"
      "  loads   images 3 rows before they are needed; about 92 registers\n"
      "  in      ring of 3 rows, 6 scalars each, in each lane's registers, where they move up; [-2, 2] x "
      "[-2, 2], 2 ahead; clamp\n"
      "  a       ring of 3 rows, 6 scalars each, in each lane's registers, where they move up; [-1, 1] x "
      "[-1, 1], 1 ahead; clamp\n"
      "  passes  a | b\n");
}

TEST(Plan, OfAStaticTileIsABlocksOrAWarps) {
  EXPECT_EQ(
      text_of(R"({"levels": [{"kind": "batch", "order": "static"}]})", of_blocks),
      "kernel b; with it a\n"
      "  grid    120 x 16 parallel\n"
      "  block   128 parallel\n"
      "  batch   all x 16 static\n"
      "  row     all x 1 unrolled\n"
      "  in      tile of 20 rows, 136 scalars each, in shared memory; [-2, 2] x [-2, 2], 2 ahead; clamp\n"
      "  a       tile of 18 rows, 122 scalars each, in shared memory; [-1, 1] x [-1, 1], 1 ahead; clamp\n"
      "  passes  a | b\n");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "grid", "extent": [24, 4]}, {"kind": "block", "extent": [1, 2]},
                             {"kind": "warp"}, {"kind": "batch", "order": "static"},
                             {"kind": "row", "order": "march"}]})",
                    of_warps),
            "kernel b; with it a\n"
            "  grid    24 x 4 parallel\n"
            "  block   1 x 2 parallel\n"
            "  warp    32 parallel\n"
            "  batch   all x 4 static\n"
            "  row     all x 1 march\n"
            "  in      tile of 8 rows, 40 scalars each, in shared memory; [-2, 2] x [-2, 2], 2 ahead; clamp\n"
            "  a       tile of 6 rows, 26 scalars each, in shared memory; [-1, 1] x [-1, 1], 1 ahead; clamp\n"
            "  passes  a | b\n");
}

TEST(Plan, InTurnHasAllPixelsOfOneStageAfterTheOther) {
  const std::string in_turn = R"({"levels": [{"kind": "grid", "extent": ["all"]}]})";
  EXPECT_EQ(text_of(in_turn, of_blocks),
            "kernel b\n"
            "  grid    all parallel\n"
            "  passes  a | b\n");
  const std::optional<KernelPlan> plan = plan_with(in_turn, of_blocks);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->written.size(), 2U) << "both are stored";
  EXPECT_EQ(plan_with(as_json(*plan).dump(), of_blocks), plan);
  EXPECT_EQ(follow(two_windows(), with_kernel(in_turn), of_cores).schedule->kernels.size(), 2U)
      << "cores compute stages one by one";
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "grid", "extent": ["all"]}, {"kind": "block", "extent": [64]}]})",
                    of_blocks),
            "the kernel of 'b' has no tiles");
}

TEST(Plan, OfAHybridTileKeepsAShareInRegisters) {
  const auto hybrid = [](const std::string& share, const std::string& more) {
    return R"({"levels": [{"kind": "warp", "share": )" + share +
           R"(}, {"kind": "batch", "order": "static"})" + more + "]}";
  };
  EXPECT_EQ(
      text_of(hybrid("25", R"(, {"kind": "grid", "extent": ["all", 4]})"), of_warps),
      "kernel b; with it a\n"
      "  grid    120 x 4 parallel\n"
      "  warp    128 parallel, 25 % of the rows in registers\n"
      "  batch   all x 4 static\n"
      "  lane    4 unrolled\n"
      "  begins  4 rows above a tile\n"
      "  loads   images 1 rows before they are needed; about 86 registers\n"
      "  in      tile of 8 rows, 6 scalars each, in each lane's registers, all but the first 2 in shared "
      "memory until they are read; [-2, 2] x [-2, 2], 2 ahead; clamp\n"
      "  a       tile of 6 rows, 6 scalars each, in each lane's registers, all but the first 2 in shared "
      "memory until they are read; [-1, 1] x [-1, 1], 1 ahead; clamp\n"
      "  passes  a | b\n");
  const KernelPlan all_shared =
      *plan_with(hybrid("0", R"(, {"kind": "grid", "extent": ["all", 4]})"), of_warps);
  EXPECT_EQ(all_shared.shared_bytes(), (8 + 6) * 128 * 4);
  EXPECT_EQ(text_of(hybrid("50", ""), of_blocks), "no warps share out tiles of 'b' there");
  EXPECT_EQ(text_of(hybrid("101", ""), of_warps),
            "a share of 101 % of the rows is none that registers can have");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "warp", "share": 50}]})", of_warps),
            "no share of the rows of 'b' stays in registers: that is for static tiles of warps");
}

TEST(Plan, OfAWarpIsAskedFor) {
  const auto level = [](const std::string& kind, const std::string& extent) {
    return R"({"levels": [{"kind": ")" + kind + R"("}, {"kind": "grid", "extent": )" + extent + "}]}";
  };
  EXPECT_EQ(text_of(level("block", R"(["all", 64])"), of_warps),
            text_of(level("block", R"(["all", 64])"), of_blocks));
  EXPECT_EQ(text_of(level("warp", R"(["all", "all"])"), of_warps), text_of("{}", of_warps));
  EXPECT_EQ(text_of(level("warp", R"(["all", "all"])"), of_blocks), "no warps share out tiles of 'b' there");
  EXPECT_EQ(text_of(level("warp", R"(["all", 64])"), of_warps),
            "64 rows and the 4 above them are no batches of 3");
  EXPECT_EQ(text_of(level("warp", R"([64, "all"])"), of_warps),
            "the lanes of a warp make tiles of 'b' 120 wide, not 64");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "warp"}, {"kind": "lane", "extent": [64]}]})", of_warps),
            "its rows do not fit the registers of a warp");
}

/// The lines in which the plans differ.
std::string changes(const std::string& kernel, const Memory& memory) {
  std::istringstream before(text_of("{}", memory)), after(text_of(kernel, memory));
  std::string text, a, b;
  while (std::getline(after, b)) {
    std::getline(before, a);
    if (a != b) text += b + "\n";
  }
  return text;
}

TEST(Plan, ChangesInWhatIsAskedForAndInWhatFollows) {
  EXPECT_EQ(changes(R"({"kept": {"in": {"in_memory": false}}})", of_cores),
            "  in      ring of 4 rows, 1028 scalars each, in caches; [-2, 2] x [-2, 2], 2 ahead; clamp\n");
  EXPECT_EQ(changes(R"({"kept": {"a": {"rows": 8}}})", of_cores),
            "  a       ring of 8 rows, 1040 scalars each, in caches; [-1, 1] x [-1, 1], 1 ahead; clamp\n");
  EXPECT_EQ(changes(R"({"levels": [{"kind": "core", "extent": [64, 32]}]})", of_cores),
            "  core    64 x 32 parallel\n"
            "  in      ring of 4 rows, 68 scalars each, in caches, but for inner tiles; [-2, 2] x [-2, 2], 2 "
            "ahead; clamp\n"
            "  a       ring of 4 rows, 80 scalars each, in caches; [-1, 1] x [-1, 1], 1 ahead; clamp\n");
  EXPECT_EQ(changes(R"({"levels": [{"kind": "core", "extent": ["all", {"sizes": [40, 20], "enough": 8}]}]})",
                    of_cores),
            "  core    1024 x 40|20 for 8 parallel\n");
  EXPECT_EQ(
      changes(R"({"levels": [{"kind": "batch", "extent": ["all", 4]}]})", of_blocks),
      "  batch   all x 4 march\n"
      "  in      ring of 8 rows, 264 scalars each, in shared memory; [-2, 2] x [-2, 2], 2 ahead; clamp\n"
      "  a       ring of 8 rows, 250 scalars each, in shared memory; [-1, 1] x [-1, 1], 1 ahead; clamp\n");
}

/// The choice of passes that compute `rows` rows at a time.
std::string with_rows(int rows) {
  return R"({"levels": [{"kind": "row", "extent": ["all", )" + std::to_string(rows) + "]}]}";
}

TEST(Plan, OfACoreComputesSeveralRowsAtATime) {
  EXPECT_EQ(changes(with_rows(1), of_cores), "  row     all x 1 march\n");
  EXPECT_EQ(changes(with_rows(2), of_cores), "") << "which is chosen";
  EXPECT_EQ(
      changes(with_rows(3), of_cores),
      "  core    512 x 256..16 for 64 parallel\n"
      "  row     all x 3 march\n"
      "  begins  6 rows above a tile\n"
      "  in      ring of 8 rows, 516 scalars each, in caches, but for inner tiles; [-2, 2] x [-2, 2], 2 "
      "ahead; clamp\n"
      "  a       ring of 8 rows, 528 scalars each, in caches; [-1, 1] x [-1, 1], 1 ahead; clamp\n");
  EXPECT_EQ(plan_with(with_rows(4), of_cores)->rows_of_pass(), 4);
  EXPECT_EQ(plan_with(with_rows(4), of_cores)->before % 4, 0);
  EXPECT_EQ(plan_with(R"({"kept": {"a": {"rows": 2}}})", of_cores), std::nullopt);
  EXPECT_EQ(text_of(with_rows(5), of_cores), "passes of 'b' compute 5 rows at a time, and at most 4");
  EXPECT_EQ(text_of(with_rows(2), of_blocks),
            "2 rows of 'b' at a time are for passes of a core, and threads that find pixels by others");
  EXPECT_EQ(
      text_of(R"({"kept": {"a": {"rows": 4}}, "levels": [{"kind": "row", "extent": ["all", 3]}]})", of_cores),
      "room for 4 rows of 'a' is less than the 5 that are needed");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "core", "extent": [64, 32]},
                                   {"kind": "row", "order": "static", "extent": ["all", 2]}]})",
                    of_cores),
            "only passes of a core that marches at one rate compute 2 rows of 'b' at a time");
}

TEST(Plan, OfWhatHasOtherStepsComputesRowsOneByOne) {
  const Image<float> in("in");
  const auto why = [](const Stage& stage, const std::string& rows) {
    return follow(Pipeline("test", {stage}).ir(),
                  R"({"groups": [["a", "b"]], "kernels": {"b": {"levels": [{"kind": "row", "extent": )" +
                      rows + "}]}}}",
                  of_cores)
        .why;
  };
  Stage a = convolve("a", in.border(Border::clamp()), cross);
  const Stage half =
      stage("b", in.size() / 2, [&](Var x, Var y) { return a(2 * x, 2 * y) + a(2 * x, 2 * y + 1); });
  EXPECT_EQ(why(half, R"(["all", 2])"),
            "only passes of a core that marches at one rate compute 2 rows of 'b' at a time");
  const Image<float> volume("in", 3);
  Stage plane = stage("a", volume.size(), [&](Var x, Var y, Var z) { return volume(x, y, z) * 2.f; });
  const auto beyond = plane.border(Border::clamp());
  const Stage next =
      stage("b", volume.size(), [&](Var x, Var y, Var z) { return beyond(x, y, z) + beyond(x, y, z + 1); });
  EXPECT_EQ(why(next, R"(["all", "all", 2])"), "") << "planes of a volume";
}

TEST(Plan, OfAnotherProcessorIsChosenAnew) {
  EXPECT_EQ(
      changes(
          R"({"levels": [{"kind": "grid", "extent": [64, 32]}, {"kind": "batch", "extent": ["all", 4]}]})",
          of_cores),
      "");
  EXPECT_EQ(changes(R"({"levels": [{"kind": "core", "extent": [64, 32]}]})", of_blocks), "");
}

TEST(Plan, ThatCannotBeIsRefusedWithTheReason) {
  EXPECT_EQ(text_of(R"({"kept": {"a": {"rows": 2}}})", of_cores),
            "room for 2 rows of 'a' is less than the 3 that are needed");
  EXPECT_EQ(text_of(R"({"kept": {"a": {"rows": 5}}})", of_cores),
            "room for 5 rows of 'a' is no power of two, which rows take each other's place by");
  EXPECT_EQ(text_of(R"({"kept": {"a": {"in_memory": true}}})", of_cores),
            "rows of 'a' cannot be read where they lie");
  EXPECT_EQ(text_of(R"({"kept": {"a": {"rows": 4096}}})", of_cores),
            "17055808 bytes of rows do not fit 524288");
  EXPECT_EQ(text_of(R"({"kept": {"in": {"rows": 8}}})", of_blocks),
            "room for 8 rows of 'in' is less than the 10 that are needed");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "grid", "extent": [60, 32]}]})", of_blocks),
            "a tile's width of 60 is no multiple of 8, a sector of memory");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "row", "order": "static"}]})", of_cores),
            "a static tile needs a height");
  const Image<float> in("in");
  const Stage row = convolve("b", in.border(Border::clamp()), Mask{{1.f, 1.f, 1.f, 1.f, 1.f}});
  EXPECT_EQ(
      follow(Pipeline("test", {row}).ir(),
             R"({"groups": [], "kernels": {"b": {"kept": true, "levels": [{"kind": "core", "edges": 1}]}}})",
             of_cores)
          .why,
      "edges of 1 columns are less than the 2 that windows reach beyond the end of a row");
  EXPECT_EQ(
      text_of(
          R"({"levels": [{"kind": "core", "edges": 16, "extent": [64, 32]}, {"kind": "row", "order": "static"}]})",
          of_cores),
      "only a core that marches at one rate reads rows of 'b' in parts");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "batch", "order": "static", "extent": ["all", 8]},
                                   {"kind": "grid", "extent": ["all", 16]}]})",
                    of_blocks),
            "a static tile of 'b' is one batch of 16 rows, not of 8");
  EXPECT_EQ(
      text_of(R"({"levels": [{"kind": "row", "order": "static"}, {"kind": "grid", "extent": [1024, 16]}]})",
              of_blocks),
      "rows of tiles 1024 pixels wide do not fit 40960 bytes of shared memory");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "warp"}, {"kind": "batch", "extent": ["all", 2]}]})", of_warps),
            "the rows that lanes of 'b' keep make batches of 3, or of 1, not of 2");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "block", "extent": [1, 4]}, {"kind": "warp"}]})", of_warps),
            "blocks of 'b' have no 4 warps with tiles of their own");
  EXPECT_EQ(text_of(R"({"kept": {}})", of_cores), "a group of several stages keeps rows");
  EXPECT_EQ(text_of(R"({"kept": {"c": {"rows": 4}}})", of_cores), "the kernel of 'b' keeps no rows of 'c'");
  EXPECT_EQ(text_of(R"({"levels": [{"kind": "lane", "extent": [4]}]})", of_blocks),
            "threads of 'b' compute no 4 pixels at a time");
  const ir::Pipeline pipeline = two_windows();
  EXPECT_EQ(follow(pipeline, R"({"groups": [["a", "b"]], "kernels": {"a": {}}})", of_cores).why,
            "there is a kernel for 'a', which is not the last stage of a group");
}

TEST(Plan, ThatMakesNoSenseIsNotRead) {
  const auto why = [](const std::string& kernel) {
    try {
      schedule::grouping_from_json(with_kernel(kernel));
    } catch (const Error& error) {
      return std::string(error.message());
    }
    return std::string("none");
  };
  EXPECT_EQ(why(R"({"kept": 7})"),
            "the schedule's kernel of 'b' has kept rows that are not by stages' names, nor true or false");
  EXPECT_EQ(why("7"), "the schedule's kernel of 'b' is no object");
  EXPECT_EQ(why(R"({"tile": 7})"), "the schedule's kernel of 'b' says 'tile', which is unknown");
  EXPECT_EQ(why(R"({"levels": [{"kind": "cluster"}]})"),
            R"(the schedule's kernel of 'b' has a level of a kind that is unknown: "cluster")");
  EXPECT_EQ(why(R"({"levels": [{"kind": "core", "extent": [0, 8]}]})"),
            "the schedule's kernel of 'b' has no number of 1 to 65536 as the extent of a level");
  EXPECT_EQ(why(R"({"levels": [{"kind": "core", "extent": [8, {"sizes": [8, 16], "enough": 2}]}]})"),
            "the schedule's kernel of 'b' has sizes that do not descend as the extent of a level");
  EXPECT_EQ(why(R"({"kept": {"a": {"rows": -1}}})"),
            "the schedule's kernel of 'b' has no number of 1 to 65536 as the rows of 'a'");
  EXPECT_EQ(why(R"({"code": {"tape": 1}})"),
            "the schedule's kernel of 'b' says 'tape' of its code, which is unknown");
  EXPECT_EQ(why(R"({"code": {"phases": 16}})"),
            "the schedule's kernel of 'b' has code with a phases of 16; at most 8 can be asked for");
  EXPECT_EQ(why(R"({"kept": {"a": {"place": 1}}})"),
            "the schedule's kernel of 'b' says 'place' of 'a', which is unknown");
}

TEST(Plan, SaysHowLongCodeMayGet) {
  const auto code = [](const std::string& kernel, const Memory& memory) {
    const std::string text = text_of(kernel, memory);
    const std::size_t at = text.find("\n  code");
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  EXPECT_EQ(code("{}", of_cores), "");
  EXPECT_EQ(code(R"({"code": {"window": 1200}})", of_cores), "");
  EXPECT_EQ(code(R"({"code": {"window": 1200}})", of_blocks), "  code    window 1200");
  const std::string unusual = R"({"code": {"phases": 2, "window": 8}})";
  EXPECT_EQ(code(unusual, of_cores), "  code    phases 2, window 8");
  EXPECT_EQ(as_json(*plan_with(unusual, of_cores))["code"].dump(), R"({"phases":2,"window":8})");
}

TEST(Plan, OfOneStageMayKeepRowsOrNot) {
  const Image<float> in("in");
  const ir::Pipeline pipeline = Pipeline("test", {convolve("b", in.border(Border::clamp()), cross)}).ir();
  const auto text = [&](const std::string& kernel, const Memory& memory) {
    const auto found = follow(pipeline, R"({"groups": [["b"]], "kernels": {"b": )" + kernel + "}}", memory);
    return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
  };
  const std::string several = "kernel b\n  grid  4 x 1 parallel\n  lane  4 unrolled\n";
  EXPECT_EQ(text(R"({"kept": {}})", of_blocks), several);
  EXPECT_EQ(text(R"({"kept": {}, "levels": [{"kind": "core", "extent": ["all", 1]}]})", of_cores),
            text("{}", of_cores));
  EXPECT_EQ(text(R"({"kept": false})", of_blocks), several);
  EXPECT_EQ(text(R"({"kept": true})", of_cores), text(R"({"kept": {"in": {}}})", of_cores));
  EXPECT_EQ(text(R"({"kept": {}, "levels": [{"kind": "batch", "extent": ["all", 4]}]})", of_blocks),
            "the kernel of 'b' has no tiles");
  EXPECT_EQ(text(R"({"kept": {"in": {}}})", of_cores),
            "kernel b\n"
            "  core    2048 x 256..16 for 64 parallel, copies 64 columns at both ends of a row\n"
            "  row     all x 2 march\n"
            "  vector  parallel\n"
            "  begins  2 rows above a tile\n"
            "  in      ring of 4 rows, 2050 scalars each, in caches, but for inner tiles; [-1, 1] x [-1, 1], "
            "1 ahead; clamp\n"
            "  fetch   the next rows of in\n");
  const auto with_edges = [&](const std::string& edges) {
    const std::string plan =
        text(R"({"kept": true, "levels": [{"kind": "core", "edges": )" + edges + "}]}", of_cores);
    return plan.substr(0, plan.find('\n', plan.find("  core")));
  };
  EXPECT_EQ(with_edges("0"), "kernel b\n  core    2048 x 256..16 for 64 parallel");
  EXPECT_EQ(with_edges("16"),
            "kernel b\n  core    2048 x 256..16 for 64 parallel, copies 16 columns at both ends of a row");
  EXPECT_EQ(
      text(R"({"kept": {"in": {"in_memory": false}}, "levels": [{"kind": "core", "edges": 16}]})", of_cores),
      "the kernel of 'b' reads no rows where they lie, between edges");
}

TEST(Plan, OfAnEvolutionTakesSeveralSteps) {
  const Image<float> in("in");
  const Param<int> steps("steps", 1);
  Field<float> u("u", in);
  const ir::Pipeline pipeline =
      Pipeline("test", {evolve("b", u, steps, [&](Var x, Var y) { return u(x - 1, y) + u(x, y + 1); })}).ir();
  const auto text = [&](const std::string& kernel, const Memory& memory) {
    const auto found = follow(pipeline, R"({"groups": [], "kernels": {"b": )" + kernel + "}}", memory);
    return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
  };
  const std::string single = "kernel b\n  core    all x 1 parallel\n  vector  parallel\n",
                    all = single + "  first   step reads what fields begin with where it lies\n";
  EXPECT_EQ(text("{}", of_cores), all + single) << "of all of it, and of its update";
  EXPECT_EQ(text(R"({"steps": 2, "steps_from": 2048})", of_cores),
            all +
                "kernel b of 2 steps if the field has 2 KB; with it b@1\n"
                "  core    1024 x 512..16 for 64 parallel, rows in whole 16s\n"
                "  row     all x 4 march\n"
                "  vector  parallel\n"
                "  begins  4 rows above a tile\n"
                "  u       read where it lies; [-2, 0] x [0, 2], 2 ahead\n"
                "  b@1     ring of 8 rows, 1072 scalars each, in caches; [-1, 0] x [0, 1], 1 ahead\n"
                "  fetch   the next rows of u\n"
                "  passes  b@1 | b\n" +
                single);
  EXPECT_EQ(text(R"({"steps": 2, "levels": [{"kind": "core", "extent": [40, 32], "whole": 16}]})", of_cores),
            "2 steps of 'b' are no kernel: a tile's width of 40 is not made of whole 16s");
  EXPECT_EQ(text_of(R"({"steps": 2})", of_cores),
            "the kernel of 'b' is of no evolution, which alone takes steps");
}

TEST(Plan, OfOneStageWhoseRowsDoNotFitReadsMemory) {
  const Image<float> in("in");
  const ir::Pipeline pipeline = Pipeline("test", {convolve("b", in.border(Border::clamp()), cross)}).ir();
  const auto text = [&](const std::string& kernel) {
    const auto found =
        follow(pipeline, R"({"groups": [["b"]], "kernels": {"b": )" + kernel + "}}", Memory{1000});
    return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
  };
  EXPECT_EQ(text("{}"), "kernel b\n  grid  4 x 1 parallel\n  lane  4 unrolled\n");
  EXPECT_EQ(text(R"({"kept": true})"), "the rows of 'in' do not fit 1000 bytes of shared memory");
  EXPECT_EQ(text(R"({"levels": [{"kind": "grid", "extent": [256, 8]}]})"),
            "rows of tiles 256 pixels wide do not fit 1000 bytes of shared memory");
  EXPECT_EQ(text(R"({"levels": [{"kind": "batch", "extent": ["all", 8]}]})"),
            "batches of 8 rows do not fit 1000 bytes of shared memory");
}

TEST(Plan, OfAScatterSaysWhoChangesWhat) {
  const Image<std::uint8_t> in("in");
  const auto text = [&](const Extents& extents, const Index& margin, const Memory& memory) {
    const Stage out = scatter("out", extents, 0, in, [&](Var x, Var y) {
      return add({in(x, y), x / 4, (y + margin) / 8}, 1);
    });
    return to_text(plan_of(*out.node(), memory));
  };
  EXPECT_EQ(text({256, in.width(), in.height()}, 4, of_cores),
            "kernel out\n"
            "  core    all x 1 parallel\n"
            "  vector  parallel\n"
            "  bands   at most 128 along z, each from the points whose y leads there by (y + 4)/8; 512 "
            "points at a time\n");
  EXPECT_EQ(text({256, 1, 1}, 0, of_cores),
            "kernel out\n"
            "  core    all x 1 parallel\n"
            "  vector  parallel\n"
            "  copies  2 to 16, 1048576 pixels in all; 8 places of a row in turn, with a copy each, since it "
            "has few "
            "pixels for so many points\n");
  EXPECT_EQ(text({16, in.width(), in.height()}, 4, of_blocks),
            "kernel out\n"
            "  grid    1 x 1 parallel\n"
            "  column  of 16 pixels for each y and z, a thread's own in shared memory; from 32 points; 64 of "
            "a block\n");
  EXPECT_EQ(
      text({256, in.width(), in.height()}, 4, of_blocks),
      "kernel out\n"
      "  grid    1 x 1 parallel\n"
      "  copies  none: threads change the result itself, since what goes with one place is more than 192 "
      "bytes\n");
  EXPECT_EQ(text({256, 1, 1}, 0, of_blocks),
            "kernel out\n"
            "  grid    1 x 1 parallel\n"
            "  copies  one of each block, 256 scalars in shared memory, of 16384 points, 8 of a thread at a "
            "time, since what goes with one place is more than 192 bytes\n");
}

}  // namespace
}  // namespace weft::plan
