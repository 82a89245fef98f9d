// Volumes that warps go through plane by plane, on the SIMT checker: lanes of several pixels and rows, in tiles
// inside a volume, at each of its ends, and beyond all of them; every border of what is read and of what is computed.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/combinations.h"
#include "tests/support/differential.h"
#include "tools/simt_program.h"

namespace weft::testing_support::volumes_test {
namespace {

using Size = std::vector<std::int64_t>;

/// Smaller than windows; of several tiles in each direction, some of them inside; and with ends of rows within lanes.
const std::vector<Size> sizes = {{1, 1, 1}, {3, 3, 5}, {9, 7, 30}, {272, 19, 21}, {273, 18, 12}};

struct LaneOfVolume {
  int pixels, lines;
};

/// The kernel of 'c' with all other stages, by warps.
std::string in_lanes(const std::string& stages, const LaneOfVolume& lane) {
  return fmt::format(
      R"({{"groups": [[{}]], "kernels": {{"c": {{"levels": [{{"kind": "grid", "extent": ["all", {}, "all"]}}, )"
      R"({{"kind": "warp"}}, {{"kind": "lane", "extent": [{}]}}]}}}}}})",
      stages, lane.lines, lane.pixels);
}

void agree(const Pipeline& pipeline, const std::vector<std::string>& schedules) {
  for (const simt::Build build : {simt::Build::race, simt::Build::address}) {
    const std::vector<Program> programs = tools::simt_programs(std::vector(schedules.size(), pipeline),
                                                               {build, simt::quick_flags(build)}, schedules);
    expect_agreement_on_noise(programs, pipeline, sizes, 17);
  }
}

void agree(const Outputs& outputs, const std::string& stages, const std::vector<LaneOfVolume>& lanes) {
  std::vector<std::string> schedules;
  for (const LaneOfVolume& lane : lanes) schedules.push_back(in_lanes(stages, lane));
  agree(Pipeline("volume", Outputs(outputs).strict()), schedules);
}

/// A thread has a pixel of each plane, which have the image's pixel in common (KernelPlan::has_planes_of_threads).
TEST(PlanesOfThreads, HavePixelsOfAnImageInCommon) {
  const Image<std::uint8_t> in("in");
  const Image<std::int32_t> table("table", 1);
  const Accessor src = in.border(Border::mirror());
  const Stage planes = stage("planes", {(in.width() + 1) / 2, in.height(), 5}, [&](Var x, Var y, Var z) {
    const Accessor of_table = table.border(Border::repeat());
    const Expr left = cast<int>(src(2 * x - 1, y)), right = cast<int>(src(2 * x + 1, y));
    return of_table(left - 7 * z) - of_table(right + z);
  });
  const Pipeline pipeline("planes", Outputs(planes).strict());
  for (const simt::Build build : {simt::Build::race, simt::Build::address}) {
    const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build)});
    for (const Size& extents : {Size{1, 1}, Size{7, 5}, Size{131, 9}}) {
      const std::map<std::string, Buffer> images{{"in", noise(in.type(), extents, 3)},
                                                 {"table", noise(table.type(), {50}, 4)}};
      expect_agreement(program, pipeline, {images, {}, {}});
    }
  }
}

/// A thread has several pixels of each plane, and reads planes above and below them.
TEST(PlanesOfThreads, AreReadAcross) {
  const Image<Vec<std::int32_t, 2>> in("in", 3);
  for (const char* mode : {"clamp", "mirror", "repeat", "constant"}) {
    SCOPED_TRACE(mode);
    const Accessor src = in.border(Border::named(mode, -7));
    const Stage out = stage("out", {in.width(), in.height(), 6}, [&](Var x, Var y, Var z) {
      return src(x, y, z - 2) - src(x, y, z) * 3 + src(x, y, z + 1);
    });
    const Pipeline pipeline("planes", Outputs(out).strict());
    for (const simt::Build build : {simt::Build::race, simt::Build::address}) {
      const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build)});
      for (const Size& extents : {Size{1, 1, 1}, Size{7, 5, 6}, Size{131, 9, 3}})
        expect_agreement(program, pipeline, {{{"in", noise(in.type(), extents, 3)}}, {}, {}});
    }
  }
}

