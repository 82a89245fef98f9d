// How scatters are divided where places move with the points.
#include "analysis/bands.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace weft::analysis {
namespace {

class BandsOfScatters : public testing::Test {
 protected:
  const Image<std::uint8_t> in{"in"};
  const Index w = in.width(), h = in.height();

  /// "y by y: y/8", or why there are none.
  static std::string bands(const Stage& stage) {
    const BandsOrWhy found = bands_of(*stage.node());
    if (!found.bands) return found.why;
    std::string text = ir::dim_name(found.bands->dim) + " by " + ir::dim_name(found.bands->along) + ":";
    for (const ir::Affine& index : found.bands->indices) text += " " + index.to_string();
    return text;
  }
  template <class F>
  std::string bands(const Extents& extents, F updates) {
    return bands(scatter("out", extents, 0, in, updates));
  }
};

TEST_F(BandsOfScatters, FollowTheOutermostCoordinateThatMovesThem) {
  EXPECT_EQ(bands({w / 8 + 1, h / 8 + 1, 16},
                  [&](Var x, Var y) {
                    return add({x / 8, y / 8, in(x, y)}, 1);
                  }),
            "y by y: y/8");
  EXPECT_EQ(bands({h, w}, [&](Var x, Var y) { return add({y, x}, 1); }), "x by y: y");
  EXPECT_EQ(bands({w, 64}, [&](Var x, Var y) { return add({x, in(x, y) / 4}, 1); }), "x by x: x");
  EXPECT_EQ(bands({256, 2 * h},
                  [&](Var x, Var y) {
                    return add({in(x, y), 2 * h - 1 - 2 * y}, 1);
                  }),
            "y by y: 2*in.h - 2*y - 1");
}

TEST_F(BandsOfScatters, TakeSeveralUpdatesAndWhatIsOutside) {
  EXPECT_EQ(bands({w, h},
                  [&](Var x, Var y) {
                    return ScatterUpdates{add({x, y}, 1), add({x, y + 1}, 1), add({x, y}, in(x, y))};
                  }),
            "y by y: y y + 1");
  const auto edges = [&](int other) {
    return bands({w, h / 8 + 1}, [&](Var x, Var y) {
      return add({x, select(y % 8 == 0, Expr(y / 8), Expr(Index(other)))}, 1);
    });
  };
  EXPECT_EQ(edges(-1), "y by y: y/8");
  EXPECT_EQ(edges(0), "x by x: x") << "many rows lead to row 0";
}

TEST_F(BandsOfScatters, AreNoneOtherwise) {
  const std::string none = "no index moves with one coordinate of the points";
  EXPECT_EQ(bands({256, 64}, [&](Var x, Var y) { return add({in(x, y), x % 64}, 1); }), none);
  EXPECT_EQ(bands({w + h, 9}, [&](Var x, Var y) { return add({x + y, 3}, 1); }), none);
  EXPECT_EQ(bands({w, h}, [&](Var x, Var) { return add({x % 100, h / 2}, 1); }), none);
  EXPECT_EQ(bands({w, h},
                  [&](Var x, Var y) {
                    return ScatterUpdates{add({x, y}, 1), add({y, x}, 1)};
                  }),
            none);
  EXPECT_EQ(bands({256, 15, 2},
                  [&](Var x, Var y) {
                    return add({in(x, y), y / 1000, x % 2}, 1);
                  }),
            "an index that moves with the points has less than 16 values");
  const std::string few = "it has few pixels for so many points";
  EXPECT_EQ(bands({256}, [&](Var x, Var y) { return add({in(x, y)}, 1); }), few);
  EXPECT_EQ(bands({w}, [&](Var x, Var y) { return add({x}, in(x, y)); }), few);
}

/// "y by y: y/8, x by x: x/8; 16 pixels, 64 points", or why there are none.
std::string columns(const Stage& stage) {
  const ColumnsOrWhy found = columns_of(*stage.node(), 192);
  if (!found.columns) return found.why;
  std::string text;
  for (const Bands& bands : found.columns->across)
    text += ir::dim_name(bands.dim) + " by " + ir::dim_name(bands.along) + ": " +
            bands.indices.at(0).to_string() + ", ";
  return text + std::to_string(found.columns->pixels) + " of " + std::to_string(found.columns->points);
}

TEST(ColumnsOfScatters, FollowAllCoordinates) {
  const Image<std::uint8_t> in("in");
  const Index w = in.width(), h = in.height();
  const auto of = [&](const Extents& extents, auto updates) {
    return columns(scatter("out", extents, 0, in, updates));
  };
  EXPECT_EQ(of({w / 8 + 1, h / 8 + 1, 16},
               [&](Var x, Var y) {
                 return add({x / 8, (y + 3) / 8, in(x, y)}, 1);
               }),
            "x by x: x/8, y by y: (y + 3)/8, 16 of 64");
  EXPECT_EQ(of({4, 3, h, w},
               [&](Var x, Var y) {
                 return add({in(x, y), 1, h - 1 - y, 2 * x / 3}, 1);
               }),
            "z by y: in.h - y - 1, w by x: (2*x)/3, 12 of 2");
}

TEST(ColumnsOfScatters, AreNoneOtherwise) {
  const Image<std::uint8_t> in("in");
  const Index w = in.width(), h = in.height();
  const auto of = [&](const Extents& extents, auto updates) {
    return columns(scatter("out", extents, 0, in, updates));
  };
  EXPECT_EQ(of({w, 256},
               [&](Var x, Var y) {
                 return add({x, in(x, y)}, 1);
               }),
            "what goes with one place is more than 192 bytes");
  EXPECT_EQ(of({w, 9},
               [&](Var x, Var y) {
                 return add({x, in(x, y)}, 1);
               }),
            "points of any y go to the same place");
  EXPECT_EQ(of({w, h},
               [&](Var x, Var y) {
                 return add({x, x + y}, 1);
               }),
            "its y is neither short nor follows one coordinate of the points");
  EXPECT_EQ(of({w, h},
               [&](Var x, Var y) {
                 return ScatterUpdates{add({x, y}, 1), add({x, y + 1}, 1)};
               }),
            "its y is neither short nor follows one coordinate of the points");
  EXPECT_EQ(of({w / 64 + 1, h / 64 + 1},
               [&](Var x, Var y) {
                 return add({x / 64, y / 64}, 1);
               }),
            "more than 256 points go to the same place");
  EXPECT_EQ(of({w / 128 + 1, h + 1},
               [&](Var x, Var y) {
                 return add({x / 128, y}, 1);
               }),
            "x by x: x/128, y by y: y, 1 of 128");
  EXPECT_EQ(of({w / 256 + 1, 9},
               [&](Var x, Var y) {
                 return add({x / 256, 8}, 1);
               }),
            "points of any y go to the same place");
  EXPECT_EQ(of({w / 256 + 1, h / 2},
               [&](Var x, Var y) {
                 return add({x / 256, y / 2}, 1);
               }),
            "more than 256 points go to the same place");
  EXPECT_EQ(of({w / 16 + 1, h / 16 + 1, 8},
               [&](Var x, Var y) {
                 return add({x / 16, y / 16, 0}, 1);
               }),
            "x by x: x/16, y by y: y/16, 8 of 256");
  EXPECT_EQ(columns(scatter("out", {w}, 0, Extents{w}, [&](Var x) { return add({x}, 1); })),
            "it has less than 4096 places for threads");
}

}  // namespace
}  // namespace weft::analysis
