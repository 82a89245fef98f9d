// Values that neighbouring pixels of a row share.
#include "analysis/shared_values.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft::analysis {
namespace {

class SharedValues : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Image<float> volume{"volume", Extents{90, 70, 12}};
  const Accessor cell = volume.border(Border::clamp());

  /// "12 planes: x/8 + 1, x/8 + 2", a line each.
  template <class F>
  std::string values(F body) {
    const Stage out = stage("out", in.size(), body);
    std::string text;
    for (const SharedValue& v : shared_values(ir::expressions(*out.node()), 2)) {
      text +=
          (text.empty() ? "" : "\n") + (v.planes ? std::to_string(v.plane_count()) + " planes:" : "columns:");
      for (const SharedUse& use : v.uses) text += " " + use.column.to_string();
    }
    return text;
  }
  Expr bin(Var x, Var y, int more = 0) const { return cast<int>(10.f * in(x, y)) + more; }
  Expr down(const Index& column, Var y, const Expr& plane) const {
    return lerp(cell(column, y / 8, plane), cell(column, y / 8 + 1, plane), cast<float>(y % 8) / 8.f);
  }
};

TEST_F(SharedValues, AreSharedByPixelsOfACell) {
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

TEST_F(SharedValues, AreFewerThanPixels) {
  EXPECT_EQ(values([&](Var x, Var y) { return down(x / 8, y, bin(x, y)); }), "") << "12 for 8 pixels";
  EXPECT_EQ(values([&](Var x, Var y) { return down(x, y, bin(x, y)) + down(x + 1, y, bin(x, y)); }), "");
}

TEST_F(SharedValues, AreSeveralReadsAtOnePlaceOfARow) {
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

TEST_F(SharedValues, AreOfColumnsThatNeighboursRead) {
  const auto rooted = [&](const Index& x, Var y) { return sqrt(in(x, y)) / (in(x, y) + 1.f); };
  EXPECT_EQ(values([&](Var x, Var y) { return rooted(x - 1, y) + 2.f * rooted(x, y) - rooted(x + 1, y); }),
            "columns: x - 1 x x + 1")
      << "products of one pixel each are in them";
  EXPECT_EQ(values([&](Var x, Var y) {
              return rooted(2 * x - 1, y) + rooted(2 * x, y) + rooted(2 * x + 1, y) + rooted(2 * x + 2, y);
            }),
            "columns: 2*x - 1 2*x 2*x + 1 2*x + 2");
  EXPECT_EQ(values([&](Var x, Var y) { return rooted(2 * x, y) + rooted(2 * x + 1, y); }), "")
      << "each of one pixel";
  EXPECT_EQ(values([&](Var x, Var y) { return in(x - 1, y) + 2.f * in(x, y) - in(x + 1, y); }), "")
      << "to load them is no work";
  EXPECT_EQ(values([&](Var x, Var y) { return rooted(x, y - 1) + rooted(x, y) + rooted(x, y + 1); }), "")
      << "of one column";
  EXPECT_EQ(values([&](Var x, Var y) {
              const auto by_place = [&](const Index& at) { return rooted(at, y) * cast<float>(x); };
              return by_place(x - 1) + by_place(x) + by_place(x + 1);
            }),
            "columns: x - 1 x x + 1")
      << "but for what depends on the pixel's place";
}

}  // namespace
}  // namespace weft::analysis
