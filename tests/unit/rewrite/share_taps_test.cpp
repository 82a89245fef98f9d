#include "rewrite/share_taps.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/verify.h"
#include "stage_sources.h"

namespace weft::share_taps_test {
namespace {

class ShareTaps : public testing::Test {
 protected:
  using OfPixel = std::function<Expr(const Expr& pixel)>;

  /// The stages of the sum over a window of a function of each pixel, and what they read.
  std::string shared(const Domain& window, const OfPixel& value) const {
    const Stage total = stage("total", in.size(), [&](Var x, Var y) {
      return sum(window, [&](Tap t) { return value(src(x + t.x, y + t.y)); });
    });
    const ir::Pipeline pipeline = rewrite::share_taps(Pipeline("test", total).ir());
    ir::verify(pipeline, "share_taps");
    return stage_sources(pipeline);
  }

  const Image<float> in{"in"};
  const Accessor src = in.border(Border::clamp());
  const Domain nine{3, 3};
};

TEST_F(ShareTaps, FourOperationsAreAStage) {
  const OfPixel four = [](const Expr& p) { return (p * 2.f + 1.f) * (p - 3.f); };
  EXPECT_EQ(shared(nine, four), "total_tap: in; total: total_tap");
  EXPECT_EQ(shared(Domain(3, 1), four), "total: in") << "three taps";
}

TEST_F(ShareTaps, ThreeOperationsAreNot) {
  EXPECT_EQ(shared(nine, [](const Expr& p) { return (p * 2.f + 1.f) * p; }), "total: in");
}

TEST_F(ShareTaps, AFunctionThatTakesTensOfOperationsIs) {
  EXPECT_EQ(shared(nine, [](const Expr& p) { return log(p); }), "total_tap: in; total: total_tap");
  EXPECT_EQ(shared(nine, [](const Expr& p) { return pow(p, 0.3f); }), "total_tap: in; total: total_tap");
}

TEST_F(ShareTaps, AFunctionOfTwoPixelsIsNot) {
  const Stage total = stage("total", in.size(), [&](Var x, Var y) {
    return sum(nine, [&](Tap t) { return exp(src(x + t.x, y + t.y) - src(x, y)); });
  });
  EXPECT_EQ(stage_sources(rewrite::share_taps(Pipeline("test", total).ir())), "total: in");
}

}  // namespace
}  // namespace weft::share_taps_test