class VolumesOfWarps : public testing::TestWithParam<std::string> {
 protected:
  Border border() const { return Border::named(GetParam(), -7); }
};

TEST_P(VolumesOfWarps, WindowsOfWindows) {
  const Image<std::int32_t> in("in", 3);
  const Accessor src = in.border(border());
  Stage a = stage("a", in.size(), [&](Var x, Var y, Var z) {
    return src(x - 1, y, z) + src(x, y + 1, z) - src(x, y - 2, z) + src(x, y, z - 1) + src(x + 1, y, z + 1);
  });
  Stage c = stage("c", in.size(), [&](Var x, Var y, Var z) {
    const Accessor of_a = a.border(Border::named(GetParam() == "repeat" ? "clamp" : GetParam(), 3));
    return of_a(x, y - 1, z - 1) - of_a(x + 2, y + 1, z + 1) * 3 + in(x, y, z) - a(x, y, z);
  });
  agree({c}, R"("a", "c")", {{4, 1}, {2, 3}, {1, 5}});
}

// Of the two the image that is read at each pixel is not kept, also where the pixel is beyond the ends.
TEST_P(VolumesOfWarps, OfPixelsOfTwoLanesBesideAnImageThatIsReadAtThePixel) {
  const Image<Vec<std::int16_t, 2>> in("in", 3);
  const Image<Vec<std::int16_t, 2>> other("other", in.size());
  const Accessor src = in.border(border());
  Stage a = stage("a", in.size(),
                  [&](Var x, Var y, Var z) { return src(x, y - 1, z) + src(x - 1, y, z) - other(x, y, z); });
  Stage c = stage("c", in.size(), [&](Var x, Var y, Var z) {
    const Accessor of_a = a.border(Border::mirror101());
    return of_a(x, y + 1, z) - of_a(x, y - 1, z) + of_a(x + 1, y, z - 1) + other(x, y, z);
  });
  agree({c}, R"("a", "c")", {{4, 1}, {2, 2}});
}

// Those that find pixels outside in different ways.
INSTANTIATE_TEST_SUITE_P(Borders, VolumesOfWarps, testing::Values("mirror", "repeat", "constant"),
                         [](const auto& mode) { return mode.param; });

// The last of a step's stages stores its own pixels, and so does the other.
TEST(VolumesOfWarps, StepsOfTwoFields) {
  const Image<float> in("in", 3), other("other", in.size());
  const Param<int> steps("steps", 2);
  const Field<float> u("u", in), v("v", other);
  const std::vector<Stage> after = evolve(
      steps,
      {update("first", u,
              [&](Var x, Var y, Var z) { return u(x, y, z) - .5f * (v(x, y, z + 1) - v(x, y - 1, z)); }),
       update("c", v, [&](Var x, Var y, Var z) {
         return v(x, y, z) + .25f * (u.now()(x, y, z) - u.now()(x - 1, y, z - 1));
       })});
  const Pipeline pipeline("fields", Outputs({after[0], after[1]}).strict());
  agree(pipeline, {R"({"groups": [], "kernels": {"first": {"steps": 2, "levels": [{"kind": "grid", )"
                   R"("extent": ["all", 2, "all"]}, {"kind": "warp"}]}}})"});
}

TEST(VolumesOfWarps, OfPartOfABox) {
  const Image<float> in("in", 3);
  const Extents size = in.size();
  Stage c = stage("c", {size[0], size[1] / 2, size[2] / 2 + 1}, [&](Var x, Var y, Var z) {
    const Accessor src = in.border(Border::constant(2.f));
    return src(x, y + 1, z) + src(x + 2, y, z) * 3.f - src(x + 1, y + 2, z + 1);
  });
  agree({c}, R"("c")", {{4, 2}, {2, 3}});
}

TEST(VolumesOfWarps, OfWindowsThatAreLoops) {
  const Image<std::int32_t> in("in", 3);
  const Accessor src = in.border(Border::clamp());
  Stage c = stage("c", in.size(), [&](Var x, Var y, Var z) {
    return sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y, z) * (t.x + 2); }) - src(x, y, z - 2);
  });
  agree({c}, R"("c")", {{4, 2}, {1, 3}});
}

}  // namespace
}  // namespace weft::testing_support::volumes_test
