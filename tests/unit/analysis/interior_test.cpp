// The part of a stage's box where no read needs its border.
#include "analysis/interior.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft::analysis::interior_test {
namespace {

std::string spell(const std::vector<ir::Affine>& forms) {
  std::string text;
  for (const ir::Affine& form : forms) text += (text.empty() ? "" : ", ") + form.to_string();
  return text;
}

/// "[lower bounds .. upper bounds)".
std::string spell(const Bounds& bounds) {
  return "[" + spell(bounds.lower) + " .. " + spell(bounds.upper) + ")";
}

class Interiors : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Accessor clamped = in.border(Border::clamp()), framed = in.border(Border::constant(0.f));

  template <class F>
  Interior of(F f) {
    return interior_of(*stage("out", in.size(), f).node());
  }
  template <class F>
  std::string along_x(F f) {
    return spell(of(f).x);
  }
  /// Of the only read.
  template <class F>
  Access access(F f) {
    const auto reads = ir::reads(*stage("out", in.size(), f).node());
    EXPECT_EQ(reads.size(), 1u);
    return access_of(std::get<ir::Read>(reads.at(0)->op));
  }
};

TEST_F(Interiors, NoBorderNoBounds) {
  EXPECT_EQ(along_x([&](Var x, Var y) { return in(x, y); }), "[ .. )");
}

TEST_F(Interiors, OffsetsShiftTheBounds) {
  EXPECT_EQ(along_x([&](Var x, Var y) { return clamped(x - 2, y); }), "[2 .. in.w + 2)");
  EXPECT_EQ(along_x([&](Var x, Var y) { return clamped(x - 2, y) + clamped(x + 3, y + 9); }),
            "[2 .. in.w - 3)");
}

TEST_F(Interiors, OfSumsOfFloors) {  // x/2 - 1 where x is even, x/2 + 1 where it is odd
  const auto next = [&](Var x, Var y) { return clamped(2 * x - 1 - 3 * (x / 2), y); };
  EXPECT_EQ(access(next), Access::Direct);
  EXPECT_EQ(along_x(next), "[2 .. 2*in.w - 1)");
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(x - 3 * (x / 2), y); }), Access::Mapped) << "it falls";
  EXPECT_EQ(access([&](Var x, Var y) { return framed(x, 2 * y - 3 * (y / 2)); }), Access::Direct);
}

TEST_F(Interiors, WindowsCountToTheirEnds) {
  EXPECT_EQ(along_x([&](Var x, Var y) {
              return sum(Domain(5, 3), [&](Tap t) { return clamped(x + t.x, y + t.y); });
            }),
            "[2 .. in.w - 2)");
  EXPECT_EQ(along_x([&](Var x, Var y) {
              return sum(Domain(5, 3), [&](Tap t) { return clamped(x - 3 * t.x, y); });
            }),
            "[6 .. in.w - 6)");
}

TEST_F(Interiors, ScalesRoundInwards) {
  // 2x + 1 <= w - 1
  EXPECT_EQ(along_x([&](Var x, Var y) { return clamped(2 * x + 1, y); }), "[0 .. in.w/2)");
  // floor((x - 3)/2) >= 0 and < w
  EXPECT_EQ(along_x([&](Var x, Var y) { return clamped((x - 3) / 2, y); }), "[3 .. 2*in.w + 3)");
}

TEST_F(Interiors, RowsMatterForConstantBordersOnly) {
  const Interior clamping = of([&](Var x, Var y) { return clamped(x, y - 1) + clamped(x, y + 2); });
  EXPECT_EQ(spell(clamping.outer.at(0)), "[ .. )");
  const Interior framing = of([&](Var x, Var y) { return framed(x, y - 1) + framed(x, y + 2); });
  EXPECT_EQ(spell(framing.outer.at(0)), "[1 .. in.h - 2)");
}

TEST_F(Interiors, AccessesThatCannotBeDirect) {
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(x + 1, y); }), Access::Direct);
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(2 * x, y / 2); }), Access::Direct);
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(y, x); }), Access::Mapped);
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(x + y, y); }), Access::Direct);
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(in.width() - 1 - x, y); }), Access::Mapped);
  EXPECT_EQ(access([&](Var x, Var y) { return clamped(Expr(x) * 2, y); }), Access::Mapped);
}

}  // namespace
}  // namespace weft::analysis::interior_test
