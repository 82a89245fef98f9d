#include "rewrite/separate_windows.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/verify.h"
#include "stage_sources.h"

namespace weft::separate_windows_test {
namespace {

class SeparateWindows : public testing::Test {
 protected:
  static ir::Pipeline separated(const Outputs& outputs, rewrite::Separate which = rewrite::Separate::Large) {
    ir::Pipeline pipeline = rewrite::separate_windows(Pipeline("test", outputs).ir(), which);
    ir::verify(pipeline, "separate_windows");
    return pipeline;
  }
  static std::string stages(const Outputs& outputs) { return stage_sources(separated(outputs)); }

  const Image<float> in{"in"};
  const Accessor src = in.border(Border::clamp());
};

TEST_F(SeparateWindows, LargeBoxesBecomePiecesOfColumnsAndRows) {
  EXPECT_EQ(
      stages(local("s", src, Domain(17, 17), Local::Sum)),
      "s_column_parts: in; s_columns: s_column_parts in; s_row_parts: s_columns; s: s_row_parts s_columns");
}

TEST_F(SeparateWindows, PiecesOfMaximaOverlap) {
  EXPECT_EQ(stages(local("s", src, Domain(17, 17), Local::Max)),
            "s_column_parts: in; s_columns: s_column_parts; s_row_parts: s_columns; s: s_row_parts");
}

TEST_F(SeparateWindows, ShortLinesAreWhole) {
  EXPECT_EQ(stages(local("s", src, Domain(27, 3), Local::Sum)),
            "s_columns: in; s_row_parts: s_columns; s: s_row_parts s_columns");
}

TEST_F(SeparateWindows, LinesAreInPiecesIfTheyAreLong) {
  EXPECT_EQ(stages(local("s", src, Domain(31, 1), Local::Sum)), "s_parts: in; s: s_parts in");
  EXPECT_EQ(stages(local("s", src, Domain(1, 17), Local::Max)), "s_parts: in; s: s_parts");
  EXPECT_EQ(stages(local("s", src, Domain(16, 1), Local::Sum)), "s: in");
  const Mask wave = Mask::outer({1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, {1});
  EXPECT_EQ(stages(convolve("s", src, wave)), "s: in");
}

TEST_F(SeparateWindows, OtherWeightsAreOneColumnAndOneRow) {
  const Mask tent = Mask::outer({1, 2, 3, 4, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 5, 4, 3, 2, 1});
  EXPECT_EQ(stages(convolve("s", src, tent / 625.f)), "s_columns: in; s: s_columns");
}

TEST_F(SeparateWindows, ColumnsCoverWhatTheRowsRead) {
  const auto box_of_columns = [&](const Stage& stage) {
    std::string text;
    const ir::Box box = separated(stage).stages[0]->box;
    for (const ir::Range& range : box)
      text += "[" + range.min.to_string() + ", + " + range.extent.to_string() + "]";
    return text;
  };
  EXPECT_EQ(box_of_columns(local("s", src, Domain(31, 3), Local::Sum)), "[0, + in.w][0, + in.h]");
  const BoxAt inside{{15, 1}, Extents(in.width() - 30, in.height() - 2)};
  EXPECT_EQ(box_of_columns(stage("s", inside,
                                 [&](Var x, Var y) {
                                   return sum(Domain(31, 3), [&](Tap t) { return in(x + t.x, y + t.y); });
                                 })),
            "[0, + in.w][1, + in.h - 2]");
  const BoxAt part{{100, 1}, Extents(50, 50)};
  EXPECT_EQ(box_of_columns(stage("s", part,
                                 [&](Var x, Var y) {
                                   return sum(Domain(31, 3), [&](Tap t) { return src(x + t.x, y + t.y); });
                                 })),
            "[85, + 80][1, + 50]")
      << "not the whole image";
}

TEST_F(SeparateWindows, SmallSumsOfFloatsOfStagesAreAskedFor) {
  const Stage slope = stage("slope", in.size(), [&](Var x, Var y) { return src(x + 1, y) - src(x, y); });
  const Accessor a = slope.border(Border::clamp());
  const Mask tent = Mask::outer({1, 2, 1}, {1, 2, 1}) / 16.f;
  const auto small = [](const Outputs& outputs) {
    return stage_sources(separated(outputs, rewrite::Separate::SmallSums));
  };
  EXPECT_EQ(small(local("s", a, Domain(3, 3), Local::Sum)), "slope: in; s_columns: slope; s: s_columns");
  EXPECT_EQ(small(convolve("s", a, tent)), "slope: in; s_columns: slope; s: s_columns");
  EXPECT_EQ(stages(convolve("s", a, tent)), "slope: in; s: slope");
  // An image has no rows of its own, four sums become three, maxima take little, and so do integers.
  EXPECT_EQ(small(convolve("s", src, tent)), "s: in");
  EXPECT_EQ(small(local("s", a, Domain(2, 2), Local::Sum)), "slope: in; s: slope");
  EXPECT_EQ(small(local("s", a, Domain(3, 3), Local::Max)), "slope: in; s: slope");
  const Stage whole = point("whole", cast<int>(in));
  EXPECT_EQ(small(local("s", whole.border(Border::clamp()), Domain(3, 3), Local::Sum)),
            "whole: in; s: whole");
}

TEST_F(SeparateWindows, SmallWindowsStay) {
  EXPECT_EQ(stages(local("s", src, Domain(8, 9), Local::Sum)), "s: in");
  const Image<std::uint8_t> bytes("bytes");
  const Accessor narrow = bytes.border(Border::clamp());
  EXPECT_EQ(stages(local("s", narrow, Domain(7, 7), Local::Max)), "s_columns: bytes; s: s_columns");
  EXPECT_EQ(stages(local("s", narrow, Domain(6, 8), Local::Max)), "s: bytes");
}

TEST_F(SeparateWindows, StrictWindowsOfFloatsStay) {
  EXPECT_EQ(stages(Outputs(local("s", src, Domain(17, 17), Local::Sum)).strict()), "s: in");
}

TEST_F(SeparateWindows, WhatIsNoProductStays) {
  EXPECT_EQ(stages(local("s", src, Domain::disc(8), Local::Sum)), "s: in");
}

}  // namespace
}  // namespace weft::separate_windows_test
