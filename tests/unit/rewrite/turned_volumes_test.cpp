#include "rewrite/turned_volumes.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <set>
#include <string>

#include "ir/interpret.h"
#include "tests/support/compare.h"
#include "tests/support/images.h"

namespace weft::turned_volumes_test {
namespace {

class TurnedVolumes : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Extents size{in.width(), in.height(), 4};

  /// A volume that reads no other.
  Stage volume(const std::string& name = "volume") const {
    return stage(name, size, [&](Var x, Var y, Var z) {
      return in(x, y) * cast<float>(z + 1) - cast<float>(y * 10 + x);
    });
  }
  /// Rows of each plane become one.
  static Stage halved(const std::string& name, const Source& from, const Extents& size) {
    const Accessor rows = from.border(Border::mirror());
    return stage(name, {size[0], (size[1] + 1) / 2, size[2]},
                 [&](Var x, Var y, Var z) { return rows(x, 2 * y, z) - rows(x, 2 * y + 1, z); });
  }
  /// A picture of a plane for each pixel.
  Stage picked(const Stage& from) const {
    const Accessor volume = from.border(Border::clamp());
    return stage("picked", in.size(),
                 [&](Var x, Var y) { return volume(x, y / 2, cast<int>(in(x, y)) % 4) - volume(x, y, 3); });
  }

  /// The names of the volumes that are turned, such as {"volume", "half"}. Expects the pixels of the original pipeline.
  static std::set<std::string> turned(const Outputs& outputs) {
    const Pipeline pipeline("p", outputs);
    const ir::Pipeline after = rewrite::turned_volumes(pipeline.ir());
    const ir::Bindings images{{{"in", testing_support::noise(type_of<float>(), {9, 5}, 1)}}, {}};
    const auto expected = ir::interpret(pipeline.ir(), images), got = ir::interpret(after, images);
    for (const auto& [name, image] : expected)
      EXPECT_EQ(testing_support::difference(image, got.at(name)), "") << name;
    std::set<std::string> names;
    for (std::size_t s = 0; s < after.stages.size(); ++s) {
      if (after.stages[s]->box != pipeline.ir().stages[s]->box) names.insert(after.stages[s]->name);
    }
    return names;
  }
};

TEST_F(TurnedVolumes, AreThoseWhoseRowsAloneMeet) {
  const Stage v = volume();
  EXPECT_EQ(turned(picked(halved("half", v, size))), (std::set<std::string>{"volume", "half"}));
  EXPECT_EQ(turned(picked(v)), std::set<std::string>()) << "no pixel reads another row";
}

TEST_F(TurnedVolumes, WithAllThatTheyAreReadBy) {
  const Stage v = volume(), half = halved("half", v, size);
  const Stage points = point("points", half * half);
  const Stage least = reduce("least", points, Reduce::min());
  EXPECT_EQ(turned({picked(points), least}), (std::set<std::string>{"volume", "half", "points"}));
}

TEST_F(TurnedVolumes, NotIfPlanesMeet) {
  const Stage v = volume(), half = halved("half", v, size);
  const Accessor planes = half.border(Border::clamp());
  const Stage met = stage("met", {size[0], (size[1] + 1) / 2, 4},
                          [&](Var x, Var y, Var z) { return planes(x, y, z - 1) + planes(x, y, z); });
  EXPECT_EQ(turned(picked(met)), std::set<std::string>());
}

TEST_F(TurnedVolumes, NotWhatLiesAsUsersSay) {
  const Stage v = volume(), half = halved("half", v, size);
  EXPECT_EQ(turned(Outputs(half)), std::set<std::string>());
  const Image<float> frames("frames", 3);
  const Pipeline of_frames("p", picked(halved("half", frames, frames.size())));
  EXPECT_EQ(rewrite::turned_volumes(of_frames.ir()).stages[0], of_frames.ir().stages[0]);
}

TEST_F(TurnedVolumes, NotWhatAnEvolutionBeginsAs) {
  const Stage half = halved("half", volume(), size);
  Field<float> u("u", half);
  const Accessor of_u = u.border(Border::clamp());
  const Stage changed = evolve("changed", u, 2, [&](Var x, Var y, Var z) { return of_u(x, y + 1, z) * .5f; });
  EXPECT_EQ(turned(picked(changed)), std::set<std::string>());
}

}  // namespace
}  // namespace weft::turned_volumes_test
