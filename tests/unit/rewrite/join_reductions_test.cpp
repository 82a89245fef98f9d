// Reductions of the same pixels that become one.
#include "rewrite/join_reductions.h"

#include <gtest/gtest.h>

#include <weft/weft.hpp>

#include "ir/print.h"
#include "ir/verify.h"
#include "stage_sources.h"

namespace weft::join_reductions_test {
namespace {

std::string stages(const Outputs& outputs) {
  const ir::Pipeline joined = rewrite::join_reductions(Pipeline("p", outputs).ir());
  ir::verify(joined, "join_reductions");
  return stage_sources(joined);
}

TEST(JoinReductions, OfOneImageAreOne) {
  const Image<float> in("in");
  const Stage least = reduce("least", in, Reduce::min());
  const Stage greatest = reduce("greatest", in * 2.f, Reduce::max());
  EXPECT_EQ(stages({point("out", (in - least) / (greatest - least))}),
            "least_and_greatest: in; out: in least_and_greatest");
}

TEST(JoinReductions, ThatAreOutputsAreTakenFromIt) {
  const Image<std::uint8_t> in("in");
  const Stage sum = reduce("sum", in, Reduce::sum());
  const Stage at = reduce("at", in, Reduce::arg_max());
  EXPECT_EQ(stages({sum, at}), "sum_and_at: in; sum: sum_and_at; at: sum_and_at");
}

TEST(JoinReductions, ThatNeedEachOtherStayApart) {
  const Image<float> in("in");
  const Stage mean = point("mean", reduce("sum", in, Reduce::sum()) / cast<float>(in.width() * in.height()));
  const Stage variance = reduce("variance", (in - mean) * (in - mean), Reduce::sum());
  EXPECT_EQ(stages({variance}), "sum: in; mean: sum; variance: in mean");
}

/// 'c' needs 'b', and 'd' needs 'a': the sets of a and c, and of b and d, would need each other.
TEST(JoinReductions, SetsDoNotNeedEachOther) {
  const Image<float> p("p"), q("q");
  const Stage a = reduce("a", p, Reduce::min()), b = reduce("b", q, Reduce::min());
  const Stage c = reduce("c", p * b, Reduce::max()), d = reduce("d", q * a, Reduce::max());
  EXPECT_EQ(stages({c, d}), "b: q; c_and_a: p b; c: c_and_a; d: q c_and_a");
}

TEST(JoinReductions, OfOtherPixelsOrTypesStayApart) {
  const Image<float> in("in"), other("other");
  const Stage least = reduce("least", in, Reduce::min());
  EXPECT_EQ(stages({least, reduce("of_other", other, Reduce::max())}), "least: in; of_other: other");
  EXPECT_EQ(stages({least, reduce("at", in, Reduce::arg_min())}), "least: in; at: in") << "f32 and i32";
  const auto corner = [&](Var x, Var y) { return in(x, y); };
  EXPECT_EQ(stages({least, reduce("of_corner", BoxAt{{0, 0}, {1, 1}}, corner, Reduce::max())}),
            "least: in; of_corner: in");
}

TEST(JoinReductions, HaveNoMoreThanFourLanes) {
  const Image<Vec<float, 3>> in("in");
  const Stage sum = reduce("sum", in, Reduce::sum()), least = reduce("least", in.lane(0), Reduce::min());
  const Stage greatest = reduce("greatest", in.lane(1), Reduce::max());
  EXPECT_EQ(stages({point("out", in - sum * least * greatest)}),
            "sum_and_least: in; greatest: in; out: in sum_and_least greatest");
}

}  // namespace
}  // namespace weft::join_reductions_test
