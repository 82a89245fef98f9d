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
  for (const KernelMeasure& kernel : count_kernels(pipeline, {{{input.name, image}}, {}, {}})) {
    const simt::Counts& counts = kernel.counts.total;
    EXPECT_LE(static_cast<double>(counts.sectors_loaded) * 32,
              most_loads(shortest) * static_cast<double>(kernel.compulsory.read))
        << kernel.counts.kernel;
    EXPECT_EQ(counts.bank_passes, counts.least_bank_passes) << kernel.counts.kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Applications, Strips, testing::Values("gaussian", "sobel", "harris"),
                         [](const auto& info) { return std::string(info.param); });

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
