// Values that neighbouring pixels share, which a core computes once for a row: every pixel, images with none that have
// them among them.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

/// Without fusion, and as the compiler chooses: rows of 1, 2 and more strips.
void expect_agreement_everywhere(const Pipeline& pipeline, Type type) {
  std::vector<Program> programs;
  for (const Tile tile : {Tile::None, Tile::Auto}) {
    CompileOptions options = compile_options();
    options.tile = tile;
    programs.push_back(pipeline.compile(options));
  }
  for (const std::vector<std::int64_t>& size :
       std::vector<std::vector<std::int64_t>>{{1, 1}, {2, 3}, {7, 5}, {66, 9}, {1027, 2}, {4111, 1}})
    expect_agreement(programs, pipeline, {{{"in", noise(type, size, 11)}}, {}, {}});
}

TEST(SharedValues, OfEachColumn) {
  for (const Border border : {Border::clamp(), Border::mirror(), Border::repeat(), Border::constant(.25f)}) {
    const Image<float> in("in");
    const Accessor at = in.border(border);
    const auto bright = [&](const Index& x, const Index& y) {
      const Expr v = at(x, y), below = at(x, y + 1);
      return sqrt(abs(v * below) + .5f) / (abs(v) + 1.f);
    };
    const Stage out = stage("out", in.size(), [&](Var x, Var y) {
      return bright(x - 2, y) - 2.f * bright(x - 1, y) + 3.f * bright(x, y) - 4.f * bright(x + 3, y);
    });
    expect_agreement_everywhere(Pipeline("columns", Outputs(out).strict()), type_of<float>());
  }
}

TEST(SharedValues, OfTwoColumnsForAPixel) {
  const Image<Vec<std::uint8_t, 3>> in("in");
  const Accessor at = in.border(Border::clamp());
  const Stage curve =
      stage("curve", BoxAt{{-20}, {300}}, [](Var v) { return cast<std::int32_t>(v * v - 3 * v); });
  const Accessor lookup = curve.border(Border::clamp());
  const auto curved = [&](const Index& x, const Index& y) {
    const Expr pixel = at(x, y);
    const Expr place = cast<int>(pixel.lane(0)) + cast<int>(pixel.lane(1)) - cast<int>(pixel.lane(2));
    return lookup(place) - lookup(-place);
  };
  const Stage half = stage("half", {(in.width() + 1) / 2, in.height()}, [&](Var x, Var y) {
    return curved(2 * x - 1, y) + 3 * (curved(2 * x, y) + curved(2 * x + 1, y)) + curved(2 * x + 2, y);
  });
  expect_agreement_everywhere(Pipeline("halves", half), type_of<Vec<std::uint8_t, 3>>());
}

TEST(SharedValues, OfSeveralLanes) {
  const Image<Vec<float, 2>> in("in");
  const Accessor at = in.border(Border::mirror101());
  const auto spread = [&](const Index& x, const Index& y) {
    const Expr v = at(x, y);
    return v / (abs(v) + 1.f) - sqrt(abs(v));
  };
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return spread(x - 1, y) * spread(x + 1, y) + spread(x, y) * .5f;
  });
  expect_agreement_everywhere(Pipeline("lanes", Outputs(out).strict()), type_of<Vec<float, 2>>());
}

/// Slices of a volume at computed planes, by a factor at a place that is computed from the row.
TEST(SharedValues, OfPlanesWithWhatARowHasInCommon) {
  const Image<float> in("in");
  const Stage volume = stage("volume", {(in.width() + 7) / 8 + 1, in.height(), 4},
                             [](Var x, Var y, Var z) { return cast<float>(x * 3 + y * 5 + z * 11); });
  const Stage factors = stage("factors", Extents{7}, [](Var v) { return cast<float>(v * v + 1); });
  const Accessor cell = volume.border(Border::clamp()), factor = factors.border(Border::clamp());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    const Expr plane = cast<int>(abs(in(x, y)) * 4.f), of_row = factor(cast<int>(y) % 5);
    const auto slice = [&](const Index& column, const Expr& z) {
      return (cell(column, y, z) + cell(column, y + 1, z)) * of_row;
    };
    return slice(x / 8, plane) + slice(x / 8 + 1, plane) -
           slice(x / 8, plane + 1) * slice(x / 8 + 1, plane + 1);
  });
  expect_agreement_everywhere(Pipeline("slices", Outputs(out).strict()), type_of<float>());
}

/// Planes that vectors pick by permuting, and one more than that; columns of 8 and 16 pixels that do not begin at the first
/// pixel; pixels of several lanes.
TEST(SharedValues, OfAsManyPlanesAsVectorsPermute) {
  const auto volume_of = [](const Image<float>& in, int planes, auto value) {
    return stage("volume", {in.width() / 8 + 4, in.height() + 1, planes}, value);
  };
  const auto agree = [&](int planes, int pixels, int first, auto value) {
    const Image<float> in("in");
    const Stage volume = volume_of(in, planes, value);
    const Accessor cell = volume.border(Border::clamp());
    const Stage out = stage("out", in.size(), [&](Var x, Var y) {
      const Expr plane = cast<int>(in(x, y) * 9.f);  // below 0 and beyond the last, too
      const auto slice = [&](const Index& column, const Expr& z) {
        return cell(column, y, z) - cell(column, y + 1, z) * .5f;
      };
      const Index column = (x + first) / pixels;
      return slice(column + 1, plane) + slice(column, plane) * slice(column + 2, plane - 1) -
             slice(column + 1, plane - 1);
    });
    expect_agreement_everywhere(Pipeline("planes", Outputs(out).strict()), type_of<float>());
  };
  const auto one = [](Var x, Var y, Var z) { return cast<float>(x * 3 + y * 5 + z * 11); };
  const auto two = [](Var x, Var y, Var z) {
    return pack({cast<float>(x * 3 + y * 5), cast<float>(y * 7 - z * 11)});
  };
  const auto three = [](Var x, Var y, Var z) {
    return pack({cast<float>(x - z), cast<float>(y * 7 - z * 11), cast<float>(z * z + x)});
  };
  agree(1, 8, 0, one);
  agree(5, 8, 3, two);
  agree(16, 8, 7, three);
  agree(17, 8, 4, two);
  agree(12, 16, 5, one);
  agree(16, 16, 8, two);
}

/// Places that 32 bits hold, and such that they do not.
TEST(SharedValues, PlacesBeyondATableAreItsEnds) {
  const Image<std::int32_t> in("in");
  const Stage table = stage("table", BoxAt{{-7}, {40}}, [](Var v) { return cast<std::int32_t>(v * 5 - 2); });
  const Accessor lookup = table.border(Border::clamp());
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return lookup(in(x, y)) - lookup(in(x, y) / 100000000) + lookup(in(x, y) % 50 - 25);
  });
  expect_agreement_everywhere(Pipeline("places", out), type_of<std::int32_t>());
}

}  // namespace
}  // namespace weft::testing_support
