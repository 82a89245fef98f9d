#include "compile/device_compiler.h"

#include "compile/cubin.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

namespace weft::compile {
namespace {

using namespace testing_support;

namespace fs = std::filesystem;

const std::string axpy =
    "extern \"C\" __global__ void axpy(float a, const float* x, float* y) {\n"
    "  y[threadIdx.x] = a * x[threadIdx.x] + y[threadIdx.x];\n"
    "}\n";

class DeviceCompilation : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler.emplace();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  DeviceCode compile(const std::string& source = axpy, const DeviceFlags& flags = {"sm_90"}) const {
    return compiler->compile(source, flags, cache);
  }

  TemporaryFolder folder;
  ContentCache cache{folder.path()};
  std::optional<DeviceCompiler> compiler;
};

TEST_F(DeviceCompilation, KeepsTheCodeAndItsSource) {
  const DeviceCode code = compile();
  EXPECT_EQ(resources_of(code.cubin).count("axpy"), 1u);
  EXPECT_EQ(code.path.parent_path(), folder.path());
  EXPECT_EQ(code.path.extension(), ".cubin");
  EXPECT_EQ(read(fs::path(code.path).replace_extension(".cu")), axpy + "\n");
  EXPECT_EQ(files_in(folder.path()), 2);
}

TEST_F(DeviceCompilation, TakesTheCodeFromTheCache) {
  const DeviceCode first = compile();
  const auto written = fs::last_write_time(first.path);
  const DeviceCode second = compile();
  EXPECT_EQ(second.cubin, first.cubin);
  EXPECT_EQ(second.path, first.path);
  EXPECT_EQ(fs::last_write_time(first.path), written);
}

TEST_F(DeviceCompilation, IsDoneAnewForAnotherSourceOtherFlagsOrAnotherArchitecture) {
  const std::vector<fs::path> paths = {compile().path, compile(axpy + "\n").path,
                                       compile(axpy, {"sm_80"}).path, compile(axpy, {"sm_90", true}).path,
                                       compile(axpy, {"sm_90", false, {"--use_fast_math"}}).path};
  EXPECT_EQ(std::set<fs::path>(paths.begin(), paths.end()).size(), paths.size());
}

TEST_F(DeviceCompilation, RepairsADamagedFile) {
  const DeviceCode code = compile();
  const std::string bytes = read(code.path);
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 1;
  write(code.path, damaged);
  EXPECT_EQ(compile().cubin, code.cubin);
  EXPECT_EQ(read(code.path), bytes);
  write(code.path, bytes.substr(0, 100));
  EXPECT_EQ(compile().cubin, code.cubin);
}

TEST_F(DeviceCompilation, ContractsUnlessToldNotTo) {
  const int contracted = resources_of(compile().cubin).at("axpy").instructions;
  const int strict = resources_of(compile(axpy, {"sm_90", true}).cubin).at("axpy").instructions;
  EXPECT_EQ(strict, contracted + 1);
}

TEST_F(DeviceCompilation, ShowsTheCompilersLogOfWhatItRejects) {
  const std::string message = message_of([&] { compile("__global__ void k() { undefined(); }\n"); });
  EXPECT_EQ(message.find("the CUDA compiler rejected emitted code (a bug in Weft, please report)\n"
                         "  compiler NVRTC "),
            0u)
      << message;
  EXPECT_NE(message.find("\n  options  --std=c++17 --gpu-architecture=sm_90 -ftz=true -prec-div=false "
                         "-prec-sqrt=false\n"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("(1): error: identifier \"undefined\" is undefined"), std::string::npos) << message;
  EXPECT_NE(message.find("\n  source   " + folder.path().string() + "/"), std::string::npos) << message;
  EXPECT_EQ(files_in(folder.path()), 1) << "the source alone";
}

TEST_F(DeviceCompilation, RefusesAnArchitectureThatThisCudaDoesNotKnow) {
  const std::string message = message_of([&] { compile(axpy, {"sm_20"}); });
  EXPECT_EQ(message.find("CUDA " + compiler->nvrtc().version() + " does not compile for sm_20\n  known sm_"),
            0u)
      << message;
  EXPECT_NE(message_of([&] { compile(axpy, {"compute_90"}); }), "(no error)");
}

TEST(NvrtcLibrary, ThatIsMissingIsAnErrorThatSaysWhatWasTried) {
  EXPECT_EQ(message_of([] {
              Nvrtc({"libweft-no-such.so.1", "/no/such/folder/libnvrtc.so"});
            }),
            "no CUDA compiler found: NVRTC, a library of the CUDA toolkit, cannot be loaded\n"
            "  tried libweft-no-such.so.1\n"
            "        /no/such/folder/libnvrtc.so\n"
            "  help: install the CUDA toolkit, 12 or later, or set CUDA_PATH to its folder");
}

TEST(NvrtcLibrary, WithoutItsFunctionsIsPassedOver) {
  EXPECT_EQ(message_of([] { Nvrtc({"libm.so.6"}); }).find("no CUDA compiler found"), 0u);
}

TEST(NvrtcLibrary, IsLookedForWhereTheUserSaysFirst) {
  const Variable chosen("CUDA_PATH", "/opt/some-cuda");
  EXPECT_EQ(Nvrtc::candidates().front(), "/opt/some-cuda/lib64/libnvrtc.so.13");
  const Variable unset("CUDA_PATH", static_cast<const char*>(nullptr));
  EXPECT_EQ(Nvrtc::candidates().front(), "libnvrtc.so.13");
}

}  // namespace
}  // namespace weft::compile
