#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "analysis/footprint.h"

using namespace weft;
using namespace weft::analysis;

namespace {

/// "local; in 3x3 [-1, 1]x[-1, 1]; alu 18 sfu 0 loads 9"
std::string summary(const Stage& stage) {
  const StageSummary s = summarize(*stage.node());
  std::string text = name_of(s.pattern);
  for (const SourceSummary& source : s.sources) {
    text += "; " + source.name + " " + window(source.footprint) + " " + offsets(source.footprint);
  }
  return text + "; alu " + std::to_string(s.operations.alu) + " sfu " + std::to_string(s.operations.sfu) +
         " loads " + std::to_string(s.operations.loads);
}

const auto clamp_border = Border::clamp();

}  // namespace

TEST(Footprint, Point) {
  Image<float> in("in");
  EXPECT_EQ(summary(point("s", in * in + 1.f)), "point; in 1x1 [0, 0]x[0, 0]; alu 2 sfu 0 loads 1");
}

TEST(Footprint, Convolution) {
  Image<float> in("in");
  EXPECT_EQ(summary(convolve("s", in.border(clamp_border), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f)),
            "local; in 3x3 [-1, 1]x[-1, 1]; alu 18 sfu 0 loads 9");
  EXPECT_EQ(summary(convolve("s", in.border(clamp_border), Mask{{-1, 0, 1}})),
            "local; in 3x1 [-1, 1]x[0, 0]; alu 4 sfu 0 loads 2")
      << "zero coefficients cost nothing";
}

TEST(Footprint, ReadsOfOneSourceTogether) {
  Image<float> a("a"), b("b", a.size());
  EXPECT_EQ(summary(stage("s", a.size(),
                          [&](Var x, Var y) {
                            const auto src = a.border(clamp_border);
                            return src(x - 2, y) + src(x, y + 1) + b(x, y);
                          })),
            "local; a 3x2 [-2, 0]x[0, 1]; b 1x1 [0, 0]x[0, 0]; alu 2 sfu 0 loads 3");
}

TEST(Footprint, Scales) {
  Image<float> in("in");
  const auto src = in.border(clamp_border);
  EXPECT_EQ(
      summary(stage("s", in.size() / 2, [&](Var x, Var y) { return src(2 * x, y) + src(2 * x + 1, y); })),
      "scaled; in 2x1 2*x + [0, 1] x [0, 0]; alu 1 sfu 0 loads 2");
  EXPECT_EQ(summary(stage("s", in.size() * 2, [&](Var x, Var y) { return src(x / 2, (y + 1) / 2); })),
            "scaled; in 1x1 (x + [0, 0])/2 x (y + [1, 1])/2; alu 0 sfu 0 loads 1");
  EXPECT_EQ(summary(stage("s", in.size(), [&](Var x, Var y) { return src(in.width() - 1 - x, y); })),
            "scaled; in 1x1 in.w - x + [-1, -1] x [0, 0]; alu 0 sfu 0 loads 1");
  EXPECT_EQ(summary(stage("s", {in.height(), in.width()}, [&](Var x, Var y) { return src(y, x); })),
            "scaled; in 1x1 y + [0, 0] x x + [0, 0]; alu 0 sfu 0 loads 1");
}

TEST(Footprint, Gathers) {
  Image<std::uint8_t> in("in");
  Image<float> table("table", 1);
  EXPECT_EQ(
      summary(stage("s", in.size(), [&](Var x, Var y) { return table.border(clamp_border)(in(x, y) + 1); })),
      "gather; in 1x1 [0, 0]x[0, 0]; table ? ?; alu 1 sfu 0 loads 2");
  EXPECT_EQ(summary(stage("s", in.size(), [&](Var x, Var y) { return in.border(clamp_border)(x + y, y); })),
            "gather; in ?x1 ? x [0, 0]; alu 0 sfu 0 loads 1");
}

TEST(Footprint, BordersAreListedOnce) {
  Image<float> in("in");
  const StageSummary s = summarize(*stage("s", in.size(), [&](Var x, Var y) {
                                      const auto c = in.border(Border::clamp()),
                                                 m = in.border(Border::mirror());
                                      return c(x - 1, y) + c(x + 1, y) + m(x, y - 1) + in(x, y);
                                    }).node());
  EXPECT_EQ(s.sources.at(0).borders, (std::vector{ir::BorderMode::Clamp, ir::BorderMode::Mirror}));
  EXPECT_TRUE(s.sources[0].without_border);
  EXPECT_EQ(s.sources[0].reads, 4);
  EXPECT_EQ(s.box, "[in.w, in.h]");
}

TEST(Operations, BilateralFilter) {
  Image<float> in("in");
  const auto src = in.border(clamp_border);
  const Stage s = stage("s", in.size(), [&](Var x, Var y) {
    Accum<float> d = 0.f, p = 0.f;
    for_each(Domain(13, 13), [&](Tap t) {
      const Expr v = src(x + t.x, y + t.y), diff = v - src(x, y), w = exp(-0.5f * diff * diff);
      d += w;
      p += w * v;
    });
    return Expr(p) / Expr(d);
  });
  // Per tap: difference, two products, exp, two sums, one product; then one division.
  EXPECT_EQ(operations(*s.node()), (Operations{169 * 6, 169 + 1, 169 + 1}));
}

TEST(Operations, WhatDoesNotDependOnTheTapCountsOnce) {
  Image<float> in("in");
  const auto src = in.border(clamp_border);
  const Stage s = stage("s", in.size(), [&](Var x, Var y) {
    const Expr norm = sqrt(src(x, y) + 2.f);
    return sum(Domain(3, 1), [&](Tap t) { return src(x + t.x, y) * norm; });
  });
  EXPECT_EQ(operations(*s.node()), (Operations{1 + 3 * 2, 1, 1 + 3}));
}

TEST(Operations, LanesAndConstants) {
  Image<Vec<float, 3>> in("in");
  EXPECT_EQ(operations(*point("s", in * (Expr(2.f) * 3.f)).node()), (Operations{3, 0, 1}));
  Image<int> i("i");
  EXPECT_EQ(operations(*point("s", i / 3).node()), (Operations{1, 0, 1}))
      << "integers divide without the SFU";
}

TEST(Operations, OfAVolumeThatAreTheSameAlongY) {
  const Image<float> in("in"), planes("planes", 3);
  const auto src = in.border(clamp_border);
  const Stage s = stage("s", planes.size(), [&](Var x, Var y, Var z) {
    const Expr common = exp(src(x, z) * 2.f) + 1.f;  // a product, a sum, exp
    return common * planes(x, y, z) + cast<float>(y);
  });
  EXPECT_EQ(operations(*s.node()), (Operations{4, 1, 2}));
  EXPECT_EQ(operations_alike(*s.node(), 1), (Operations{2, 1, 1}));
  EXPECT_EQ(operations_alike(*s.node(), 0), (Operations{0, 0, 0}));
}

TEST(Operations, IndicesThatAreMirroredByRemaindersCountOnce) {
  const Image<float> in("in");
  const auto counted = [&](const Border& border) {
    const Stage s = stage("s", in.size(), [&](Var x, Var y) {
      const Expr there = cast<int>(in(x, y));
      return in.border(border)(there, y) + in.border(border)(there, y + 1);
    });
    return operations(*s.node());
  };
  EXPECT_EQ(counted(Border::clamp()), (Operations{1, 0, 3}));
  EXPECT_EQ(counted(Border::mirror()), (Operations{1 + of_remainder, 0, 3, 1}));
  EXPECT_EQ(counted(Border::repeat()), (Operations{1 + of_remainder, 0, 3, 1}));
}
