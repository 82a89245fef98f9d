// Pixels that straight-line code computes together: medians share their sorting, and loads are under way at a time.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "follow.h"
#include "plan/block_strip.h"
#include "plan/planner.h"

namespace weft::plan::neighbours_test {
namespace {

const Memory of_cores{}, of_blocks{most_shared_bytes}, of_warps{most_shared_bytes, true};

/// Pixels of another image that are found at half the coordinates, or at computed ones.
ir::Pipeline gather(bool finds_pixels) {
  const Image<float> in("in"), found("found");
  const Accessor src = in.border(Border::clamp()), at = found.border(Border::clamp());
  return Pipeline("test", {stage("out", found.size(),
                                 [&](Var x, Var y) {
                                   return finds_pixels ? src(cast<int>(at(x, y)), y) : src(x / 2, y);
                                 })})
      .ir();
}

TEST(Plan, AThreadHasPixelsOfSeveralRowsIfItWaitsForWhereTheyAre) {
  const auto rows = [](const ir::Pipeline& pipeline, const Choices& asked = {}) {
    const PlanOrWhy found = plan_of(*group_of({loop_of(*pipeline.stages.back())}).group, of_warps, asked);
    return found.plan ? std::to_string(found.plan->rows_of_threads()) : found.why;
  };
  EXPECT_EQ(rows(gather(true)), "4");
  EXPECT_EQ(rows(gather(true), {.rows = 1}), "1");
  EXPECT_EQ(rows(gather(false)), "1");
  EXPECT_EQ(rows(gather(false), {.rows = 2}),
            "2 rows of 'out' at a time are for passes of a core, and threads that find pixels by others");
  const auto forced = [&](int asked) {
    const std::string text =
        R"({"groups": [["out"]], "kernels": {"out": {"levels": [{"kind": "grid", "extent": [1, )" +
        std::to_string(asked) + R"(]}], "kept": false}}})";
    const auto found = follow(gather(true), text, of_warps);
    return found.schedule ? std::to_string(found.schedule->kernels.at(0).rows_of_threads()) : found.why;
  };
  EXPECT_EQ(forced(2), "2");
  EXPECT_EQ(forced(9), "threads of 'out' have pixels of 9 rows, and at most 8");
}

KernelPlan plan_of_median(int size, const Memory& memory, const Choices& asked = {}) {
  const Image<std::uint8_t> in("in");
  const ir::Pipeline pipeline =
      Pipeline("test", {local("out", in.border(Border::clamp()), Domain(size, size), Local::Median)}).ir();
  return *plan_of(*group_of({loop_of(*pipeline.stages.back())}).group, memory, asked).plan;
}

TEST(Plan, MediansOfNeighboursCountOnceWhatTheyShare) {
  const auto operations = [](const KernelPlan& plan) { return plan.computed.back().operations.alu; };
  const KernelPlan rows = plan_of_median(5, of_cores);
  EXPECT_EQ(rows.rows_of_pass(), most_rows_of_pass);
  EXPECT_EQ(operations(rows), 84);
  EXPECT_EQ(operations(plan_of_median(5, of_cores, {.rows = 1})), 188);
  EXPECT_EQ(plan_of_median(9, of_cores).rows_of_pass(), 1) << "which no network sorts";
  const KernelPlan tile =
      plan_of_median(5, of_blocks, {.height = fixed(16), .traversal = Traversal::Static, .unrolled = true});
  EXPECT_EQ(operations(tile), 66);
  const KernelPlan lanes = plan_of_median(3, of_warps);
  EXPECT_EQ(lanes.level(LevelKind::Lane)->extent[0].fixed(), 8);
  EXPECT_EQ(operations(lanes), 19);
}

}  // namespace
}  // namespace weft::plan::neighbours_test
