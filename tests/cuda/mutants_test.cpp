// Kernels with one fault each: the checker or the comparison finds all of them but those that are known to compute the
// same as without the fault.
#include "tools/mutants.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "emit/gpu.h"
#include "tools/simt_program.h"

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

/// Strips of warps: some of the faults. About three in a hundred do no harm (bench/results/2026-11-24-mutants.md), and which are
/// drawn depends on the code. No tolerance may hide one.
TEST(Mutants, OfStripsOfWarpsAreFound) {
  MutantPlan plan;
  plan.seed = 1, plan.most = 24;
  plan.targets = {RunTarget::SimtRace, RunTarget::SimtAddress};
  plan.params = {"border=mirror"};
  plan.sizes = {{{7, 5}}, {{8, 33}}, {{121, 9}}, {{130, 70}}, {{512, 89}}};
  const MutantScore score = score_mutants(applications().at("sobel"), plan, [](std::size_t, std::size_t) {});
  EXPECT_EQ(score.results.size(), 24u);
  EXPECT_GE(score.found(), 21u) << survivors_of(score);
  for (const MutantResult& r : score.results) EXPECT_NE(r.finder, Finder::Tolerance) << r.after;
}

/// Rows are loaded 16 bytes at a time where they begin at such a multiple. Emitted functions for host memory see to it that
/// they do; the build that finds misaligned accesses has rows as callers may have them.
TEST(Mutants, ThatTakeRowsForAlignedAreFound) {
  const Pipeline pipeline = build(applications().at("sobel")).pipeline;
  const kernel::Module module = cuda_module(pipeline);
  std::vector<kernel::Module> mutants;
  for (const kernel::Mutation& mutation : kernel::mutations_of(module)) {
    if (mutation.fault != kernel::Fault::Ring) continue;
    kernel::Module mutant = kernel::mutated(module, mutation);
    if (emit::emit_cuda_kernels(mutant).find("_pitch * 4 & 7") != std::string::npos)
      mutants.push_back(std::move(mutant));
  }
  ASSERT_EQ(mutants.size(), 2u);  // of the image, and of the result
  const Buffer unaligned = Buffer::allocate({Scalar::F32, 1}, {130, 71});
  const Buffer result_unaligned = Buffer::allocate({Scalar::F32, 1}, {132, 71});
  const auto programs =
      simt_programs(pipeline, mutants, {simt::Build::address, simt::quick_flags(simt::Build::address)});
  EXPECT_THROW(programs[0].run({{{"in", unaligned}}, {}, {}}), Error);
  EXPECT_THROW(programs[1].run({{{"in", result_unaligned}}, {}, {}}), Error);
}

}  // namespace
}  // namespace weft::tools
