// What kernels do to memory, counted by the SIMT checker.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <string>
#include <vector>

#include "compile/scheduling.h"
#include "tools/kernel_counts.h"

namespace weft::tools {
namespace {

/// An application of one kernel, in high tiles of a block or a warp, over an image of whole ones.
struct InTiles {
  InTiles(const char* application, const std::string& owner, std::int64_t width)
      : pipeline(build(applications().at(application)).pipeline) {
    const compile::Scheduled chosen = compile::scheduled(pipeline.ir(), target::Processor::Gpu, {});
    const plan::KernelPlan& plan = chosen.schedule.kernels.back();
    rows = plan.height().sizes.front() + 40 * plan.height().step, before = plan.before;
    std::string stages;
    for (const auto& stage : chosen.pipeline.stages)
      stages += (stages.empty() ? "\"" : ", \"") + stage->name + "\"";
    const bool has_columns = chosen.schedule.preparation == rewrite::Preparation::ForSearch;
    const std::string prepared = has_columns ? R"("prepared": "for search", )" : "";
    const int turn = plan.level(plan::LevelKind::Batch)->extent.back().fixed();
    const std::string batch =
        owner == "warp" ? R"(, {"kind": "batch", "extent": ["all", )" + std::to_string(turn) + "]}" : "";
    const std::string levels = R"([{"kind": "grid", "extent": ["all", )" + std::to_string(rows) +
                               R"(]}, {"kind": ")" + owner + "\"}" + batch + "]";
    const ir::Stage& input = *pipeline.ir().inputs[0];
    const Buffer image = Buffer::allocate(input.type, {width / size_of(input.type), 3 * rows});
    kernels = count_kernels(pipeline, {{{input.name, image}}, {}, {}},
                            {.groups = "{" + prepared + R"("groups": [[)" + stages + R"(]], "kernels": {")" +
                                       plan.result + R"(": {"levels": )" + levels + "}}}"});
  }

  const simt::Counts& counts() const { return kernels.at(0).counts.total; }
  double loaded() const { return static_cast<double>(counts().sectors_loaded) * 32; }
  double read() const { return static_cast<double>(kernels.at(0).compulsory.read); }

  const Pipeline pipeline;
  int rows, before;
  std::vector<KernelMeasure> kernels;
};

class Strips : public testing::TestWithParam<const char*> {};
class WarpStrips : public testing::TestWithParam<const char*> {};
std::string name_of(const testing::TestParamInfo<const char*>& info) { return info.param; }

/// A strip of 1024 bytes loads a sector more on both sides, and rows above it.
TEST_P(Strips, LoadEachPixelAboutOnceWithoutBankConflicts) {
  const InTiles tiles(GetParam(), "block", 1024);
  ASSERT_EQ(tiles.kernels.size(), 1u);
  EXPECT_LE(tiles.loaded(),
            (1 + 64. / 1024) * (1 + static_cast<double>(tiles.before) / tiles.rows) * tiles.read());
  EXPECT_EQ(tiles.counts().bank_passes, tiles.counts().least_bank_passes);
}
INSTANTIATE_TEST_SUITE_P(Applications, Strips, testing::Values("gaussian", "sobel"), name_of);

/// Lanes at both ends load what others load, too: 17 sectors for 15 of floats, 9 for 7.5 of bytes, and some more where
/// borders find pixels one by one. So do the rows above; and the last one is loaded again where others would follow.
TEST_P(WarpStrips, LoadEachPixelAboutOnce) {
  const InTiles tiles(GetParam(), "warp", 8 * 480);
  ASSERT_EQ(tiles.kernels.size(), 1u);
  EXPECT_LE(tiles.loaded(), 1.35 * (1 + (tiles.before + 3.) / tiles.rows) * tiles.read());
  EXPECT_EQ(tiles.counts().bank_passes + tiles.counts().barriers, 0u);
}
INSTANTIATE_TEST_SUITE_P(Applications, WarpStrips, testing::Values("gaussian", "sobel", "harris"), name_of);

TEST(Packs, MoveEachSectorOnce) {
  const Pipeline pipeline = build(applications().at("color_convert")).pipeline;
  const ir::Stage& input = *pipeline.ir().inputs[0];
  const Buffer image = Buffer::allocate(input.type, {256, 8});
  const std::vector<KernelMeasure> kernels = count_kernels(pipeline, {{{input.name, image}}, {}, {}});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].counts.total.sectors_loaded * 32, kernels[0].compulsory.read);
  EXPECT_EQ(kernels[0].counts.total.sectors_stored * 32, kernels[0].compulsory.written);
}

}  // namespace
}  // namespace weft::tools
