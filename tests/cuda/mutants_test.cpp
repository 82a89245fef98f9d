// Kernels with one fault each: the checker or the comparison finds all of them but those that are known to compute the
// same as without the fault.
#include "tools/mutants.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace weft::tools {
namespace {

std::string plan_of(const std::string& application) {
  std::ifstream file(std::filesystem::path(WEFT_SOURCE_DIR) / "tests/cuda/strips" / (application + ".json"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What is left where mutants are not found, but for those that are known to do no harm.
std::string survivors_of(const MutantScore& score, const std::set<std::string>& harmless = {}) {
  std::string all;
  for (const MutantResult& r : score.results) {
    if (!r.is_found() && !harmless.count(r.after))
      all += std::string(kernel::name_of(r.fault)) + ": " + r.after + "\n";
  }
  return all;
}

/// Strips of blocks, 40 rows high: all faults that there are.
TEST(Mutants, OfStripsOfBlocksAreFound) {
  MutantPlan plan;
  plan.seed = 1;
  plan.targets = {RunTarget::SimtRace, RunTarget::SimtAddress};
  plan.scheduling.groups = plan_of("sobel");
  plan.params = {"border=clamp"};
  const MutantScore score = score_mutants(applications().at("sobel"), plan, [](std::size_t, std::size_t) {});
  EXPECT_EQ(score.results.size(), score.places);
  EXPECT_GE(score.results.size(), 60u);
  const std::set<std::string> harmless = {
      // A strip more, without pixels: its loads are clamped, and nothing is stored.
      "for (int32_t x0 = blockIdx.x * 256; x0 < in_w + 1; x0 += gridDim.x * 256) {",
      "for (int32_t y0 = blockIdx.y * rows; y0 < in_h + 1; y0 += gridDim.y * rows) {",
      // Batches that begin a row earlier, and a batch more, whose rows are not the strip's.
      "for (int32_t batch = y0 - 2 - 1; batch < y1; batch += 8) {",
      "for (int32_t batch = y0 - 2; batch < y1 + 1; batch += 8) {",
      // Rows are kept with 8 columns on both sides, as whole sectors are loaded. One is read.
      "for (int32_t i = 1 + threadIdx.x; i < 272; i += blockDim.x) {",
      "for (int32_t i = threadIdx.x; i < 271; i += blockDim.x) {",
      // A row that is there is loaded again, or one that comes with the next batch is loaded before it: the ring of
      // 16 has room for both.
      "for (int32_t r = -1; r < 8; ++r) {",
      "for (int32_t r = 0; r < 9; ++r) {",
      // So it has for a row that is read by nobody.
      "if (y0 - 1 <= row && row <= y1 + 1) {",
  };
  EXPECT_EQ(survivors_of(score, harmless), "");
  std::set<Finder> finders;
  for (const MutantResult& r : score.results) finders.insert(r.finder);
  EXPECT_TRUE(finders.count(Finder::Checker) && finders.count(Finder::Comparison));
}

/// Strips of warps: some of the faults, and no tolerance hides one.
TEST(Mutants, OfStripsOfWarpsAreFound) {
  MutantPlan plan;
  plan.seed = 1, plan.most = 24;
  plan.targets = {RunTarget::SimtRace, RunTarget::SimtAddress};
  plan.params = {"border=mirror"};
  const MutantScore score = score_mutants(applications().at("sobel"), plan, [](std::size_t, std::size_t) {});
  EXPECT_EQ(score.results.size(), 24u);
  EXPECT_EQ(survivors_of(score), "");
}

}  // namespace
}  // namespace weft::tools
