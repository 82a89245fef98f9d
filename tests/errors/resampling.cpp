// Reads between the samples, images of another size, and pyramids.
#include "ir/interpret.h"
#include "tests/errors/expect_error.h"

using namespace weft;

TEST(Resampling, WithoutABorder) {
  Image<float> in("in");
  EXPECT_ERROR(Accessor(in).interpolate(Interpolation::Bicubic),
               R"(HERE: error: 'in' is interpolated without a border
  help: say what is outside: in.border(Border::clamp()) or another mode)");
  EXPECT_ERROR(resize("small", in, {10, 10}, Interpolation::Nearest),
               R"(HERE: error: 'in' is interpolated without a border
  help: say what is outside: in.border(Border::clamp()) or another mode)");
}

TEST(Resampling, RankOfTheSource) {
  Image<float> deep("deep", 4);
  EXPECT_ERROR(deep.border(Border::clamp()).interpolate(Interpolation::Bilinear),
               R"(HERE: error: 'deep' is 4-D and cannot be interpolated
  needs one to three dimensions)");
}

TEST(Resampling, RankOfTheCoordinates) {
  Image<float> in("in"), volume("volume", 3);
  const auto src = in.border(Border::clamp()).interpolate(Interpolation::Bilinear);
  EXPECT_ERROR(src(Expr(.5f)), R"(HERE: error: 'in' is interpolated at 1 coordinate
  needs 2, one per dimension)");
  const auto deep = volume.border(Border::clamp()).interpolate(Interpolation::Nearest);
  EXPECT_ERROR(deep(Expr(.5f), Expr(1)), R"(HERE: error: 'volume' is interpolated at 2 coordinates
  needs 3, one per dimension)");
}

TEST(Resampling, LanesOfACoordinate) {
  Image<float> in("in");
  Image<Vec<float, 2>> flow("flow", in.size());
  const auto src = in.border(Border::clamp()).interpolate(Interpolation::Bilinear);
  std::string here;
  EXPECT_ERROR(src(Expr(0), Expr(flow)), R"(HERE: error: 'in' is interpolated at a coordinate of type f32x2
  help: a coordinate is a scalar; take one lane of the pixel with .lane(i))");
}

TEST(Resampling, RankOfTheExtents) {
  Image<float> in("in");
  EXPECT_ERROR(resize("small", in.border(Border::clamp()), {10}, Interpolation::Bilinear),
               R"(HERE: error: stage 'small' resizes 'in' to 1 extents
  needs 2, one per dimension)");
}

namespace {

Stage reduced(const std::string& name, const Source& finer) {
  return reduce_level(name, finer.border(Border::mirror()));
}

Stage expanded(const std::string& name, const Source& level, const Source& coarser) {
  return expand_level(name, coarser.border(Border::mirror()), level.size());
}

void run(const Stage& stage, std::vector<std::int64_t> extents) {
  const Pipeline pipeline("p", stage);
  const Buffer image = Buffer::allocate(type_of<float>(), std::move(extents));
  ir::interpret(pipeline.ir(), {{{"in", image}}, {}});
}

}  // namespace

TEST(Pyramids, ImageTooSmall) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  const Pyramid g("g", in, 5, reduced);
  Stage out = g.collapse("out", expanded);
  run(out, {16, 16});
  EXPECT_ERROR_AT(here, run(out, {12, 40}),
                  R"(HERE: error: pyramid 'g' of 5 levels needs an image of at least 16x16, not 12x40
  empty stage 'g4'
  help: give a larger image, or build fewer levels)");
  EXPECT_ERROR_AT(here, Pipeline("p", out).compile()(Buffer::allocate(type_of<float>(), {16, 3})),
                  R"(HERE: error: pyramid 'g' of 5 levels needs an image of at least 16x16, not 16x3
  empty stage 'g2'
  help: give a larger image, or build fewer levels)");
}

TEST(Pyramids, ImageTooSmallForATraversal) {
  Image<float> in("in");
  const std::string here = NEXT_LINE();
  Stage out = traverse(in, 3, {.reduce = reduced, .filter = {}, .expand = expanded});
  run(out, {4, 4});
  EXPECT_ERROR_AT(here, run(out, {4, 3}),
                  R"(HERE: error: pyramid 'g' of 3 levels needs an image of at least 4x4, not 4x3
  empty stage 'g2'
  help: give a larger image, or build fewer levels)");
}

TEST(Pyramids, NumberOfLevels) {
  Image<float> in("in");
  EXPECT_ERROR(Pyramid("g", in, 0, reduced), R"(HERE: error: pyramid 'g' cannot have 0 levels
  needs 1 to 30)");
  EXPECT_ERROR(Pyramid("g", in, 31, reduced), R"(HERE: error: pyramid 'g' cannot have 31 levels
  needs 1 to 30)");
  const Pyramid g("g", in, 3, reduced);
  EXPECT_ERROR(g[3], R"(a pyramid of 3 levels has no level 3
  needs 0, the finest, to 2)");
}

TEST(Pyramids, OperationsOfALevel) {
  Image<float> in("in"), deep("deep", 4);
  EXPECT_ERROR(traverse(in, 2, {.reduce = reduced, .filter = {}, .expand = {}}),
               "HERE: error: a traversal needs the operations reduce and expand");
  EXPECT_ERROR(reduce_level("g1", in),
               R"(HERE: error: stage 'g1' reads its neighbour level 'in' without a border
  help: say what is outside: in.border(Border::mirror()) or another mode)");
  EXPECT_ERROR(reduce_level("g1", deep.border(Border::mirror())),
               R"(HERE: error: stage 'g1' is a level of a pyramid, but 'deep' is 4-D
  needs one to three dimensions)");
  EXPECT_ERROR(expand_level("up", in.border(Border::mirror()), {10}),
               R"(HERE: error: stage 'up' expands 'in' to 1 extents
  needs 2, one per dimension)");
}
