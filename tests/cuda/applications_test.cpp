// The CUDA of every application: accepted by nvcc for every architecture, without a warning and without
// spilled registers. What it computes is compared by the command, on the SIMT checker: see CMakeLists.txt.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "compile/cubin.h"
#include "compile/scheduling.h"
#include "emit/gpu.h"
#include "lower/lower.h"
#include "tests/support/nvcc.h"
#include "tools/arguments.h"

namespace weft::testing_support {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Application* application : tools::select_applications("all")) names.push_back(application->name);
  return names;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_clean(const std::string& name, const char* architecture, Tile tile) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const kernel::Module module =
      compile::lowered(build(applications().at(name)).pipeline.ir(),
                       {target::Processor::Gpu, machine::architecture_named(architecture)}, {.tile = tile});
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      (std::string("weft_nvcc_") + (tile == Tile::Block ? "tiles_" : "") + architecture + "_" + name);
  std::filesystem::create_directories(folder);
  for (const auto& [file, text] : emit::emit_gpu_for_users(module, architecture))
    std::ofstream(folder / file) << text;
  const std::filesystem::path cubin = folder / "cubin";
  const NvccRun run = compile_with_nvcc(folder / (module.name + ".cu"), cubin,
                                        {.architecture = architecture, .contract = !module.strict});
  ASSERT_TRUE(run.clean()) << run.command << "\n" << run.output;
  for (const auto& [kernel, resources] : compile::resources_of(content_of(cubin)))
    EXPECT_FALSE(resources.spills()) << kernel << " has " << resources.registers << " registers";
  std::filesystem::remove_all(folder);
}

class WithNvcc : public testing::TestWithParam<std::tuple<const char*, std::string>> {};
class TilesWithNvcc : public testing::TestWithParam<std::tuple<const char*, std::string>> {};

std::string text_of(const testing::TestParamInfo<std::tuple<const char*, std::string>>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

TEST_P(WithNvcc, CompilesWithoutWarningsOrSpills) {
  expect_clean(std::get<1>(GetParam()), std::get<0>(GetParam()), Tile::None);
}

TEST_P(TilesWithNvcc, CompileWithoutWarningsOrSpills) {
  expect_clean(std::get<1>(GetParam()), std::get<0>(GetParam()), Tile::Block);
}

INSTANTIATE_TEST_SUITE_P(Applications, WithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_80", "sm_90", "sm_120"),
                                          testing::ValuesIn(names())),
                         text_of);

// Those with groups of stages that march together, but for some that are alike.
INSTANTIATE_TEST_SUITE_P(Applications, TilesWithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_80", "sm_90", "sm_120"),
                                          testing::Values("harris", "unsharp_mask", "unsharp", "spline",
                                                          "optical_flow")),
                         text_of);

}  // namespace
}  // namespace weft::testing_support
