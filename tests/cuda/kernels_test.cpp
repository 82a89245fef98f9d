// The kernels of every application, as the runtime hands them to NVRTC: compiled without a header, where
// there is a toolkit.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <optional>
#include <string>
#include <vector>

#include "compile/cubin.h"
#include "compile/device_compiler.h"
#include "emit/gpu.h"
#include "emit/writer.h"
#include "host/plan.h"
#include "kernel/registers.h"
#include "runtime/cpu_program.h"
#include "tests/support/environment.h"
#include "tests/support/symbols.h"

namespace weft::testing_support {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& [name, application] : applications()) {
    if (!application.about.refused) names.push_back(name);
  }
  return names;
}

class WithNvrtc : public testing::TestWithParam<std::string> {};

TEST_P(WithNvrtc, CompilesTheKernelsAlone) {
  std::optional<compile::DeviceCompiler> compiler;
  try {
    compiler.emplace();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const kernel::Module module =
      compile::lowered(build(applications().at(GetParam())).pipeline.ir(), target::Processor::Gpu);
  const testing_support::TemporaryFolder folder;
  const compile::DeviceCode code = compiler->compile(
      emit::emit_cuda_kernels(module), {"sm_90", module.strict, {}}, compile::ContentCache(folder.path()));
  const auto resources = compile::resources_of(code.cubin);
  EXPECT_EQ(resources.size(), module.functions.size());
  for (const kernel::Function& function : module.functions) {
    ASSERT_TRUE(resources.count(function.name.spelling())) << function.name;
    const auto& block = host::launch_of(module, function).grid->block;
    const compile::KernelResources& compiled = resources.at(function.name.spelling());
    const int threads = block[0] * block[1] * block[2];
    EXPECT_EQ(compiled.max_threads, threads);
    // What the size of the block was decided with.
    EXPECT_EQ(kernel::shared_bytes(function), compiled.static_shared);
    EXPECT_LE(compiled.registers, 2 * kernel::estimated_registers(function).most) << function.name;
    EXPECT_GT(machine::occupancy(machine::architecture(9, 0), compile::needs_of(compiled, threads)).blocks,
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(Applications, WithNvrtc, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(EmittedKernels, AreNotBrokenWithinTheirLaunchBounds) {
  emit::Writer out;
  out.open(
      "extern \"C\" __global__ void __launch_bounds__(64, 1) a_kernel_with_a_name(const double* __restrict__ "
      "its_image, "
      "double* out)");
  EXPECT_EQ(out.text(),
            "extern \"C\" __global__ void __launch_bounds__(64, 1)\n"
            "    a_kernel_with_a_name(const double* __restrict__ its_image, double* out) {\n");
}

}  // namespace
}  // namespace weft::testing_support
