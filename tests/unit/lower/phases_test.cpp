// Rows that read a coarser image, split by phase.
#include "lower/phases.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft::lower {
namespace {

class PhasesOf : public testing::Test {
 protected:
  const Image<float> in{"in"};

  /// "i i+1 | i+1 i+1": the index along x of every read, phase by phase; or "none".
  template <class F>
  std::string reads(F f) {
    const Stage out = stage("out", {in.width() * 2, in.height()}, f);
    const int count = phase_count(*out.node(), 4);
    if (count == 1) return "none";
    const Phases phases = phases_of(*out.node(), count, {}, true);
    std::string text;
    for (const ir::Stage& phase : phases.stages) {
      text += text.empty() ? "" : " |";
      for (const ir::Expr& e : ir::reads(phase)) {
        const auto& index = std::get<ir::Affine>(std::get<ir::Read>(e->op).indices[0]);
        text += (text.empty() ? "" : " ") + index.to_string([](const ir::Atom& a) {
          return std::holds_alternative<ir::Coord>(a) ? "i" : ir::name_of(a);
        });
      }
    }
    return text;
  }
};

TEST_F(PhasesOf, IndicesAreWholeAgain) {
  EXPECT_EQ(reads([&](Var x, Var y) { return in(x / 2, y); }), "i | i");
  EXPECT_EQ(reads([&](Var x, Var y) { return in(x / 2, y) - in((x + 1) / 2, y); }), "i i | i i + 1");
  EXPECT_EQ(reads([&](Var x, Var y) { return in((x - 1) / 2, y / 2) - in(x, y); }), "i - 1 2*i | i 2*i + 1");
  EXPECT_EQ(reads([&](Var x, Var y) { return in((x + 3) / 4, y) - in(x / 2, y); }),
            "i 2*i | i + 1 2*i | i + 1 2*i + 1 | i + 1 2*i + 1");
}

TEST_F(PhasesOf, OfSumsOfFloors) {  // the nearest coarse pixel, and the one beyond it
  const Accessor c = in.border(Border::clamp());
  EXPECT_EQ(reads([&](Var x, Var y) { return c(x / 2, y) - c(2 * x - 1 - 3 * (x / 2), y); }),
            "i i - 1 | i i + 1");
}

TEST_F(PhasesOf, WhatIsComputedStaysSo) {
  const Accessor c = in.border(Border::clamp());
  const Stage out = stage("out", {in.width() * 2, in.height()},
                          [&](Var x, Var y) { return c(x / 2, y) + c(cast<int>(in(x / 2, y)), y); });
  EXPECT_EQ(phase_count(*out.node(), 4), 2);
}

TEST_F(PhasesOf, NoneWithoutADivision) {
  EXPECT_EQ(reads([&](Var x, Var y) { return in(x, y / 2); }), "none");
  EXPECT_EQ(reads([&](Var x, Var y) { return in(2 * x, y); }), "none");
}

TEST_F(PhasesOf, BoxesAreOfStepsWithAllPixels) {
  const Stage out = stage("out", {{-1, 0}, {in.width() * 2 + 2, in.height()}},
                          [&](Var x, Var y) { return in.border(Border::clamp())(x / 2, y); });
  const Phases phases = phases_of(*out.node(), 2, {}, true);
  for (const ir::Stage& phase : phases.stages) {  // pixel -1 has no left neighbour to take a step with
    EXPECT_EQ(phase.box[0].min, ir::Affine(0));
    EXPECT_EQ(phase.box[0].extent.to_string(), "in.w");
  }
}

TEST_F(PhasesOf, RowsOfABatchReadTheirOwnCoarseRows) {
  const Stage out = stage("out", {{0, 3}, {in.width(), in.height() * 2 - 5}}, [&](Var x, Var y) {
    return in.border(Border::clamp())(x, y / 2) + in.border(Border::clamp())(x, (y + 1) / 2);
  });
  EXPECT_EQ(phase_count(*out.node(), 4), 1);
  EXPECT_EQ(phase_count(*out.node(), 4, 1), 2);
  const auto rows_from = [&](std::int64_t first) {  // rows 4 k + first and the three below it
    std::unordered_map<const ir::Node*, std::string> names;
    std::string text;
    const auto rows = rows_below({out.node().get()}, {4, {4, first}}, names, true);
    for (const auto& row : rows) {
      text += text.empty() ? "" : " |";
      for (const ir::Expr& e : ir::reads(row.at(0))) {
        const auto& index = std::get<ir::Affine>(std::get<ir::Read>(e->op).indices[1]);
        text += (text.empty() ? "" : " ") + index.to_string([](const ir::Atom& a) {
          return std::holds_alternative<ir::Coord>(a) ? "k" : ir::name_of(a);
        });
      }
      EXPECT_EQ(row.at(0).box[1].min.to_string(), first == 3 ? "0" : "1")
          << "of rows 3 and on, all four of a step";
    }
    return text;
  };
  EXPECT_EQ(rows_from(0), "2*k 2*k | 2*k 2*k + 1 | 2*k + 1 2*k + 1 | 2*k + 1 2*k + 2");
  EXPECT_EQ(rows_from(3), "2*k + 1 2*k + 2 | 2*k + 2 2*k + 2 | 2*k + 2 2*k + 3 | 2*k + 3 2*k + 3");
}

TEST_F(PhasesOf, RowsOfABatchOfAVolumeLieInItsPlanes) {
  const Image<float> volume("v", 3);
  const Stage out = stage("out", volume.size(), [&](Var x, Var y, Var z) {
    return volume.border(Border::clamp())(x, y, z - 1) + volume(x, y, z);
  });
  std::unordered_map<const ir::Node*, std::string> names;
  const auto planes = rows_below({out.node().get()}, {2, {1, 0}}, names, true);
  const auto read = [&](int below, int number, int dimension) {
    const ir::Expr e = ir::reads(planes.at(below).at(0)).at(number);
    return std::get<ir::Affine>(std::get<ir::Read>(e->op).indices[dimension]).to_string();
  };
  EXPECT_EQ(read(1, 0, 2), read(0, 1, 2)) << "the plane above the second is the first";
  EXPECT_NE(read(1, 0, 2), read(0, 0, 2));
  EXPECT_EQ(read(1, 0, 1), read(0, 0, 1));
}

TEST_F(PhasesOf, StepsHaveRowsAndColumns) {
  const Stage a = stage("a", {{-1, 3}, {in.width() * 2, in.height()}},
                        [&](Var x, Var y) { return in.border(Border::clamp())((x + 1) / 2, 2 * y) + x; });
  std::unordered_map<const ir::Node*, std::string> names;
  const std::vector<ir::Stage> stages =
      stages_in_steps({a.node().get()}, {InSteps{2, 3}, InSteps{4, -1}}, {}, names, true);
  const ir::Expr read = ir::reads(stages.at(0)).at(0);
  const auto index = [&](int d) {
    return std::get<ir::Affine>(std::get<ir::Read>(read->op).indices[d]).to_string([](const ir::Atom& atom) {
      const auto* coord = std::get_if<ir::Coord>(&atom);
      return coord ? coord->dim == 0 ? "i" : "j" : ir::name_of(atom);
    });
  };
  EXPECT_EQ(index(0), "i + 2");                    // (2 i + 3 + 1) / 2
  EXPECT_EQ(index(1), "8*j - 2");                  // 2 (4 j - 1)
  EXPECT_LE(stages[0].box[0].min.constant(), -2);  // all steps with pixels of the stage
}

TEST_F(PhasesOf, NoneOfOthers) {
  EXPECT_EQ(reads([&](Var x, Var y) { return in(x / 3, y); }), "none");
  EXPECT_EQ(reads([&](Var x, Var y) { return in(x / 8, y); }), "none");
  EXPECT_EQ(reads([&](Var x, Var y) { return in(x / 2, y) + in(y, x); }), "none");
}

}  // namespace
}  // namespace weft::lower
