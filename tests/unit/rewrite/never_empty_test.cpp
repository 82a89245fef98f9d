#include "rewrite/never_empty.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <string>

namespace weft::never_empty_test {
namespace {

/// "half rows": the stages that have a need.
std::string needed(const Outputs& outputs) {
  std::string names;
  for (const ir::StagePtr& stage : rewrite::never_empty(Pipeline("p", outputs).ir()).stages) {
    if (stage->need) names += (names.empty() ? "" : " ") + stage->name;
  }
  return names;
}

class NeverEmpty : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Index width = in.width() / 2, height = in.height() / 2;

  Stage sized(const std::string& name, const Extents& size, const Source& from) const {
    return stage(name, size, [&](Var x, Var y) { return from.border(Border::clamp())(x, y); });
  }
};

TEST_F(NeverEmpty, AreStagesAsLargeAsThoseThatMayNotBe) {
  const Stage half = never_empty(sized("half", {width, height}, in));
  const Stage rows = sized("rows", {in.width(), height}, half);
  EXPECT_EQ(needed(rows), "half rows");
  EXPECT_EQ(needed(sized("turned", {height, width}, rows)), "half rows turned");
}

TEST_F(NeverEmpty, NotThoseOfWhichAnExtentIsUnknown) {
  const Stage half = never_empty(sized("half", {width, in.height()}, in));
  EXPECT_EQ(needed(sized("rows", {in.width(), height}, half)), "half");
}

TEST_F(NeverEmpty, WhatIsAsLargeAsImagesNeedsNothing) {
  const Stage half = never_empty(sized("half", {width, height}, in));
  EXPECT_EQ(needed(sized("out", in.size(), half)), "half");
}

TEST_F(NeverEmpty, LevelsOfPyramidsAndWhatLiesBetweenThem) {
  const Border border = Border::mirror();
  const Pyramid g("g", in, 3, binomial_reduce(border));
  EXPECT_EQ(needed(g.collapse("out", expand_and_add(border))),
            "g1_y g1 g2_y g2 out1_up_x out1_up out1 out0_up_x");
}

}  // namespace
}  // namespace weft::never_empty_test
