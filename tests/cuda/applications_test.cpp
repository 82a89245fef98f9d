// The CUDA of every application: accepted by nvcc for every architecture, without a warning and without
// spilled registers. What it computes is compared by the command, on the SIMT checker: see CMakeLists.txt.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <filesystem>
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

namespace fs = std::filesystem;

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Application* application : tools::select_applications("all")) names.push_back(application->name);
  return names;
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

kernel::Module module_of(const std::string& name, const char* architecture, Tile tile) {
  return compile::lowered(build(applications().at(name)).pipeline.ir(),
                          {target::Processor::Gpu, machine::architecture_named(architecture)},
                          {.tile = tile});
}

fs::path folder_of(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / ("weft_nvcc_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void expect_clean(const fs::path& source, const NvccOptions& options) {
  const fs::path cubin = source.parent_path() / "cubin";
  const NvccRun run = compile_with_nvcc(source, cubin, options);
  ASSERT_TRUE(run.clean()) << run.command << "\n" << run.output;
  for (const auto& [kernel, resources] : compile::resources_of(content_of(cubin)))
    EXPECT_FALSE(resources.spills()) << kernel << " has " << resources.registers << " registers";
}

/// The application's files, each as a user gets it.
void expect_clean(const std::string& name, const char* architecture, Tile tile) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const kernel::Module module = module_of(name, architecture, tile);
  const fs::path folder =
      folder_of(std::string(tile == Tile::March ? "tiles_" : "") + architecture + "_" + name);
  for (const auto& [file, text] : emit::emit_gpu_for_users(module, architecture))
    std::ofstream(folder / file) << text;
  expect_clean(folder / (module.name + ".cu"), {.architecture = architecture, .strict = module.strict});
  fs::remove_all(folder);
}

/// All applications included by one file, each in a namespace of its own: CUDA's headers are compiled once, which
/// takes two thirds of the time. Strict ones apart from others, as another flag is for them.
void expect_all_clean(const char* architecture, bool strict) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const fs::path folder = folder_of(std::string(architecture) + (strict ? "_strict" : "_all"));
  std::ofstream all(folder / "all.cu");
  int count = 0;
  for (const std::string& name : names()) {
    const kernel::Module module = module_of(name, architecture, Tile::None);
    if (module.strict != strict) continue;
    fs::create_directories(folder / name);
    for (const auto& [file, text] : emit::emit_gpu_for_users(module, architecture, name))
      std::ofstream(folder / name / file) << text;
    all << "#include \"" << name << "/" << module.name << ".cu\"\n";
    ++count;
  }
  all.close();
  EXPECT_GT(count, strict ? 4 : 30);
  expect_clean(folder / "all.cu", {.architecture = architecture, .strict = strict});
  fs::remove_all(folder);
}

class TilesWithNvcc : public testing::TestWithParam<std::tuple<const char*, std::string>> {};

std::string text_of(const testing::TestParamInfo<std::tuple<const char*, std::string>>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

TEST_P(TilesWithNvcc, CompileWithoutWarningsOrSpills) {
  expect_clean(std::get<1>(GetParam()), std::get<0>(GetParam()), Tile::March);
}

class TogetherWithNvcc : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(TogetherWithNvcc, CompileWithoutWarningsOrSpills) {
  expect_all_clean(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Applications, TogetherWithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_90", "sm_120"), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_strict" : "_others");
                         });

// Those with groups of stages that march together, but for some that are alike.
INSTANTIATE_TEST_SUITE_P(Applications, TilesWithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_120"),
                                          testing::Values("harris", "unsharp_mask", "unsharp", "spline",
                                                          "optical_flow")),
                         text_of);
// Strips of warps whose stages have several rates.
INSTANTIATE_TEST_SUITE_P(Rates, TilesWithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_80", "sm_90", "sm_100", "sm_120"),
                                          testing::Values("camera_pipe", "multiscale_interp",
                                                          "pyramid_blend")),
                         text_of);

}  // namespace
}  // namespace weft::testing_support
