#include "plan/row_places.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "pipelines.h"

namespace weft::schedule {
namespace {

/// Of the image "in", and of all stages but the last.
std::vector<int> places(const Outputs& outputs, Traversal traversal) {
  const ir::Pipeline pipeline = Pipeline("test", outputs).ir();
  const std::vector<StageReads> members = reads_of_stages(pipeline);
  const March march = march_of(members).march.value();
  return places_of_rows(members, march, passes_of(members, march), traversal);
}

Stage blurred(const std::string& name, const Stage& s, const Mask& mask) {
  return convolve(name, s.border(Border::clamp()), mask);
}

const Mask wide{{1.f, 1.f, 1.f}}, tall{{1.f}, {1.f}, {1.f}};
using Places = std::vector<int>;

TEST(RowPlaces, AreLeftToWhatIsComputedNext) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), tall);
  Stage b = blurred("b", a, tall), c = blurred("c", b, tall), d = blurred("d", c, tall);
  EXPECT_EQ(places({d}, Traversal::Static), (Places{0, 1, 0, 1}));
  EXPECT_EQ(places({d}, Traversal::March), (Places{0, 1, 2, 3})) << "rows are read again in the next step";
}

TEST(RowPlaces, OfRowsThatOneStepNeedsAreLeftWithinIt) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), wide);
  Stage b = blurred("b", a, wide), c = blurred("c", b, tall), d = blurred("d", c, wide);
  EXPECT_EQ(places({d}, Traversal::March), (Places{0, 2, 1, 0})) << "c is read in the step that computes it";
}

TEST(RowPlaces, AreKeptUntilTheLastReader) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), tall);
  Stage b = blurred("b", a, tall), c = blurred("c", b, tall);
  Stage d = stage("d", in.size(), [&](Var x, Var y) {
    return c.border(Border::clamp())(x, y - 1) + a.border(Border::clamp())(x + 1, y);
  });
  EXPECT_EQ(places({d}, Traversal::Static), (Places{0, 1, 0, 2}));
}

TEST(RowPlaces, AreOfOneType) {
  const Image<float> in("in");
  Stage a = convolve("a", in.border(Border::clamp()), tall);
  Stage b = stage("b", in.size(),
                  [&](Var x, Var y) { return cast<std::int32_t>(a.border(Border::clamp())(x, y - 1)); });
  Stage c = stage("c", in.size(), [&](Var x, Var y) { return b.border(Border::clamp())(x, y + 1) * 2; });
  Stage d = stage("d", in.size(), [&](Var x, Var y) { return c.border(Border::clamp())(x - 1, y); });
  EXPECT_EQ(places({d}, Traversal::Static), (Places{0, 1, 2, 3}));
}

}  // namespace
}  // namespace weft::schedule
