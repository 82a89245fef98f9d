// That nvcc is asked for all warnings, and that each compiler behind it is heard.
#include "tests/support/nvcc.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "compile/cubin.h"

namespace weft::testing_support {
namespace {

namespace fs = std::filesystem;

class Nvcc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
    std::string name = (fs::temp_directory_path() / "weft-nvcc-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  NvccRun compile(const std::string& source, const NvccOptions& options) const {
    std::ofstream(folder_ / "text.cu") << source;
    return compile_with_nvcc(folder_ / "text.cu", product(), options);
  }
  fs::path product() const { return folder_ / "product"; }

 private:
  fs::path folder_;
};

const std::string clean_text = R"(
__global__ void increase(float* pixels, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) pixels[i] += 1;
}

void run(float* pixels, int count, cudaStream_t stream) {
  increase<<<(count + 127) / 128, 128, 0, stream>>>(pixels, count);
}
)";

TEST_F(Nvcc, AcceptsCleanTextForEachArchitecture) {
  for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
    const NvccRun run = compile(clean_text, {.architecture = architecture});
    EXPECT_TRUE(run.clean()) << run.command << "\n" << run.output;
    EXPECT_TRUE(fs::remove(product()));
  }
}

TEST_F(Nvcc, AcceptsCleanTextAsAnObject) {
  const NvccRun run = compile(clean_text, {.architecture = "sm_80", .object = true});
  EXPECT_TRUE(run.clean()) << run.command << "\n" << run.output;
  EXPECT_TRUE(fs::exists(product()));
}

TEST_F(Nvcc, RefusesAWarningAboutAKernel) {
  const NvccRun run =
      compile("__global__ void k(float* out) { int unused = 3; out[0] = 1; }\n", {.architecture = "sm_80"});
  EXPECT_FALSE(run.clean());
  EXPECT_NE(run.output.find("\"unused\" was declared but never referenced"), std::string::npos) << run.output;
}

TEST_F(Nvcc, RefusesAWarningOfTheHostsCompiler) {
  const NvccRun run =
      compile("int twice(int x, int unused) { return 2 * x; }\n", {.architecture = "sm_80", .object = true});
  EXPECT_FALSE(run.clean());
  EXPECT_NE(run.output.find("unused parameter"), std::string::npos) << run.output;
}

TEST_F(Nvcc, RefusesAWarningOfTheAssembler) {
  // More threads per multiprocessor than a Turing has.
  const NvccRun run = compile("__global__ void __launch_bounds__(1024, 2) k(float* out) { out[0] = 1; }\n",
                              {.architecture = "sm_75"});
  EXPECT_FALSE(run.clean());
  EXPECT_NE(run.output.find("out of range"), std::string::npos) << run.output;
}

TEST_F(Nvcc, ContractsUnlessToldNotTo) {
  const std::string text = "extern \"C\" __global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }\n";
  const auto instructions = [&](bool strict) {
    const NvccRun run = compile(text, {.architecture = "sm_80", .strict = strict});
    EXPECT_TRUE(run.clean()) << run.output;
    std::ifstream file(product(), std::ios::binary);
    const std::string cubin(std::istreambuf_iterator<char>(file), {});
    return compile::resources_of(cubin).at("k").instructions;
  };
  EXPECT_EQ(instructions(true), instructions(false) + 1);
}

}  // namespace
}  // namespace weft::testing_support
