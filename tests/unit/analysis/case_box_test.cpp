// Conditions on coordinates, as boxes.
#include "analysis/case_box.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace weft::analysis {
namespace {

std::string spell(const std::vector<ir::Affine>& forms) {
  std::string text;
  for (const ir::Affine& form : forms) text += (text.empty() ? "" : ", ") + form.to_string();
  return text;
}

class CaseBoxes : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Index w = in.width(), h = in.height();

  /// "[lower .. upper) x [lower .. upper)", or "no box".
  template <class F>
  std::string box(F condition) {
    const Stage out = stage("out", in.size(), [&](Var x, Var y) {
      return cases().when(condition(Expr(x), Expr(y)), 1.f).otherwise(0.f);
    });
    const auto& first = std::get<ir::Pure>(out.node()->definition).cases[0];
    const auto found = box_where(first.when, 2);
    if (!found) return "no box";
    std::string text;
    for (const Bounds& b : *found)
      text += (text.empty() ? "[" : " x [") + spell(b.lower) + " .. " + spell(b.upper) + ")";
    return text;
  }
};

TEST_F(CaseBoxes, OrdersBoundCoordinates) {
  EXPECT_EQ(box([&](Expr x, Expr) { return x < 5; }), "[ .. 5) x [ .. )");
  EXPECT_EQ(box([&](Expr x, Expr) { return x <= 5; }), "[ .. 6) x [ .. )");
  EXPECT_EQ(box([&](Expr x, Expr) { return x > 5; }), "[6 .. ) x [ .. )");
  EXPECT_EQ(box([&](Expr, Expr y) { return y >= h - 2; }), "[ .. ) x [in.h - 2 .. )");
}

TEST_F(CaseBoxes, AllOfSeveral) {
  EXPECT_EQ(box([&](Expr x, Expr y) { return x >= 2 && y >= 3 && x < w - 2 && x < 100; }),
            "[2 .. in.w - 2, 100) x [3 .. )");
  EXPECT_EQ(box([&](Expr x, Expr) { return x < w / 2; }), "[ .. in.w/2) x [ .. )");
}

TEST_F(CaseBoxes, OthersAreNone) {
  EXPECT_EQ(box([&](Expr x, Expr) { return x == 5; }), "no box");
  EXPECT_EQ(box([&](Expr x, Expr) { return x % 2 == 0; }), "no box");
  EXPECT_EQ(box([&](Expr x, Expr y) { return x < 5 || y < 5; }), "no box");
  EXPECT_EQ(box([&](Expr x, Expr y) { return x + y < 5; }), "no box");
  EXPECT_EQ(box([&](Expr x, Expr) { return 2 * x < 5; }), "no box");
  EXPECT_EQ(box([&](Expr, Expr) { return Expr(w) > 5; }), "no box");
}

}  // namespace
}  // namespace weft::analysis
