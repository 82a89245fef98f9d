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

/// Applications included by one file, each in a namespace of its own: CUDA's headers are compiled once, which takes two
/// thirds of the time. Those that are strict, or the others, as another flag is for them; how many.
int expect_all_clean(const std::vector<std::string>& applications, const char* architecture, bool strict,
                     Tile tile) {
  const fs::path folder = folder_of(std::string(tile == Tile::March ? "tiles_" : "") + architecture +
                                    (strict ? "_strict" : "_others"));
  std::ofstream all(folder / "all.cu");
  int count = 0;
  for (const std::string& name : applications) {
    const kernel::Module module = module_of(name, architecture, tile);
    if (module.strict != strict) continue;
    fs::create_directories(folder / name);
    for (const auto& [file, text] : emit::emit_gpu_for_users(module, architecture, name))
      std::ofstream(folder / name / file) << text;
    all << "#include \"" << name << "/" << module.name << ".cu\"\n";
    ++count;
  }
  all.close();
  if (count > 0) expect_clean(folder / "all.cu", {.architecture = architecture, .strict = strict});
  fs::remove_all(folder);
  return count;
}

class TilesWithNvcc : public testing::TestWithParam<const char*> {};

TEST_P(TilesWithNvcc, CompileWithoutWarningsOrSpills) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const std::string architecture = GetParam();
  // Strips of warps whose stages have several rates; and those with groups of stages that march together, but for some
  // that are alike.
  std::vector<std::string> applications = {"camera_pipe", "multiscale_interp", "pyramid_blend"};
  if (architecture == "sm_75" || architecture == "sm_120") {
    for (const char* name : {"harris", "unsharp_mask", "unsharp", "spline", "optical_flow"})
      applications.emplace_back(name);
  }
  int count = 0;
  for (const bool strict : {false, true})
    count += expect_all_clean(applications, GetParam(), strict, Tile::March);
  EXPECT_EQ(count, std::ssize(applications));
}

class TogetherWithNvcc : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(TogetherWithNvcc, CompileWithoutWarningsOrSpills) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const auto& [architecture, strict] = GetParam();
  // Half of the applications for the oldest architecture, half for the newest.
  std::vector<std::string> applications;
  const std::vector<std::string> all = names();
  for (std::size_t i = architecture == std::string("sm_75") ? 0 : 1; i < all.size(); i += 2)
    applications.push_back(all[i]);
  EXPECT_GT(expect_all_clean(applications, architecture, strict, Tile::None), strict ? 1 : 15);
}

INSTANTIATE_TEST_SUITE_P(Applications, TogetherWithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_120"), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_strict" : "_others");
                         });

INSTANTIATE_TEST_SUITE_P(Applications, TilesWithNvcc,
                         testing::Values("sm_75", "sm_80", "sm_90", "sm_100", "sm_120"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::testing_support
