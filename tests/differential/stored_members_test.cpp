// Groups that store several of their stages: results that read one another, results that have only their sources in common,
// and stages that kernels after the group's read.
#include <gtest/gtest.h>

#include "tests/differential/tiles.h"
#include "tests/support/combinations.h"
#include "tests/support/differential.h"

namespace weft::testing_support {
namespace stored_members {

using Size = std::vector<std::int64_t>;

const std::vector<Size> sizes = {{1, 1}, {2, 1}, {1, 3}, {9, 7}, {40, 31}, {701, 45}, {30, 300}};

/// Of outputs whose stages are in these groups; whatever is in none is a kernel of its own.
void agree(const Outputs& outputs, const schedule::Groups& groups,
           const std::vector<Size>& of_sizes = sizes) {
  const Pipeline pipeline("stored", Outputs(outputs).strict());
  expect_agreement_on_noise(compiled_in_tiles(pipeline, groups), pipeline, of_sizes, 471);
}

class StoredMembers : public testing::TestWithParam<std::string> {};

TEST_P(StoredMembers, AreReadInWindows) {
  const Border border = Border::named(GetParam(), -7);
  const Image<float> in("in");
  Stage a = convolve("a", in.border(border), Mask{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}, {1.f, 2.f, 1.f}} / 16.f);
  Stage b = stage("b", in.size(), [&](Var x, Var y) {
    const Accessor of_a = a.border(border);
    return of_a(x - 2, y) + of_a(x, y + 2) - of_a(x + 1, y - 1);
  });
  Stage c = point("c", a - b);
  agree({a, b, c}, {{"a", "b", "c"}});
}

INSTANTIATE_TEST_SUITE_P(Borders, StoredMembers, testing::ValuesIn(border_modes()));

/// A kernel that comes after the group reads what it stores.
TEST(StoredMembersOfOneBorder, AreReadByOtherKernels) {
  const Image<Vec<std::uint8_t, 3>> in("in");
  Stage blurred = convolve("blurred", in.border(Border::repeat()), Mask{{1, 2, 1}});
  Stage edges = convolve("edges", blurred.border(Border::repeat()), Mask{{-1}, {0}, {1}});
  Stage later = convolve("later", blurred.border(Border::repeat()), Mask{{1}, {2}, {1}});
  agree({edges, later}, {{"blurred", "edges"}});
}

TEST(StoredMembersOfOneBorder, HaveTheirSourceInCommon) {
  const Image<std::int16_t> in("in");
  const Accessor src = in.border(Border::constant(-7));
  Stage right = stage("right", in.size(), [&](Var x, Var y) { return src(x + 3, y) - src(x, y); });
  Stage down = stage("down", in.size(), [&](Var x, Var y) { return pack(src(x, y + 2), src(x, y)); });
  Stage up = stage("up", in.size(), [&](Var x, Var y) { return cast<float>(src(x - 1, y - 3)); });
  agree({right, down, up}, {{"right", "down", "up"}});
}

/// The coarser image makes steps of two pixels of all three.
TEST(StoredMembersOfSteps, AreStoredToTheEnds) {
  const Image<float> in("in");
  const Accessor src = in.border(Border::clamp());
  Stage half = stage("half", {(in.width() + 1) / 2, (in.height() + 1) / 2},
                     [&](Var x, Var y) { return (src(2 * x, 2 * y) + src(2 * x + 1, 2 * y + 1)) / 2.f; });
  Stage up =
      stage("up", in.size(), [&](Var x, Var y) { return half.border(Border::clamp())((x + 1) / 2, y / 2); });
  Stage detail = point("detail", in - up);
  Stage sharp = point("sharp", in + 2.f * detail);
  agree({detail, sharp}, {{"half", "up", "detail", "sharp"}});
  agree({up, sharp}, {{"up", "detail", "sharp"}});
}

TEST(StoredMembersOfVolumes, AreStoredPlaneByPlane) {
  const Image<float> in("in", 3);
  const Accessor around = in.border(Border::mirror());
  Stage a = stage("a", in.size(), [&](Var x, Var y, Var z) {
    return around(x - 1, y, z) + around(x, y + 1, z) + around(x, y, z - 1);
  });
  Stage b = stage("b", in.size(), [&](Var x, Var y, Var z) {
    const Accessor of_a = a.border(Border::clamp());
    return of_a(x + 1, y, z) - of_a(x, y - 1, z + 1);
  });
  agree({a, b}, {{"a", "b"}}, {{1, 1, 1}, {3, 2, 5}, {40, 9, 7}, {300, 5, 31}, {9, 70, 9}});
}

/// The kernel of 'c' runs before that of 'b', which the pipeline has first.
TEST(StoredMembersOfLaterStages, ComeFirst) {
  const Image<float> in("in");
  Stage a = point("a", in * 2.f);
  Stage b = convolve("b", a.border(Border::clamp()), Mask{{1.f, 1.f, 1.f}});
  Stage c = convolve("c", a.border(Border::clamp()), Mask{{1.f}, {1.f}, {1.f}});
  agree({b, c}, {{"a", "c"}});
}

}  // namespace stored_members
}  // namespace weft::testing_support
