#include "rewrite/flat_lanes.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "analysis/separable.h"
#include "ir/visit.h"

namespace weft::flat_lanes_test {
namespace {

using Rgb = Vec<std::uint8_t, 3>;

std::optional<rewrite::FlatLanes> flat(const Stage& stage) { return rewrite::flat_lanes(*stage.node()); }

TEST(FlatLanes, AreARowOfScalars) {
  Image<Rgb> in("in");
  const auto result =
      flat(stage("s", in.size(), [&](Var x, Var y) { return in.border(Border::clamp())(x - 2, y + 1); }));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stage.type, (Type{Scalar::U8, 1}));
  const auto reads = ir::reads(result->stage);
  ASSERT_EQ(reads.size(), 1u);
  const auto& read = std::get<ir::Read>(reads[0]->op);
  const ir::Affine x{ir::Atom(ir::Coord{0})}, y{ir::Atom(ir::Coord{1})};
  EXPECT_EQ(std::get<ir::Affine>(read.indices[0]), x + -6);
  EXPECT_EQ(std::get<ir::Affine>(read.indices[1]), y + 1);
  EXPECT_EQ(read.source, result->views.at(in.node().get()));
  EXPECT_EQ(read.source->box[0].extent, in.node()->box[0].extent * 3);
}

TEST(FlatLanes, KeepWindowsSeparable) {
  Image<Rgb> in("in");
  const auto result = flat(convolve("s", in.border(Border::clamp()), Mask::outer({1, 2, 1}, {1, 2, 1})));
  ASSERT_TRUE(result);
  int found = 0;
  ir::visit(ir::expressions(result->stage), [&](const ir::Expr& e) {
    const auto* fold = std::get_if<ir::FoldResult>(&e->op);
    if (!fold) return;
    const auto separable = analysis::as_separable(*fold->fold, false);
    ASSERT_TRUE(separable);
    EXPECT_EQ(separable->stride, 3);
    ++found;
  });
  EXPECT_EQ(found, 1);
}

TEST(FlatLanes, NeedLanesThatAreTreatedAlike) {
  Image<Rgb> in("in");
  Image<std::uint8_t> grey("grey");
  const auto of = [&](const auto& pixel) { return flat(stage("s", in.size(), pixel)).has_value(); };
  EXPECT_TRUE(of([&](Var x, Var y) { return in(x, y) / 2 + cast<int>(y); }));
  EXPECT_FALSE(of([&](Var x, Var y) { return in(x, y) / 2 + cast<int>(x); }))
      << "x differs from lane to lane";
  EXPECT_FALSE(of([&](Var x, Var y) { return in(x, y).lane(0); })) << "one lane";
  EXPECT_FALSE(of([&](Var x, Var y) { return pack(in(x, y).lane(2), in(x, y).lane(1), in(x, y).lane(0)); }));
  EXPECT_FALSE(of([&](Var x, Var y) { return in(x, y) * pack(1, 2, 3); }))
      << "a constant of its own for each";
  EXPECT_FALSE(of([&](Var x, Var y) { return in(x, y) + grey.border(Border::clamp())(x, y); }))
      << "one for three";
  EXPECT_FALSE(of([&](Var x, Var y) { return in.border(Border::clamp())(2 * x, y); }))
      << "another step along x";
}

}  // namespace
}  // namespace weft::flat_lanes_test
