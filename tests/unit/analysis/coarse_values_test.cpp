// Values that neighbouring pixels of a row share.
#include "analysis/coarse_values.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft::analysis {
namespace {

class CoarseValues : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Image<float> volume{"volume", Extents{90, 70, 12}};
  const Accessor cell = volume.border(Border::clamp());

  /// "12 planes: x/8 + 1, x/8 + 2", a line each.
  template <class F>
  std::string values(F body) {
    const Stage out = stage("out", in.size(), body);
    std::string text;
    for (const CoarseValue& v : coarse_values(ir::expressions(*out.node()), 2)) {
      text += (text.empty() ? "" : "\n") + std::to_string(v.plane_count()) + " planes:";
      for (const CoarseUse& use : v.uses) text += " " + use.column.to_string();
    }
    return text;
  }
  Expr bin(Var x, Var y, int more = 0) const { return cast<int>(10.f * in(x, y)) + more; }
  Expr down(const Index& column, Var y, const Expr& plane) const {
    return lerp(cell(column, y / 8, plane), cell(column, y / 8 + 1, plane), cast<float>(y % 8) / 8.f);
  }
};

TEST_F(CoarseValues, AreSharedByPixelsOfACell) {
  EXPECT_EQ(
      values([&](Var x, Var y) { return down(x / 8, y, bin(x, y)) + down(x / 8 + 1, y, bin(x, y, 1)); }),
      "12 planes: x/8 x/8 + 1");
  EXPECT_EQ(values([&](Var x, Var y) { return down(x / 16, y, bin(x, y)) * down(x / 16, y, bin(x, y, 1)); }),
            "12 planes: x/16 x/16");
  EXPECT_EQ(values([&](Var x, Var y) {
              return down(x / 8, y, bin(x, y)) + down(x / 8, y, bin(x, y, 1)) +
                     sqrt(down(x / 16, y, bin(x, y)));
            }),
            "12 planes: x/8 x/8\n12 planes: x/16");
}

TEST_F(CoarseValues, AreFewerThanPixels) {
  EXPECT_EQ(values([&](Var x, Var y) { return down(x / 8, y, bin(x, y)); }), "") << "12 for 8 pixels";
  EXPECT_EQ(values([&](Var x, Var y) { return down(x, y, bin(x, y)) + down(x + 1, y, bin(x, y)); }), "");
}

TEST_F(CoarseValues, AreSeveralReadsAtOnePlaceOfARow) {
  EXPECT_EQ(values([&](Var x, Var y) { return cell(x / 16, y / 16, bin(x, y)); }), "")
      << "one read is no work";
  EXPECT_EQ(values([&](Var x, Var y) {
              return cell(x / 16, y / 8, bin(x, y)) + cell(x / 16, y / 8, bin(x, y, 1));
            }),
            "")
      << "of two planes";
  EXPECT_EQ(values([&](Var x, Var y) {
              return cell(x / 16, y / 8, bin(x, y)) + cell(x / 16 + 1, y / 8, bin(x, y));
            }),
            "")
      << "of two columns";
  EXPECT_EQ(values([&](Var x, Var y) {
              return cell(x / 16, y / 8, bin(x, y)) * cast<float>(x % 16) +
                     cell(x / 16, y / 8 + 1, bin(x, y));
            }),
            "")
      << "other for each pixel";
  EXPECT_EQ(values([&](Var x, Var y) {
              return cell(x / 16, cast<int>(in(x, y)), 3) + cell(x / 16, cast<int>(in(x, y)), 4);
            }),
            "")
      << "of 70 rows";
}

}  // namespace
}  // namespace weft::analysis
