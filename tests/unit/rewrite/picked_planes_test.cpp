#include "rewrite/picked_planes.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <variant>

#include "ir/interpret.h"
#include "ir/visit.h"
#include "tests/support/compare.h"
#include "tests/support/images.h"

namespace weft::picked_planes_test {
namespace {

class PickedPlanes : public testing::Test {
 protected:
  const Image<float> in{"in"};
  const Image<int> numbers{"which"};
  const Accessor which = numbers.border(Border::clamp());

  /// A volume with that number of planes.
  Stage volume(int planes) const {
    return stage("volume", {in.width(), in.height(), planes},
                 [&](Var x, Var y, Var z) { return in(x, y) * cast<float>(z + 1); });
  }

  struct Reads {
    int computed = 0, known = 0;
    bool operator==(const Reads&) const = default;
  };
  /// Of the volume by the last stage of the rewritten pipeline, each once. Its pixels are those of the original.
  static Reads reads(const Stage& out) {
    const Pipeline pipeline("p", out);
    const ir::Pipeline picked = rewrite::picked_planes(pipeline.ir());
    const ir::Bindings images{{{"in", testing_support::noise(type_of<float>(), {9, 5}, 1)},
                               {"which", testing_support::noise(type_of<int>(), {9, 5}, 2)}},
                              {}};
    EXPECT_EQ(testing_support::difference(ir::interpret(pipeline.ir(), images).at("out"),
                                          ir::interpret(picked, images).at("out")),
              "");
    Reads reads;
    for (const ir::Expr& e : ir::reads(*picked.stages.back())) {
      const auto& read = std::get<ir::Read>(e->op);
      if (read.source->name != "volume") continue;
      const bool is_computed = std::any_of(read.indices.begin(), read.indices.end(), [](const ir::Index& i) {
        return std::holds_alternative<ir::Expr>(i);
      });
      ++(is_computed ? reads.computed : reads.known);
    }
    return reads;
  }
};

TEST_F(PickedPlanes, AreReadOnceForSeveralChoices) {
  const Accessor v = volume(5).border(Border::clamp());
  EXPECT_EQ(reads(stage("out", in.size(),
                        [&](Var x, Var y) {
                          const Expr k = which(x, y) % 9 - 2;
                          const auto at = [&](const Expr& plane) {
                            return .75f * v(x / 2, y, plane) + .25f * v(x / 2 + 1, y, plane);
                          };
                          return lerp(at(k), at(k + 1), in(x, y));
                        })),
            (Reads{0, 10}));
}

TEST_F(PickedPlanes, NotOfManyOrOne) {
  const Accessor one = volume(1).border(Border::clamp());
  EXPECT_EQ(reads(stage("out", in.size(), [&](Var x, Var y) { return one(x, y, which(x, y)); })),
            (Reads{1, 0}));
  const Accessor v = volume(9).border(Border::clamp());
  EXPECT_EQ(reads(stage("out", in.size(), [&](Var x, Var y) { return v(x, y, which(x, y)); })),
            (Reads{1, 0}));
}

TEST_F(PickedPlanes, NotWhereColumnsAreComputedOrOneForARow) {
  const Accessor v = volume(3).border(Border::clamp());
  EXPECT_EQ(reads(stage("out", in.size(), [&](Var x, Var y) { return v(which(x, y), y, 1); })),
            (Reads{1, 0}));
  EXPECT_EQ(reads(stage("out", in.size(), [&](Var x, Var y) { return v(y, x, which(x, y)); })),
            (Reads{1, 0}));
}

TEST_F(PickedPlanes, NotUnderABorderThatTurnsBack) {
  const Accessor v = volume(3).border(Border::mirror());
  EXPECT_EQ(reads(stage("out", in.size(), [&](Var x, Var y) { return v(x, y, which(x, y) % 7); })),
            (Reads{1, 0}));
}

}  // namespace
}  // namespace weft::picked_planes_test
