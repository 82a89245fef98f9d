// What kernels do to memory, counted by the SIMT checker.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <string>
#include <vector>

#include "tools/kernel_counts.h"

namespace weft::tools {
namespace {

/// Of windows of three rows.
class Strips : public testing::TestWithParam<const char*> {};

/// A strip of 1024 bytes and so many rows loads a sector more on both sides, and two rows more.
double most_loads(int rows) { return (1 + 64. / 1024) * (1 + 2. / rows); }

TEST_P(Strips, LoadEachPixelAboutOnceWithoutBankConflicts) {
  const Pipeline pipeline = build(applications().at(GetParam())).pipeline;
  const ir::Stage& input = *pipeline.ir().inputs[0];
  const int shortest = 8;  // rows of the strips of small images
  const Buffer image = Buffer::allocate(input.type, {1024 / size_of(input.type), 3 * shortest});
  for (const KernelMeasure& kernel :
       count_kernels(pipeline, {{{input.name, image}}, {}, {}}, {.tile = Tile::None})) {
    const simt::Counts& counts = kernel.counts.total;
    EXPECT_LE(static_cast<double>(counts.sectors_loaded) * 32,
              most_loads(shortest) * static_cast<double>(kernel.compulsory.read))
        << kernel.counts.kernel;
    EXPECT_EQ(counts.bank_passes, counts.least_bank_passes) << kernel.counts.kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Applications, Strips, testing::Values("gaussian", "sobel", "harris"),
                         [](const auto& info) { return std::string(info.param); });

/// The image once, but for the columns and rows around each strip; and the result. So do the groups that the
/// model of a GPU chooses.
TEST(Groups, LoadAndStoreLittleMoreThanTheirImages) {
  const Pipeline pipeline = build(applications().at("harris")).pipeline;
  const std::int64_t strips_across = 4, width = 248;  // schedule::block_strip
  const std::int64_t strips_down = 32, rows = 32;     // so many that strips are no lower
  const Buffer image =
      Buffer::allocate(pipeline.ir().inputs[0]->type, {strips_across * width, strips_down * rows});
  const auto kernels = count_kernels(pipeline, {{{"in", image}}, {}, {}}, {.fuse = Fuse::Dp});
  ASSERT_EQ(kernels.size(), 1u);
  const simt::Counts& counts = kernels[0].counts.total;
  EXPECT_LE(counts.sectors_loaded, (width / 8 + 2) * strips_across * (rows + 4) * strips_down);
  EXPECT_LE(static_cast<double>(counts.sectors_loaded) * 32,
            1.3 * static_cast<double>(kernels[0].compulsory.read));
  EXPECT_EQ(counts.sectors_stored * 32, kernels[0].compulsory.written);
  EXPECT_EQ(counts.bank_passes, counts.least_bank_passes);
}

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
