// The CUDA of every application: accepted by nvcc for every architecture, without a warning and without
// spilled registers. What it computes is compared by the command, on the SIMT checker: see CMakeLists.txt.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "emit/cuda.h"
#include "lower/lower.h"
#include "runtime/cubin.h"
#include "schedule/schedule.h"
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

class WithNvcc : public testing::TestWithParam<std::tuple<const char*, std::string>> {};

TEST_P(WithNvcc, CompilesWithoutWarningsOrSpills) {
  if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
  const auto& [architecture, name] = GetParam();
  const ir::Pipeline prepared = lower::prepare(build(applications().at(name)).pipeline.ir());
  const kernel::Module module =
      lower::lower(prepared, schedule::choose(prepared),
                   {lower::Processor::Gpu, machine::architecture_named(architecture)});
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / (std::string("weft_nvcc_") + architecture + "_" + name);
  std::filesystem::create_directories(folder);
  for (const auto& [file, text] : emit::emit_cuda_for_users(module, architecture))
    std::ofstream(folder / file) << text;
  const std::filesystem::path cubin = folder / "cubin";
  const NvccRun run = compile_with_nvcc(folder / (module.name + ".cu"), cubin,
                                        {.architecture = architecture, .contract = !module.strict});
  ASSERT_TRUE(run.clean()) << run.command << "\n" << run.output;
  for (const auto& [kernel, resources] : runtime::resources_of(content_of(cubin)))
    EXPECT_FALSE(resources.spills()) << kernel << " has " << resources.registers << " registers";
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Applications, WithNvcc,
                         testing::Combine(testing::Values("sm_75", "sm_80", "sm_90", "sm_120"),
                                          testing::ValuesIn(names())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace weft::testing_support
