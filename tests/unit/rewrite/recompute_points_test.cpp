#include "rewrite/recompute_points.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/verify.h"
#include "stage_sources.h"

namespace weft::recompute_points_test {
namespace {

std::string recomputed(const Outputs& outputs) {
  const ir::Pipeline pipeline = rewrite::recompute_points(Pipeline("test", outputs).ir());
  ir::verify(pipeline, "recompute_points");
  return stage_sources(pipeline);
}

class RecomputePoints : public testing::Test {
 protected:
  const Image<float> in{"in"};
  Stage p = point("p", in * 2.f);

  Stage window(const char* name, const Stage& source) const {
    return convolve(name, source.border(Border::clamp()), Mask{{1.f, 2.f, 1.f}});
  }
  /// Two stages that read it, and a third that reads both.
  Stage read_twice(const Stage& source) const {
    Stage a = window("a", source);
    return stage("b", in.size(), [&](Var x, Var y) { return a(x, y) - source(x, y); });
  }
};

TEST_F(RecomputePoints, AreCopiedForEachReader) {
  EXPECT_EQ(recomputed(read_twice(p)), "p: in; a: p; p_of_b: in; b: a p_of_b");
}

TEST_F(RecomputePoints, OneReaderNeedsNoCopy) { EXPECT_EQ(recomputed(window("a", p)), "p: in; a: p"); }

TEST_F(RecomputePoints, OutputsAreStoredAnyway) {
  EXPECT_EQ(recomputed({read_twice(p), p}), "p: in; a: p; b: a p");
}

TEST_F(RecomputePoints, NotWhatTakesLong) {
  Stage slow = point("slow", sqrt(in) / 3.f);
  EXPECT_EQ(recomputed(read_twice(slow)), "slow: in; a: slow; b: a slow");
}

TEST_F(RecomputePoints, NotWhatReadsMoreThanItIs) {
  const Image<Vec<float, 3>> colours("colours", in.size());
  Stage sum = stage("sum", in.size(), [&](Var x, Var y) { return colours(x, y).lane(0) + in(x, y); });
  EXPECT_EQ(recomputed(read_twice(sum)), "sum: colours in; a: sum; b: a sum");
}

TEST_F(RecomputePoints, NotOfStages) {
  Stage w = window("w", p);
  Stage q = point("q", w + 1.f);
  EXPECT_EQ(recomputed(read_twice(q)), "p: in; w: p; q: w; a: q; b: a q");
}

}  // namespace
}  // namespace weft::recompute_points_test
